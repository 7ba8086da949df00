"""Changes of the database, in order."""
