"""What people may type, checked, by subject."""
