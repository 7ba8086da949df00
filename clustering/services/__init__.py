"""All writes of this app, by subject."""
