"""Routes of verticals, samples, annotations and comments."""
