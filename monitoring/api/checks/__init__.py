"""Routes of checks and schedules."""
