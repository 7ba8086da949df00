"""Pages of the browser about clusters."""
