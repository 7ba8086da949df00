"""The algorithms of this app; pure."""
