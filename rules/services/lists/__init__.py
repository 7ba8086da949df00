"""The list of a page as a table: looked at, exported, and made a rule.

Start at `shown_tables.shown_tables`.

    pasted_lists     fetch a page whose address somebody pasted
    shown_tables     the lists of a stored page as tables
    table_views      what a person makes of a table: columns merged, renamed, dropped; sorted
    table_exports    a table as a file
    accepting_lists  make a table a rule: its cells become annotations
    list_clusters    the cluster for the page of a list
"""
