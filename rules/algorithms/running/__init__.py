"""Run rules on a page: which rule serves it, its values, its records; pure."""
