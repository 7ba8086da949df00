"""Routes of pages and of the ways by which they come in."""
