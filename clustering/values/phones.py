"""Read telephone numbers: in E.164 where the country is told, else the digits that are dialled.

Readings:   The numbering plans are those of the library phonenumbers. With the country of the site
            a number is one that its plan has ("Order 1234567890" is none), and gets its `+`.
            Without a country a number without `+` stays as it is dialled there. An extension
            follows as in RFC 3966.

Without the library, as in the small package of rules, every number stays as it is dialled.
"""

from __future__ import annotations

import re
from typing import Any, Final

try:
    import phonenumbers
except ImportError:  # the package of rules runs without it
    phonenumbers = None  # type: ignore[assignment]

MIN_DIGITS, MAX_DIGITS = 5, 15  # E.164 allows fifteen
MAX_TRIES: Final = 5  # numbers of one text that are asked for

_EXTENSION = re.compile(
    r"[;,]?\s{0,9}(?<![^\W\d_])(?:extension|extn|ext|x|durchwahl|poste)[.:=\s]*+(\d{1,7})\s*+$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\+|\b00|\(\+?)?\s?\d[\d\s().\-\u2010-\u2015/]*(?:[A-Z]{3,}[A-Z\-]*)?")
_TRUNK = re.compile(r"\(0\)")
_LETTERS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")


def read_phone(text: str, country: str = "") -> str | None:
    """Return the first telephone number, None where there is none; `country` is an ISO 3166 code.

    >>> read_phone("Call +49 (0)89 123-456, ext. 12"), read_phone("(555) 010-7788")
    ('+4989123456;ext=12', '5550107788')
    >>> read_phone("030 1234567", "DE"), read_phone("Order 1234567890", "US")
    ('+49301234567', None)
    """
    if phonenumbers is not None and country in phonenumbers.SUPPORTED_REGIONS:
        return _read_in_country(text, country)
    return _read_digits(text)


def _read_in_country(text: str, country: str) -> str | None:
    """Return the first number that the plan of its country has."""
    first = next(iter(phonenumbers.PhoneNumberMatcher(text, country, max_tries=MAX_TRIES)), None)
    if first is not None:
        return _in_e164(first.number)
    try:
        number = phonenumbers.parse(text, country)  # unlike the matcher it reads 1-800-FLOWERS
    except phonenumbers.NumberParseException:
        return None
    return _in_e164(number) if phonenumbers.is_valid_number(number) else None


def _in_e164(number: Any) -> str:
    dialled = str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    return f"{dialled};ext={number.extension}" if number.extension else dialled


def _read_digits(text: str) -> str | None:
    extension = _EXTENSION.search(text)
    without_extension = text[: extension.start()] if extension else text
    for match in _NUMBER.finditer(without_extension):
        number = match[0].translate(_LETTERS)
        is_international = number.lstrip("( ").startswith(("+", "00"))
        if is_international:
            number = _TRUNK.sub("", number)
        digits = "".join(filter(str.isdecimal, number))
        if is_international:
            digits = digits.removeprefix("00")
        if not MIN_DIGITS <= len(digits) <= MAX_DIGITS:
            continue
        plus = "+" if is_international else ""
        return f"{plus}{digits};ext={extension[1]}" if extension else f"{plus}{digits}"
    return None
