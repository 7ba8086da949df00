r"""Let an attribute's regular expression select the value in a text, or refuse the text.

The expressions are those of RE2: they run in linear time whatever a person types. `\s`, `\d` and `\w` are
ASCII there; displayed text has no other white space.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

MAX_PATTERN = 512  # characters
MAX_TEXT = 64 * 1024
MAX_MEMORY = 8 * 1024 * 1024  # of a compiled expression

_UNKNOWN_TO_RE2 = {
    "(?=": "lookahead (?=…)",
    "(?!": "negative lookahead (?!…)",
    "(?<=": "lookbehind (?<=…)",
    "(?<!": "negative lookbehind (?<!…)",
    "(?>": "an atomic group (?>…)",
}


class BadRegex(ValueError):
    """A regular expression cannot be used."""


def check_regex(pattern: str) -> None:
    """Raise BadRegex, which says what to write instead."""
    compile_regex(pattern)


@lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Any:
    """Return the compiled expression. Raises BadRegex."""
    if len(pattern) > MAX_PATTERN:
        raise BadRegex(
            f"the regex has {len(pattern)} characters; at most {MAX_PATTERN} are allowed"
        )
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        told = (
            error.args[0].decode("utf-8", "replace")
            if isinstance(error.args[0], bytes)
            else str(error)
        )
        raise BadRegex(f"the regex {pattern!r} cannot be read: {told}{_advice(pattern)}") from None


def select(pattern: str, text: str) -> str | None:
    r"""Return the part of a text that a regex selects, None where it refuses the text.

    The first group that took part is the value, without groups the whole match. Raises BadRegex.

    >>> select(r"ISBN (\d+)", "Book, ISBN 123"), select(r"^\d+$", "none")
    ('123', None)
    """
    found = compile_regex(pattern).search(text[:MAX_TEXT])
    if found is None:
        return None
    selected = next(
        (group for group in found.groups() if group is not None), found.group(0)
    ).strip()
    return selected or None


def _advice(pattern: str) -> str:
    used = [name for sign, name in _UNKNOWN_TO_RE2.items() if sign in pattern]
    if used:
        return f"; RE2 has no {used[0]}: put the value into a group (…), and around it what must stand there"
    if any(f"\\{digit}" in pattern for digit in range(1, 10)):
        return "; RE2 has no backreferences such as \\1"
    return ""
