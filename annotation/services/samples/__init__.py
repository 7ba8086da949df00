"""Samples: the pages worth annotating, and the order in which people get them."""
