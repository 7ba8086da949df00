"""Commands that span all apps."""
