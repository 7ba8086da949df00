"""Clusters: run an algorithm, keep the result, let people change it."""
