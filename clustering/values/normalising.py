"""Turn displayed values into forms that programs compare: by the type of their attribute.

What cannot be read has no normalised form; the displayed value stays, nothing is guessed in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from clustering.dom.addresses import BadAddress, join_url
from clustering.values.dates import read_date
from clustering.values.numbers import find_number, plain
from clustering.values.phones import read_phone
from clustering.values.prices import read_price
from clustering.values.ratings import read_rating

Normalised: TypeAlias = object  # a JSON value

TEXT, HTML, IMAGE = "text", "html", "image"
LONGEST = 500  # characters of a value that is read; a longer one is no number, date or address
LONGEST_URL = 8_192
MOST_EXACT = 2**53  # a larger whole number is no exact number in JSON

_ZIP = re.compile(
    r"\b(?:"
    r"\d{5}-\d{4}"  # United States, long
    r"|[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}"  # United Kingdom
    r"|[ABCEGHJ-NPRSTVXY]\d[A-Z]\s?\d[A-Z]\d"  # Canada
    r"|\d{4}\s?[A-Z]{2}"  # Netherlands
    r"|\d{2}-\d{3}"  # Poland
    r"|\d{3}\s\d{2}"  # Czechia, Slovakia, Sweden
    r"|\d{3}-\d{4}"  # Japan
    r"|\d{5}-\d{3}"  # Brazil
    r"|\d{4,6}"
    r")\b"
)
_STATE_AND_ZIP = re.compile(r"\b[A-Z]{2}\.?\s+(\d{5}(?:-\d{4})?)\b")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_OTHER_SCHEMES = ("mailto:", "tel:", "data:", "geo:", "sms:")


@dataclass(frozen=True, slots=True)
class PageContext:
    """What a page tells about the values on it."""

    base_url: str = ""  # what its relative addresses are relative to
    language: str = ""  # of its root element


def normalise(value_type: str, value: str, context: PageContext) -> Normalised | None:
    """Return the normalised form of a displayed value, None where its type has none or it cannot be read.

    >>> normalise("price", "$1,299.00", PageContext())
    {'amount': '1299.00', 'currency': 'USD'}
    >>> normalise("url", "b?c", PageContext("http://h/x/a"))
    'http://h/x/b?c'
    """
    read = READERS.get(value_type)
    if read is None or not value:
        return None
    longest = LONGEST_URL if value_type in {"url", IMAGE} else LONGEST
    return read(value, context) if len(value) <= longest else None


def read_number_value(value: str, _context: PageContext) -> int | float | str | None:
    """Return a number as JSON has it; as text where JSON would round it."""
    number = find_number(value)
    if number is None:
        return None
    if number == number.to_integral_value():
        return int(number) if abs(number) < MOST_EXACT else plain(number)
    return float(number)


def read_zip(value: str, _context: PageContext) -> str | None:
    """Return the ZIP or postal code of a text, with single blanks.

    >>> read_zip("Springfield, IL 62704", PageContext()), read_zip("London SW1A  1AA", PageContext())
    ('62704', 'SW1A 1AA')
    """
    text = " ".join(value.upper().split())
    american = _STATE_AND_ZIP.search(text)
    if american:
        return american[1]
    found = _ZIP.findall(text)
    if not found:
        return None
    code: str = found[-1] if len(text) > len(found[0]) and found[-1].isdecimal() else found[0]
    return code


def read_url(value: str, context: PageContext) -> str | None:
    """Return the absolute address; one of another kind than http stays as it is."""
    written = next(iter(value.split(maxsplit=1)), "")
    if written.lower().startswith(_OTHER_SCHEMES):
        return written
    if not context.base_url and not _SCHEME.match(written):
        return None
    try:
        return _without_dots(join_url(context.base_url, written))
    except BadAddress:
        return None


def _without_dots(url: str) -> str:
    """Resolve `/./` and `/../` in the path of an address."""
    before_query, question, query = url.partition("?")
    if "/." not in before_query:
        return url
    start = before_query.find("/", before_query.find("//") + 2)
    if start < 0:
        return url
    segments: list[str] = []
    parts = before_query[start:].split("/")[1:]
    for place, segment in enumerate(parts):
        if segment == "..":
            segments = segments[:-1]
        elif segment != ".":
            segments.append(segment)
        if segment in {".", ".."} and place == len(parts) - 1:
            segments.append("")
    return f"{before_query[:start]}/{'/'.join(segments)}{question}{query}"


READERS: Mapping[str, Callable[[str, PageContext], Normalised | None]] = {
    "price": lambda value, _: read_price(value),
    "number": read_number_value,
    "rating": lambda value, _: read_rating(value),
    "phone": lambda value, _: read_phone(value),
    "zip": read_zip,
    "date": lambda value, context: read_date(value, context.language),
    "url": read_url,
    IMAGE: read_url,
}
