"""Annotations: write revisions, compare second ones, comment, measure the effort.

Start at `annotating.py`: `annotate` writes a revision of one attribute, `annotate_page` of several.

    annotated_values   the annotations of a page read as values; revisions
    annotating         write a revision, restore an earlier one
    comparing          compare the second annotation of a page with the first
    second_annotating  which pages a second person annotates; who of two is right
    commenting         remarks at nodes of a page
    measuring          how long annotating took, as browsers report it
"""
