r"""Print the tests of features and the complete XPaths of conjunctions, in XPath 1.0.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.1.
Notation:   A chain is the target (level 0), its parent (1), that one's parent (2) and so on. A target is a
            text node (`text()`), an element (`element`) or an attribute's element (`@src`).
Readings:   A feature at level l leaves l - 1 stars between its element and the target. Siblings are elements.
            "Nearest preceding text" is the first of the axis `preceding`, which counts backwards.
Departures: Texts are compared as they are shown: no-break spaces are blanks, what has no width is gone. In
            labels a colon is a blank too. Text nodes that show nothing are no targets and no anchors.
Cost:       Linear in what is printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.algorithms.rule.rule import Feature

WIDTHLESS: Final = "\u200b\ufeff"
NO_BREAK_SPACE: Final = "\u00a0"
COLONS: Final = ":\uff1a"

_SHOWN = str.maketrans({"\t": " ", "\n": " ", "\r": " ", NO_BREAK_SPACE: " ", "\u200b": None, "\ufeff": None})
_LABEL = _SHOWN | str.maketrans(dict.fromkeys(COLONS, " "))


def shown(text: str) -> str:
    r"""Return the text as `shown_form` computes it: blanks of XPath and no-break spaces become one blank.

    >>> shown(" 25\xa0EUR\n")
    '25 EUR'
    """
    stripped = text.strip(" \t\n\r")
    if stripped.isascii() and stripped.isprintable() and "  " not in stripped:
        return stripped  # as nearly all are
    return " ".join(word for word in text.translate(_SHOWN).split(" ") if word)


def label_of(text: str) -> str:
    """Return the text as `label_form` computes it: as it is shown, colons being blanks.

    >>> label_of(" Directed by : ")
    'Directed by'
    """
    if ":" not in text and "\uff1a" not in text:  # COLONS, without a loop: this is asked of every text
        return shown(text)
    return " ".join(word for word in text.translate(_LABEL).split(" ") if word)


def shown_form(expression: str) -> str:
    """Return the XPath that computes `shown` of an expression's string."""
    return f"normalize-space(translate({expression}, '{NO_BREAK_SPACE}{WIDTHLESS}', ' '))"


def label_form(expression: str) -> str:
    """Return the XPath that computes `label_of` of an expression's string."""
    return f"normalize-space(translate({expression}, '{NO_BREAK_SPACE}{COLONS}{WIDTHLESS}', '   '))"


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
    """Return the test that a string ends so, which XPath 1.0 has no function for."""
    start = f"string-length({expression})-{len(value) - 1}"
    return f"substring({expression}, {start})={literal(value)}"


def print_path(target: str, features: Sequence[Feature]) -> str:
    """Return the XPath of a conjunction: one step a level, from the highest level to the target."""
    top = max((feature.level for feature in features), default=0)
    steps = [_step(target, level, [f for f in features if f.level == level]) for level in range(top, -1, -1)]
    path = "//" + "/".join(steps)
    return f"{path}/{target}" if target.startswith("@") else path


def _step(target: str, level: int, features: Sequence[Feature]) -> str:
    """Return the step to one level: the tag where it is tested, and the other tests as predicates."""
    tags = [feature for feature in features if feature.is_plain_tag]
    name = tags[0].values[0] if tags else "*"
    if level == 0 and target == "text()":
        name = HAS_TEXT
    tests = [feature.test for feature in features if feature not in tags[:1]]
    return name + "".join(f"[{test}]" for test in tests)


def print_position(path: str, position: int) -> str:
    """Return the XPath of one of the selected nodes: 1 is the first, -1 the last."""
    if position > 0:
        return f"({path})[{position}]"
    return f"({path})[last(){'' if position == -1 else position + 1}]"
