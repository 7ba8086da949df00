"""Hold back values that a changed site would give."""
