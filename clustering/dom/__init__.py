"""The tree of a page and what can be read from it; pure."""
