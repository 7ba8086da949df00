"""People: accounts and roles, log-in, tokens, the audit trail."""
