"""Looks: the assets a stored page is drawn with, its frame and its thumbnail."""
