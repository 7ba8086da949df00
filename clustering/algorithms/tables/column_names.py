"""Name the columns of a table of records by what the page itself says of them.

Readings:   In this order: the head of the table's column, microdata and attributes for data, the label, the
            words of a class, and last what the values look like and where they stand.
            A class that many fields share, or that speaks of looks alone, is no name.
Cost:       Linear in the columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

SHORTEST, LONGEST = 2, 40
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
_GENERATED = re.compile(r"(?=.*\d)[0-9A-Za-z_-]{6,}\Z|.*[0-9a-f]{6,}\Z")
_MONEY = r"(?:[$€£¥₹]|\b(?:usd|eur|gbp|chf|czk|pln|kč|zł)\b)"
_PRICE = re.compile(rf"{_MONEY}.{{0,3}}\d|\d.{{0,3}}{_MONEY}", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d? \w{3,9}\.? \d{4}|\w{3,9}\.? \d\d?, \d{4}"
    r"|\d+ \w+ ago)\b"
)
_PHONE = re.compile(r"(?:\+\d|\(\d{2,4}\)|\d{3}-)[\d ()/.-]{6,}\d")
_RATING = re.compile(r"\d(?:[.,]\d)?\s*(?:of|/|out of|stars?)\s*\d?", re.IGNORECASE)
_NUMBER = re.compile(r"[\d.,  ]+%?")
KINDS = (
    ("price", _PRICE),
    ("date", _DATE),
    ("phone", _PHONE),
    ("rating", _RATING),
    ("number", _NUMBER),
)
MOSTLY = 0.8


def kind_of(values: Sequence[str]) -> str:
    """Return what most values look like: price, date, phone, rating, number; blank where they do not."""
    if not values:
        return ""
    for kind, pattern in KINDS:
        match = pattern.fullmatch if kind in {"number", "phone"} else pattern.search
        n = sum(match(value) is not None and len(value) <= LONGEST for value in values)
        if n >= MOSTLY * len(values):
            return kind
    return ""


def name_of(told: Iterable[str], label: str, values: Sequence[str], fallback: str) -> str:
    """Return the name of a column from the words that the page has for it, nearest first.

    >>> name_of(["product-card__price", "mt-2"], "", ["3 EUR"], "text")
    'price'
    """
    if label and (name := as_name(label)):
        return name
    for word in told:
        if name := _telling(word):
            return name
    return kind_of(values) or fallback


def _telling(word: str) -> str:
    """Return what a class or property says; blank where it speaks of looks."""
    part = re.split(r"__|--", word.rsplit("/", 1)[-1])
    # Of a block and its element, the element tells.
    chosen = part[1] if "__" in word and len(part) > 1 else part[0]
    name = as_name(chosen)
    return "" if len(name) < SHORTEST or _LOOKS.match(chosen) or _GENERATED.match(chosen) else name


def as_name(text: str) -> str:
    """Return a text as the name of an attribute; blank where nothing is left of it.

    >>> as_name("Preis (€)"), as_name("datePublished"), as_name("№")
    ('preis', 'date_published', 'no')
    """
    plain = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text))
    plain = plain.encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:LONGEST].strip("_")
    return name if not name[:1].isdigit() else f"n_{name}"


def unique_names(names: Sequence[str], weights: Sequence[float]) -> list[str]:
    """Return the names; of equal ones that of the greatest weight stays, the others get a number.

    >>> unique_names(["price", "name", "price"], [1, 5, 3])
    ['price_2', 'name', 'price']
    """
    taken, told = set(names), list(names)
    seen: Counter[str] = Counter()
    for place in sorted(range(len(names)), key=lambda place: -weights[place]):
        name = names[place]
        seen[name] += 1
        while seen[name] > 1 and f"{name}_{seen[name]}" in taken:
            seen[name] += 1
        told[place] = name if seen[name] == 1 else f"{name}_{seen[name]}"
        taken.add(told[place])
    return told
