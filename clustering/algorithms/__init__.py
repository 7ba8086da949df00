"""Algorithms that group pages; pure."""
