"""Say whether a text on a page names an attribute: "Fax:" does for `faxNumber`, `product-price` for `price`.

Departures: The paper looks at no names. Those of a vertical are words that pages use for the same things.
Cost:       Linear in the text, remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST = 3  # letters of a word that can name something
# Words of attribute names that say what kind of value it is, not which.
GENERIC = frozenset(
    {
        "number",
        "value",
        "name",
        "date",
        "text",
        "url",
        "count",
        "main",
        "type",
        "has",
        "the",
        "and",
        "title",
    }
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, small: of `faxNumber`, `fax_number` and "Fax number".

    >>> words_of("faxNumber")
    ('fax', 'number')
    """
    return tuple(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=65536)
def names_attribute(attribute: str, text: str) -> bool:
    """Say whether a text has a word that the attribute's name has, but for its ending.

    >>> names_attribute("viewCount", "Views"), names_attribute("faxNumber", "Phone number")
    (True, False)
    """
    words = words_of(attribute)
    telling = [word for word in words if word not in GENERIC] or list(words)
    return any(_alike(one, other) for one in telling for other in words_of(text))


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < SHORTEST or len(long) > 2 * len(short):
        return False
    if len(short) > SHORTEST and long.endswith(short):
        return True
    return long.startswith(short) or (
        len(short) > SHORTEST and long[: len(short) - 1] == short[:-1]
    )
