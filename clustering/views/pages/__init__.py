"""Pages of the browser about stored pages.

pages      the list of pages, one page, and what brings pages in
snapshots  what was fetched of a page, as text
"""
