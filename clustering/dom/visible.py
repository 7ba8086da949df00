"""What a reader sees: which elements show nothing, begin a line or are headings."""

from __future__ import annotations

from typing import Final

_BLOCKS = """address article aside blockquote body br caption center dd details dialog dir div
    dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup
    hr html legend li main menu nav ol option p pre section select summary table tbody td
    textarea tfoot th thead title tr ul"""

# What stands in them is no text of the page. Who leaves out more adds it to this set.
INVISIBLE_TAGS: Final = frozenset({"script", "style", "noscript", "template"})
# Around these a reader sees a blank also where the source has none.
BLOCKS: Final = frozenset(_BLOCKS.split())
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
