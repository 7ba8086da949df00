"""What the browser shows of monitoring: overview, site, check, site change and history."""
