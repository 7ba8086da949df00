"""Make text fit for the database, whatever it was read from."""

from __future__ import annotations

REPLACEMENT = "\ufffd"


def storable(text: str, max_length: int | None = None) -> str:
    r"""Return text as any database takes it: NUL, lone surrogates become U+FFFD, the rest stays.

    >>> storable("a\0b", 2)
    'a\ufffd'
    """
    # A quick answer for nearly all text; false for what must go, and for more.
    if not text.isprintable():
        text = text.replace("\0", REPLACEMENT)
        if any("\ud800" <= character <= "\udfff" for character in text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text if max_length is None else text[:max_length]
