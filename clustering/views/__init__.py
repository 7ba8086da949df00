"""Pages of the browser, by subject."""
