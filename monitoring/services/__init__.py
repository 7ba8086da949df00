"""Checking and repairing."""
