"""Rules that a person writes or imports: edited, checked by a sandbox, scored on the samples. Pure.

Start at `hand_edits.with_xpaths`.

    css_selectors  the XPaths that select what CSS selectors do
    hand_edits     put XPaths into a stylesheet; what two stylesheets share
    sandbox        what an XPath or a stylesheet may contain; everything else is refused
                   with the reason
    scoring        how a rule does on annotated pages

Used from outside: `with_xpaths`, `HandWritten`, `read_stylesheet`,
`check_xpath`, `StylesheetRefused`, `score_pages`.
"""
