"""Alerts and the notices that tell people of them."""
