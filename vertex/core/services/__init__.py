"""Writes of what every app stands on, by room."""
