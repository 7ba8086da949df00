"""What people do with alerts."""
