"""Titles that people understand, for clusters; pure."""
