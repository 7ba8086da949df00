"""Pages of verticals."""
