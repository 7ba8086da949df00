"""Pages of tables."""
