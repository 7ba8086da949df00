"""Routes of sites, pages and clusters."""
