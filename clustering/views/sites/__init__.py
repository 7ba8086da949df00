"""Pages of the browser about sites.

sites          that a site ends, that it is exported
fetching       how a site is fetched
hosts          the hosts that are fetched from, and when each is asked next
crawl_picture  a site's pages by depth and cluster, and why others were not fetched
"""
