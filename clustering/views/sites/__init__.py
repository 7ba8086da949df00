"""Pages of the browser about sites."""
