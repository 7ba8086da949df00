"""Routes of tables."""
