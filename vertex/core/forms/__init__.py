"""Forms of what every app stands on."""
