"""Pages of rules and records."""
