"""Turn displayed values into forms that programs compare: by the type of their attribute.

What cannot be read has no normalised form; the displayed value stays, nothing is guessed in its
place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from clustering.dom.addresses import BadAddress, join_url
from clustering.values.dates import read_date
from clustering.values.dates_by_dateparser import DatesByDateparser
from clustering.values.numbers import find_number, plain
from clustering.values.phones import read_phone
from clustering.values.prices import read_price
from clustering.values.ratings import read_rating

Normalised: TypeAlias = object  # a JSON value

TEXT, HTML, IMAGE = "text", "html", "image"
MAX_VALUE_CHARS = 500  # a longer value is no number, date or address
MAX_URL_CHARS = 8_192
READERS_VERSION = 3  # grows when what records have is read otherwise: they are extracted anew
MAX_EXACT = 2**53  # a larger whole number is no exact number in JSON

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
    country: str = ""  # of its site, as ISO 3166 has it
    # Reads dates in languages that `dates` does not know.
    by_dateparser: DatesByDateparser | None = None


def normalise(value_type: str, value: str, context: PageContext) -> Normalised | None:
    """Return the normalised form of a displayed value, None where it has none or is not read.

    >>> normalise("price", "$1,299.00", PageContext())
    {'amount': '1299.00', 'currency': 'USD'}
    >>> normalise("url", "b?c", PageContext("http://h/x/a"))
    'http://h/x/b?c'
    """
    read = READERS.get(value_type)
    if read is None or not value:
        return None
    max_chars = MAX_URL_CHARS if value_type in {"url", IMAGE} else MAX_VALUE_CHARS
    return read(value, context) if len(value) <= max_chars else None


def read_number_value(value: str, _context: PageContext) -> int | float | str | None:
    """Return a number as JSON has it; as text where JSON would round it."""
    number = find_number(value)
    if number is None:
        return None
    if number == number.to_integral_value():
        return int(number) if abs(number) < MAX_EXACT else plain(number)
    return float(number)


def read_zip(value: str, _context: PageContext) -> str | None:
    """Return the ZIP or postal code of a text, with single blanks.

    >>> read_zip("Springfield, IL 62704", PageContext())
    '62704'
    >>> read_zip("London SW1A  1AA", PageContext())
    'SW1A 1AA'
    """
    text = " ".join(value.upper().split())
    american = _STATE_AND_ZIP.search(text)
    if american:
        return american[1]
    codes: list[str] = _ZIP.findall(text)
    if not codes:
        return None
    first, last = codes[0], codes[-1]
    # In a longer text, such as an address, a number before the code may be that of a house.
    is_within_text = len(text) > len(first)
    return last if is_within_text and last.isdecimal() else first


def read_url(value: str, context: PageContext) -> str | None:
    """Return the absolute address, None where it is none; one of another kind than http stays."""
    words = value.split(maxsplit=1)
    address = words[0] if words else ""
    if address.lower().startswith(_OTHER_SCHEMES):
        return address
    if not context.base_url and not _SCHEME.match(address):
        return None
    try:
        return _without_dots(join_url(context.base_url, address))
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
    for segment in parts:
        if segment == "..":
            segments = segments[:-1]
        elif segment != ".":
            segments.append(segment)
    if parts[-1] in {".", ".."}:
        segments.append("")  # of a folder, the slash at the end stays
    return f"{before_query[:start]}/{'/'.join(segments)}{question}{query}"


READERS: Mapping[str, Callable[[str, PageContext], Normalised | None]] = {
    "price": lambda value, context: read_price(value, context.country, context.language),
    "number": read_number_value,
    "rating": lambda value, _: read_rating(value),
    "phone": lambda value, context: read_phone(value, context.country),
    "zip": read_zip,
    "date": lambda value, context: read_date(value, context.language, context.by_dateparser),
    "url": read_url,
    IMAGE: read_url,
}
