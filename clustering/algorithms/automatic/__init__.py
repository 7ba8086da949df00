"""The default clusterer: groups by all evidence that a site offers; pure."""
