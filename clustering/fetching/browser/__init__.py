"""Fetch and draw pages with a real browser.

Start at `rendering`, which fetches a page, and `picturing`, which draws a stored one.

chromium   a browser of one's own, started for one page
proxy      its only way out, guarded
rendering  a page as its scripts have made it
picturing  small pictures of stored pages, without network
"""
