"""Records to checks: noticing that a site has changed and repairing its rules."""
