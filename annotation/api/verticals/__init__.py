"""Routes of verticals."""
