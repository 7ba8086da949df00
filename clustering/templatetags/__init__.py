"""How values are shown on every page."""
