"""Clustering algorithms as their papers publish them, and the baselines; pure."""
