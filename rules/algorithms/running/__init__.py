"""Run a cluster's rule on a page: pure, the same in every kind of run.

Start at `run_rule`: a tree in, `Extracted` out.

    matching       which cluster's rule serves a page
    run_rule       the stylesheet, then the types of the attributes
    borrowing      whether the rule of one cluster may serve the pages of another
    records        the values on the way: a rule as it runs, raw records, extracted records
    confidence     how sure values are
    value_looks    how values usually look, and how odd another one looks
    record_keys    what tells a record of a list from the others
    record_lines   one line for each record, or why there is none; its JSON
    nested_lists   the fields of a nested list in line: the n-th place of each is its n-th entry
    text_places    where values stand on a page, by their texts
    pictured_nodes  nodes by their XPaths, for a browser that shows the numbered page
    explaining     at which step an XPath selects nothing

Used from outside: `match_page`, `extract_here`, `extract_tree`, `Line`, `line_json`,
`RunnableRule`.
"""
