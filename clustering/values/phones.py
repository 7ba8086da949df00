"""Read telephone numbers: the digits that are dialled, with `+` where the country is told.

Readings:   No table of countries' numbering plans is kept: a number without its country stays as it
            is dialled there.
"""

from __future__ import annotations

import re

MIN_DIGITS, MAX_DIGITS = 5, 15  # E.164 allows fifteen

_EXTENSION = re.compile(
    r"[;,]?\s*(?<![^\W\d_])(?:extension|extn|ext|x|durchwahl|poste)[.:=\s]*(\d{1,7})\s*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\+|\b00|\(\+?)?\s?\d[\d\s().\-\u2010-\u2015/]*(?:[A-Z]{3,}[A-Z\-]*)?")
_TRUNK = re.compile(r"\(0\)")
_LETTERS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")


def read_phone(text: str) -> str | None:
    """Return the digits of the first telephone number, None where there is none.

    >>> read_phone("Call +49 (0)89 123-456, ext. 12"), read_phone("(555) 010-7788")
    ('+4989123456;ext=12', '5550107788')
    """
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
