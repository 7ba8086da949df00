"""Routes of rules and of the records that they extract."""
