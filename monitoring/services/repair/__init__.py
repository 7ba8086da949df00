"""Repair a site after a change: reuse or relearn, propose, apply."""
