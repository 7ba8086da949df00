"""Translate CSS selectors, as many people know them, into the XPaths that select the same.

At the end may stand `::text` for the texts, or `::attr(NAME)` for an attribute, as
crawlers write it.
"""

from __future__ import annotations

import re
from typing import Final

from cssselect import HTMLTranslator, SelectorError, parse

CSS: Final = "css:"  # what a line begins with that is a selector
MAX_CHARS: Final = 1_000
_RESULT: Final = re.compile(r"::text$|::attr\(\s*(?P<attribute>-?[A-Za-z_][\w-]*)\s*\)$")


class BadSelector(ValueError):
    """The selector has something that is not known."""


def css_to_xpath(selector: str, *, start: str = "//") -> str:
    """Return the XPath that selects what a CSS selector does. Raises BadSelector.

    >>> css_to_xpath("td > b::text")
    '//td/b/text()'
    """
    selector = selector.strip()
    if len(selector) > MAX_CHARS:
        raise BadSelector(
            f"a selector has at most {MAX_CHARS:,} characters, this one {len(selector):,}"
        )
    result = _RESULT.search(selector)
    xpath = _xpath_of(selector[: result.start()] if result else selector, start)
    if result is None:
        return xpath
    return f"{xpath}/@{result['attribute'].lower()}" if result["attribute"] else f"{xpath}/text()"


def _xpath_of(elements: str, start: str) -> str:
    try:
        xpaths = [
            HTMLTranslator().selector_to_xpath(each, start, translate_pseudo_elements=True)
            for each in parse(elements)
        ]
    except (SelectorError, RecursionError) as error:
        raise BadSelector(
            f"“{elements[:100]}” is not understood: {error}; write an XPath there"
        ) from None
    if len(xpaths) > 1:
        raise BadSelector(f"“{elements[:100]}” is several selectors; give each a line of its own")
    return xpaths[0]
