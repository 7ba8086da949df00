"""Checks: when, on which pages, what the tests say, what is written down."""
