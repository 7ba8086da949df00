"""Pages about annotations: second ones, comments, effort."""
