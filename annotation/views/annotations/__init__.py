"""Pages about annotations: second ones, comments, effort.

second_annotating  pages that a second person annotates, and where two differ
comments           what people say to each other about a page
effort             how much work annotating was
"""
