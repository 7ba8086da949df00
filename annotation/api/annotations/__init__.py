"""Routes of annotations and comments.

annotations  samples, and the annotations of pages
comments     what people say to each other about a page
"""
