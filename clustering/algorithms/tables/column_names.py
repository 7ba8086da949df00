"""Name the columns of a table of records by what the page itself says of them.

Readings:   In this order: the head of the table's column, microdata and attributes for data, the
            label, the words of a class, and last what the values look like and where they stand. A
            class that many fields share, or that speaks of looks alone, is no name.
Cost:       Linear in the columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from clustering.values.recognising import type_of_most

MIN_NAME_CHARS, MAX_NAME_CHARS = 2, 40
# What stylesheets call things by their looks, and what they call any part of a page.
_LOOKS = re.compile(
    r"(?:css|sc|jsx|style|col|row|grid|flex|inline|block|float|clear|text|fonts?|bg|border|rounded|shadow|max|min"
    r"|[wh]|[mp][xytblr]?|gap|space|items?|justify|align|self|order|size|leading|tracking|line|opacity|z|overflow)"
    r"(?:[-_].*)?\Z"
    r"|(?:small|large|big|left|right|cent(?:er|re)|top|bottom|first|last|odd|even|active|hidden|visible|wrap(?:per)?"
    r"|inner|outer|container|content|box|clearfix|field|cell|value|label|span|div|card|body|main|primary"
    r"|secondary|muted|bold|strong|sm|md|lg|xl|xs|underline|uppercase|italic|truncate)\Z",
    re.IGNORECASE,
)
_GENERATED = re.compile(r"(?=.*\d)[0-9A-Za-z_-]{6,}\Z|.*[0-9a-f]{6}\Z")


def name_of(words: Iterable[str], label: str, values: Sequence[str], fallback: str) -> str:
    """Return the name of a column from the words that the page has for it, nearest first.

    >>> name_of(["product-card__price", "mt-2"], "", ["3 EUR"], "text")
    'price'
    """
    name = as_name(label)
    if name:
        return name
    for word in words:
        name = _name_of_word(word)
        if name:
            return name
    return type_of_most(values) or fallback


def _name_of_word(word: str) -> str:
    """Return the name that a class or property gives; blank where it speaks of looks."""
    parts = re.split(r"__|--", word.rsplit("/", 1)[-1])
    # Of a block and its element, the element counts.
    part = parts[1] if "__" in word and len(parts) > 1 else parts[0]
    name = as_name(part)
    if len(name) < MIN_NAME_CHARS or _LOOKS.match(part) or _GENERATED.match(part):
        return ""
    return name


def as_name(text: str) -> str:
    """Return a text as the name of an attribute; blank where nothing is left of it.

    >>> as_name("Preis (€)"), as_name("datePublished"), as_name("№")
    ('preis', 'date_published', 'no')
    """
    plain = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text))
    plain = plain.encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:MAX_NAME_CHARS].strip("_")
    return name if not name[:1].isdigit() else f"n_{name}"


def unique_names(names: Sequence[str], weights: Sequence[float]) -> list[str]:
    """Return the names; of equal ones that of the greatest weight stays, the others get a number.

    >>> unique_names(["price", "name", "price"], [1, 5, 3])
    ['price_2', 'name', 'price']
    """
    used = set(names)
    unique = list(names)
    number_by_name: Counter[str] = Counter()
    for index in sorted(range(len(names)), key=lambda index: -weights[index]):
        name = names[index]
        number_by_name[name] += 1
        if number_by_name[name] == 1:
            continue
        while f"{name}_{number_by_name[name]}" in used:
            number_by_name[name] += 1
        unique[index] = f"{name}_{number_by_name[name]}"
        used.add(unique[index])
    return unique
