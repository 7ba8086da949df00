r"""Select the value in a text by an attribute's regular expression, or refuse the text.

The expressions are those of RE2: they run in linear time whatever a person types. `\s`, `\d` and
`\w` are ASCII there; displayed text has no other white space.
"""

from __future__ import annotations

from typing import Any

import re2

MAX_PATTERN_CHARS = 512
MAX_TEXT_CHARS = 64 * 1024
MAX_MEMORY_BYTES = 8 * 1024 * 1024  # of a compiled expression

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


def compile_regex(pattern: str) -> Any:
    """Return the compiled expression. Raises BadRegex."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise BadRegex(
            f"the regex has {len(pattern)} characters; at most {MAX_PATTERN_CHARS} are allowed"
        )
    options = re2.Options()
    options.max_mem = MAX_MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise BadRegex(
            f"the regex {pattern!r} cannot be read: {reason}{_advice(pattern)}"
        ) from None


def select(pattern: str, text: str) -> str | None:
    r"""Return the part of a text that a regex selects, None where it refuses the text.

    The first group that took part is the value, without groups the whole match. Raises BadRegex.

    >>> select(r"ISBN (\d+)", "Book, ISBN 123"), select(r"^\d+$", "none")
    ('123', None)
    """
    match = compile_regex(pattern).search(text[:MAX_TEXT_CHARS])
    if match is None:
        return None
    groups = [group for group in match.groups() if group is not None]
    selected = groups[0] if groups else match.group(0)
    return selected.strip() or None


def _advice(pattern: str) -> str:
    """Return what to write instead of what RE2 does not have; blank where it has all."""
    unknown = [name for sign, name in _UNKNOWN_TO_RE2.items() if sign in pattern]
    if unknown:
        return (
            f"; RE2 has no {unknown[0]}: "
            "put the value into a group (…), and around it what must stand there"
        )
    if any(f"\\{digit}" in pattern for digit in range(1, 10)):
        return "; RE2 has no backreferences such as \\1"
    return ""
