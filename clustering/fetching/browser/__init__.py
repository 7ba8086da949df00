"""Fetch and draw pages with a real browser."""
