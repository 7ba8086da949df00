"""The API of monitoring."""
