"""Routes of proposals."""
