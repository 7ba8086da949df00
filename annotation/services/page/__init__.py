"""The page that is annotated: what it shows, what is proposed for it, what gestures do on it.

Start at `page_states.py`, the attributes beside a page, and `gestures.py`, what an editor
does with them.

    stored_pages  the tree of a snapshot, or why nothing can be annotated on it
    page_states   the attributes with their values as shown; the samples around a page
    drawing       where values are drawn on the page
    gestures      take a node, mark an absence, mark records, undo
    suggesting    suggest values, and what is known from elsewhere
    proposals     the suggestions as the browser gets them
    page_readers  what is read of a page in a limited child

Other apps read trees by `tree_of` and ask for `suggestions_for` a page.
"""
