"""Write text and attributes as XML: what XML cannot hold is replaced, character by character."""

from __future__ import annotations

import re
from typing import Final

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_VALUE_ESCAPES: Final = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\r": "&#13;",
        "\n": "&#10;",
        "\t": "&#9;",
    }
)
_LOCAL: Final = re.compile(r"[^()]*(?:url\(\s*+[\"']?#[^\"'()\s]*+[\"']?\s*+\)[^()]*)*")
_OTHER_FUNCTION: Final = re.compile(r"(?<![\w-])(?!url\b)[a-zA-Z-]++\(([^()]*+)\)")


def escaped(text: str) -> str:
    """Return a text as XML holds it."""
    return _FORBIDDEN.sub("\ufffd", text).translate(_ESCAPES)


def attributes(values: dict[str, str]) -> str:
    """Return attributes as they stand in a tag."""
    return "".join(f' {name}="{_value(value)}"' for name, value in values.items())


def is_local(value: str) -> bool:
    """Return whether what an attribute of a drawing refers to stands in the same document.

    >>> is_local("url(#shade)"), is_local("url(http://example.org/#shade)"), is_local("rotate(45)")
    (True, False, True)
    """
    if "\\" in value:
        return False  # an escaped name of a function
    return _LOCAL.fullmatch(_OTHER_FUNCTION.sub(r" \1 ", value)) is not None


def _value(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text).translate(_VALUE_ESCAPES)
