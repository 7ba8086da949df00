"""Lists: the tables that list pages show."""
