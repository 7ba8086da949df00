"""Find texts that look like values of a type: prices, dates, phone numbers, ratings.

Readings:   A pattern says that a text may be such a value, not that it is one; a price needs its currency,
            a phone number at least seven digits. Months are any word of three letters or more between
            numbers.
Cost:       Linear in a text; longer ones than LONGEST are left out.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 120  # characters
_MONTH = r"[^\W\d_]{3,12}"
_AMOUNT = r"\d[\d.,'\u202f ]*\d|\d"
_CODES = "USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF"
_CURRENCY = rf"(?:US|CA|AU|NZ|HK|R|A|C|S)?\$|[€£¥₹₽₩₺₴฿₪]|\b(?:{_CODES})\b|Kč|zł|kr\b"
PATTERNS: Final = {
    "price": (
        rf"(?:{_CURRENCY})\s?(?:{_AMOUNT})(?:\s?[-\u2013]{{1,2}}(?!\d))?|(?:{_AMOUNT})\s?(?:{_CURRENCY})"
    ),
    "date": (
        r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
        r"|\b\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?\d{2,4}\b"
        rf"|\b(?:\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:de\s+)?{_MONTH}\.?,?\s+(?:de\s+)?\d{{4}}|{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}})\b"
    ),
    "phone": r"(?:\+|\b00)?\(?\d{1,4}\)?(?:[\s./-]?\(?\d{2,5}\)?){2,5}\b",
    "rating": (
        r"\b\d(?:[.,]\d{1,2})?\s?(?:/|out of|of|von|sur|de)\s?(?:5|10)\b"
        r"|\b[0-5][.,]\d{1,2}\b|[★☆⭐]{2,10}"
    ),
    "number": r"(?<![\w.,])\d{1,3}(?:[.,'\u202f ]\d{3})+(?![\w])|(?<![\w.,])\d+(?:[.,]\d+)?(?![\w])",
    "zip": r"\b\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b|\b\d{4}\s?[A-Z]{2}\b|\b\d{3}\s\d{2}\b",
    "url": r"(?:https?://|www\.)[^\s<>\"]+|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|info|de|fr|co\.uk|example)\b(?:/\S*)?",
}
_COMPILED: Final = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
_FEWEST_DIGITS: Final = {"phone": 7}
_MOST_DIGITS: Final = {"phone": 15}
_TIME = re.compile(r"T(?=\d)")
_NUMBER = re.compile(r"\d+(?:[.,'\u202f ]\d+)*")


def find_typed(kind: str, text: str) -> list[tuple[int, int]]:
    """Return where values of a type may stand in a text; none for types without a pattern.

    >>> find_typed("price", "Our price: $1,299.00 only")
    [(11, 20)]
    """
    pattern = _COMPILED.get(kind)
    if pattern is None or len(text) > LONGEST:
        return []
    return [found.span() for found in pattern.finditer(text) if _has_digits(kind, found[0])]


def has_pattern(kind: str) -> bool:
    return kind in _COMPILED


def is_whole(kind: str, text: str) -> bool:
    """Say whether a text is a value of the type and nothing else."""
    return find_typed(kind, text) == [(0, len(text))]


def fits(kind: str, text: str) -> bool:
    """Say whether a text can be a value of a type at all."""
    if kind not in _COMPILED or kind == "url":
        return bool(text)
    if kind in {"price", "number", "rating"}:
        return any(map(str.isdigit, text)) or "★" in text or "free" in text.lower()
    return bool(find_typed(kind, text))


def amount_of(text: str) -> str | None:
    """Return the first number of a text in one form, None where there is none.

    >>> amount_of("$1,299.00"), amount_of("1.299,00 €"), amount_of("504.9")
    ('1299', '1299', '504.9')
    """
    found = _NUMBER.search(text)
    if found is None:
        return None
    digits = re.sub(r"['\u202f ]", "", found[0])
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0 and (len(digits) - last - 1 != 3 or digits[:last].lstrip("0") == ""):
        whole, part = re.sub(r"[.,]", "", digits[:last]), digits[last + 1 :].rstrip("0")
        return f"{int(whole or 0)}.{part}" if part else str(int(whole or 0))
    return str(int(re.sub(r"[.,]", "", digits)))


def date_key(text: str) -> tuple[int, ...] | None:
    """Return the numbers of a date without its month's name, to compare with one that is written otherwise.

    >>> date_key("2024-10-03T06:00") == date_key("3 October 2024")
    True
    """
    numbers = [int(n) for n in re.findall(r"\d+", _TIME.split(text[:60])[0])]
    years = [n for n in numbers if n > 31]
    if not years:
        return None
    if iso := re.match(r"(\d{4})-(\d{1,2})-(\d{1,2})", text):
        return years[0], int(iso[3])
    days = [n for n in numbers if n <= 31]
    return (years[0], days[0]) if days else None


def _has_digits(kind: str, text: str) -> bool:
    n = sum(map(str.isdigit, text))
    return _FEWEST_DIGITS.get(kind, 0) <= n <= _MOST_DIGITS.get(kind, 40)
