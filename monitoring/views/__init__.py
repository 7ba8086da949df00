"""What the browser shows of monitoring: the overview, a site, a check, a site change, the history."""
