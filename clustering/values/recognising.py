"""Recognise texts that look like values of a type: prices, dates, phone numbers, ratings.

Readings:   A pattern says that a text may be such a value, not that it is one; a price needs its
            currency, a phone number at least seven digits. Months are any word of three letters or
            more between numbers. Two sets of patterns: those of `find_typed` find values within a
            text; those of `type_of_most` are looser, as most values of a column must fit.
Cost:       Linear in a text; longer ones than MAX_TEXT_CHARS are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MAX_TEXT_CHARS: Final = 120
MAX_COLUMN_VALUE_CHARS: Final = 40
MIN_SHARE_OF_TYPE: Final = 0.8  # of the values of a column
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
    "number": (
        r"(?<![\w.,])\d{1,3}(?:[.,'\u202f ]\d{3})+(?![\w])"
        r"|(?<![\w.,])\d+(?:[.,]\d+)?(?![\w])"
    ),
    "zip": (
        r"\b\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"
        r"|\b\d{4}\s?[A-Z]{2}\b|\b\d{3}\s\d{2}\b"
    ),
    "url": (
        r"(?:https?://|www\.)[^\s<>\"]+"
        r"|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|info|de|fr|co\.uk|example)\b(?:/\S*)?"
    ),
}
_COMPILED: Final = {value_type: re.compile(pattern) for value_type, pattern in PATTERNS.items()}
_MIN_DIGITS: Final = {"phone": 7}
_MAX_DIGITS: Final = {"phone": 15}
_ANY_MAX_DIGITS: Final = 40
_MAX_DAY: Final = 31
_TIME = re.compile(r"T(?=\d)")
_NUMBER = re.compile(r"\d+(?:[.,'\u202f ]\d+)*")
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")

_MONEY = r"(?:[$€£¥₹]|\b(?:usd|eur|gbp|chf|czk|pln|kč|zł)\b)"
_COLUMN_PATTERNS: Final = {
    "price": rf"{_MONEY}.{{0,3}}\d|\d.{{0,3}}{_MONEY}",
    "date": (
        r"\b(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d? \w{3,9}\.? \d{4}"
        r"|\w{3,9}\.? \d\d?, \d{4}|\d+ \w+ ago)\b"
    ),
    "phone": r"(?:\+\d|\(\d{2,4}\)|\d{3}-)[\d ()/.-]{6,}\d",
    "rating": r"\d(?:[.,]\d)?\s*(?:of|/|out of|stars?)\s*\d?",
    "number": r"[\d.,  ]+%?",
}


_IGNORING_CASE: Final = frozenset({"price", "rating"})
_WHOLE: Final = frozenset({"phone", "number"})  # nothing else may stand in the text
_COMPILED_COLUMN: Final = {
    value_type: re.compile(pattern, re.IGNORECASE if value_type in _IGNORING_CASE else 0)
    for value_type, pattern in _COLUMN_PATTERNS.items()
}


def find_typed(value_type: str, text: str) -> list[tuple[int, int]]:
    """Return where values of a type may stand in a text; none for types without a pattern.

    >>> find_typed("price", "Our price: $1,299.00 only")
    [(11, 20)]
    """
    pattern = _COMPILED.get(value_type)
    if pattern is None or len(text) > MAX_TEXT_CHARS:
        return []
    return [
        match.span() for match in pattern.finditer(text) if _has_usual_digits(value_type, match[0])
    ]


def has_pattern(value_type: str) -> bool:
    return value_type in _COMPILED


def is_whole(value_type: str, text: str) -> bool:
    """Return whether a text is a value of the type and nothing else."""
    return find_typed(value_type, text) == [(0, len(text))]


def fits(value_type: str, text: str) -> bool:
    """Return whether a text can be a value of a type at all."""
    if value_type not in _COMPILED or value_type == "url":
        return bool(text)
    if value_type in {"price", "number", "rating"}:
        return any(map(str.isdigit, text)) or "★" in text or "free" in text.lower()
    return bool(find_typed(value_type, text))


def type_of_most(values: Sequence[str]) -> str:
    """Return what most values look like: price, date, phone, rating, number; else blank."""
    if not values:
        return ""
    for value_type, pattern in _COMPILED_COLUMN.items():
        match = pattern.fullmatch if value_type in _WHOLE else pattern.search
        n_of_type = sum(
            len(value) <= MAX_COLUMN_VALUE_CHARS and match(value) is not None for value in values
        )
        if n_of_type >= MIN_SHARE_OF_TYPE * len(values):
            return value_type
    return ""


def amount_key(text: str) -> str | None:
    """Return the first number of a text in one form, to compare it; None where there is none.

    >>> amount_key("$1,299.00"), amount_key("1.299,00 €"), amount_key("504.9")
    ('1299', '1299', '504.9')
    """
    match = _NUMBER.search(text)
    if match is None:
        return None
    digits = re.sub(r"['\u202f ]", "", match[0])
    mark = max(digits.rfind("."), digits.rfind(","))
    n_behind = len(digits) - mark - 1
    has_fraction = mark >= 0 and (n_behind != 3 or digits[:mark].lstrip("0") == "")
    if not has_fraction:
        return str(int(re.sub(r"[.,]", "", digits)))
    whole = int(re.sub(r"[.,]", "", digits[:mark]) or 0)
    fraction = digits[mark + 1 :].rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)


def date_key(text: str) -> tuple[int, ...] | None:
    """Return year and day of a date, to compare it with one that is written otherwise.

    >>> date_key("2024-10-03T06:00") == date_key("3 October 2024")
    True
    """
    numbers = [int(n) for n in re.findall(r"\d+", _TIME.split(text[:60])[0])]
    years = [n for n in numbers if n > _MAX_DAY]
    if not years:
        return None
    iso_date = _ISO_DATE.match(text)
    if iso_date:
        return years[0], int(iso_date[3])
    days = [n for n in numbers if n <= _MAX_DAY]
    return (years[0], days[0]) if days else None


def _has_usual_digits(value_type: str, text: str) -> bool:
    n_digits = sum(map(str.isdigit, text))
    min_digits = _MIN_DIGITS.get(value_type, 0)
    return min_digits <= n_digits <= _MAX_DIGITS.get(value_type, _ANY_MAX_DIGITS)
