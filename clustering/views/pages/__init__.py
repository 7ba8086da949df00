"""Pages of the browser about stored pages."""
