"""What every template uses."""
