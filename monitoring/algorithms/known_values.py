"""Compare two values of an attribute by what they mean, however they are written.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B.
Notation:   A golden value is one that is known to be right on an older version of a page.
Readings:   "Values of constant attributes match": after normalisation, so that another format of a
            date or a price, other blanks, other capitals or a colon at the end are no change.
Departures: Of links and images the path counts: hosts, schemes and queries change without any
            change of template. The values of a multi-valued attribute are compared as a set.
Cost:       Linear in the texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from clustering.values.normalising import IMAGE, PageContext, normalise

Value = str | Sequence[str] | None

ADDRESSES: Final = frozenset({"url", IMAGE})
AMOUNTS: Final = frozenset({"price", "number"})
TYPED: Final = frozenset({"price", "number", "rating", "phone", "zip", "date"})
MAX_TYPED_CHARS: Final = 80  # characters of a text that may be a typed value
_BLANK = re.compile(r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")
_PLAIN = PageContext("", "")


def same_value(value_type: str, golden: Value, extracted: Value) -> bool:
    """Return whether two values of a type mean the same; no value is the same as no value.

    >>> same_value("date", "7 October 2024", "2024-10-07")
    True
    """
    if golden is None or extracted is None:
        return golden is None and extracted is None
    return forms_of(value_type, golden) == forms_of(value_type, extracted)


def forms_of(value_type: str, value: Value) -> frozenset[Hashable]:
    """Return the forms by which the values of an attribute are compared; none for no value."""
    texts = [value] if isinstance(value, str) else list(value or ())
    # A gap of a nested list says nothing of the values.
    return frozenset(form_of(value_type, text) for text in texts if text is not None)


def form_of(value_type: str, text: str) -> Hashable:
    """Return the form by which a value is compared with others of its type."""
    if value_type in ADDRESSES:
        return _path(text) or plain(text)
    typed = typed_form(value_type, text)
    return plain(text) if typed is None else typed


def typed_form(value_type: str, text: str) -> Hashable | None:
    """Return what a text means as a value of a type; None where it is none of that type."""
    if value_type not in TYPED or len(text) > MAX_TYPED_CHARS:
        return None
    return _frozen(normalise(value_type, text, _PLAIN))


def is_of_type(value_type: str, text: str) -> bool:
    """Return whether a text may be a value of a type; any text may be one of a type without a form.

    >>> is_of_type("number", "12"), is_of_type("number", "Lincoln High"), is_of_type("text", "x")
    (True, False, True)
    """
    return value_type not in TYPED or typed_form(value_type, text) is not None


def amount_of(value_type: str, text: str) -> float | None:
    """Return the number that a value of a type stands for; None where it stands for none.

    >>> amount_of("price", "€1,299.00")
    1299.0
    """
    if value_type not in AMOUNTS or len(text) > MAX_TYPED_CHARS:
        return None
    form: Any = normalise(value_type, text, _PLAIN)
    number = form.get("amount") if isinstance(form, dict) else form
    try:
        return None if number is None else float(number)
    except (TypeError, ValueError):
        return None


def plain(text: str) -> str:
    """Return a text without blanks, capitals and a colon at its end.

    >>> plain(" Weight : ")
    'weight'
    """
    return _BLANK.sub("", unicodedata.normalize("NFKC", text)).casefold().rstrip(":;,.")


def _path(address: str) -> str:
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return ""
    path = unquote(parts.path).rstrip("/")
    return path or parts.netloc.removeprefix("www.").casefold()


def _frozen(value: Any) -> Hashable | None:
    if value is None:
        return None
    if isinstance(value, dict):
        return tuple(sorted((key, part) for key, part in value.items() if part is not None))
    return str(value)
