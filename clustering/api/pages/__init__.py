"""Routes of pages and of the ways by which they come in.

pages     pages and what was fetched of them
incoming  what brings pages in: crawls, imports, search logs
pushes    pages that another crawler pushes
"""
