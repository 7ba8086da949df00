"""Lists: tables that become rules."""
