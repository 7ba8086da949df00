"""Print a rule as one XSLT 1.0 stylesheet; pure."""
