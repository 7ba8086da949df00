"""Routes of sites."""
