"""Routes of people: the audit trail."""
