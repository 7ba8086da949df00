"""Verticals: attributes, policies, keys."""
