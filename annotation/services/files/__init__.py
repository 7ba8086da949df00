"""Annotations in files: import and export."""
