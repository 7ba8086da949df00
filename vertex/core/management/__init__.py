"""Commands of what every app stands on."""
