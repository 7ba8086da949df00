"""Pages of rules and of learning them."""
