"""Print parts of XPaths in XPath 1.0: texts as they are shown, literals, alternatives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

WIDTHLESS: Final = "\u200b\ufeff"
NO_BREAK_SPACE: Final = "\u00a0"
COLONS: Final = ":\uff1a"

_SHOWN = str.maketrans(
    {"\t": " ", "\n": " ", "\r": " ", NO_BREAK_SPACE: " ", "\u200b": None, "\ufeff": None}
)
_LABEL = _SHOWN | str.maketrans(dict.fromkeys(COLONS, " "))


def shown(text: str) -> str:
    r"""Return the text as `shown_form` has it: blanks become one blank, what has no width goes.

    >>> shown(" 25\xa0EUR\n"), shown("25\u200b0")
    ('25 EUR', '250')
    """
    stripped = text.strip(" \t\n\r")
    if stripped.isascii() and stripped.isprintable() and "  " not in stripped:
        return stripped  # as nearly all are: nothing to replace
    return " ".join(word for word in text.translate(_SHOWN).split(" ") if word)


def label_of(text: str) -> str:
    """Return the text as `label_form` computes it: as it is shown, colons being blanks.

    >>> label_of(" Directed by : ")
    'Directed by'
    """
    # COLONS, without a loop: every text of a page comes here.
    if ":" not in text and "\uff1a" not in text:
        return shown(text)
    return " ".join(word for word in text.translate(_LABEL).split(" ") if word)


def shown_form(expression: str) -> str:
    """Return the XPath that computes `shown` of an expression's string."""
    return f"normalize-space(translate({expression}, '{NO_BREAK_SPACE}{WIDTHLESS}', ' '))"


def label_form(expression: str) -> str:
    """Return the XPath that computes `label_of` of an expression's string."""
    return f"normalize-space(translate({expression}, '{NO_BREAK_SPACE}{COLONS}{WIDTHLESS}', '   '))"


_DIGITS, _ZEROS = "123456789", "000000000"
_SHAPE = str.maketrans(_DIGITS, _ZEROS)


def shape_of(text: str) -> str:
    """Return a shown text as `shape_form` computes it: each digit is a nought.

    >>> shape_of("(212) 555-0199")
    '(000) 000-0000'
    """
    return text.translate(_SHAPE)


def shape_form(expression: str) -> str:
    """Return the XPath that computes `shape_of` what an expression's string shows."""
    return f"translate({shown_form(expression)}, '{_DIGITS}', '{_ZEROS}')"


HAS_TEXT: Final = f"text()[{shown_form('.')}]"


def literal(text: str) -> str:
    r"""Return a string as XPath writes it, with `concat` where it holds both kinds of quotes.

    >>> literal("it's")
    '"it\'s"'
    """
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"


def any_of(tests: Iterable[str]) -> str:
    return " or ".join(tests)


def equals_any(expression: str, values: Iterable[str]) -> str:
    return any_of(f"{expression}={literal(value)}" for value in values)


def ends_with(expression: str, value: str) -> str:
    """Return the test that a string ends so, for which XPath 1.0 has no function."""
    start = f"string-length({expression})-{len(value) - 1}"
    return f"substring({expression}, {start})={literal(value)}"
