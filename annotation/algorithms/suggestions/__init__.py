"""Suggestions: values offered to an editor, each with its evidence; pure.

Start at `suggestion.py`: `suggest` gathers the evidence for each attribute and joins it.

    spots        a page as its spots; where a value is displayed
    declared     what a page declares: JSON-LD, microdata, meta tags
    names        what an attribute may be called elsewhere
    labels       values beside labels
    evidence     the evidence that spots are an attribute's values, a function a source
    suggestion   evidence joined to suggestions
"""
