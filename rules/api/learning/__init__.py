"""Routes of rules."""
