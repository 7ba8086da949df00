"""Routes of rules.

`rules` learns, shows, publishes and runs them, `hand_edits` changes one by hand, `borrowed_rules`
switches those that clusters borrow.
"""
