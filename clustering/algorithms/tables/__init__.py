"""Turn the records of a list into the columns of a table; pure."""
