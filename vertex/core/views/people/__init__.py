"""Pages of people: account, people and roles, tokens, the audit trail."""
