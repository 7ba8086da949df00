"""Pages of checks, site changes and watching."""
