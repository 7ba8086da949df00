"""Annotations to records: learning a cluster's rule and running it."""
