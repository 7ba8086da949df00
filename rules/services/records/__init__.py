"""Records: extract, store, serve, export, and tell other services."""
