"""How a stored page is shown."""
