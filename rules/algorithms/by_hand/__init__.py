"""Rules that a person writes: what is allowed, and how they score; pure."""
