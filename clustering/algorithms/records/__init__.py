"""Find the records of a list page without a teacher; pure."""
