"""Routes of records and webhooks."""
