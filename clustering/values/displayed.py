"""The text of a value as a reader sees it: one line, without characters that show nothing."""

from __future__ import annotations

import re

# What has no width: soft hyphen, zero-width space and joiners, marks of direction, word joiner,
# BOM.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")


def displayed(text: str) -> str:
    r"""Return the text with all white space as single blanks, without invisible characters.

    >>> displayed(" 25,00\xa0EUR\u200b\n each ")
    '25,00 EUR each'
    """
    if text.isascii():
        return " ".join(text.split())
    return " ".join(_INVISIBLE.sub("", text).split())
