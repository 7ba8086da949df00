"""Routes of alerts and channels."""
