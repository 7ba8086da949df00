"""Clusters to annotations: vertical schemas, samples and what editors mark on them."""
