"""Annotations: write revisions, compare second ones, comment, measure the effort."""
