"""Pages of repairs."""
