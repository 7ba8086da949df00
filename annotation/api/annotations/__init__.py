"""Routes of annotations and comments."""
