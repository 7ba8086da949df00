"""Print a cluster's rule as one XSLT 1.0 stylesheet. Pure.

Start at `stylesheet.stylesheet_of`: a `ClusterRule` in, the text of a stylesheet out.

    stylesheet      the whole: a template for each attribute, its alternatives, the votes
    list_template   the outer template of a list: where a record begins and ends
    entries         to which entry of a nested list a value belongs
    fast_paths      the XPaths of an alternative in a form that runs fast
    cutting         how the value is cut out of a node's text
    union           the values of several alternatives in the order of the page

Used from outside: `stylesheet_of`.
"""
