"""Pages of records and webhooks."""
