"""Routes of sites.

sites     sites
fetching  how a site is fetched
"""
