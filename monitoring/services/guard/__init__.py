"""Hold back doubtful values until a check or a person has confirmed them.

Start at `guard.pages_to_hold`, which extraction calls through the seam `rules.record_guard`.

    guard             which pages of a batch are held back, and what follows
    unverified_pages  new pages that have no earlier record to be compared with

Nothing is imported from outside but by the settings' `SEAMS`.
"""
