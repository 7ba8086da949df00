"""Read numbers as people write them: marks of thousands, decimal commas, fractions.

Readings:   A mark between digits is the decimal one where it comes last and other marks come before
            it, or where it is not followed by exactly three digits. One mark with exactly three
            digits behind it parts thousands where it is a comma, an apostrophe or a blank, or where
            `point_parts_thousands` says so of points, as in prices ("1.299 EUR"), which have no
            third decimal. "0.125" is a fraction always.
"""

from __future__ import annotations

import re
from decimal import Decimal

MAX_DIGITS = 30

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u02bc ]\d+)*")
_BLANK_GROUPS = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?")
_MARK = re.compile(r"[.,'\u2019\u02bc ]")
_MINUS = re.compile(r"[-\u2212\u2013]\s?$")
_THREE = 3


def find_number(text: str, *, point_parts_thousands: bool = False) -> Decimal | None:
    """Return the first number of a text, None where there is none.

    >>> find_number("about 1,234.50 m"), find_number("1 299,00"), find_number("12,5")
    (Decimal('1234.50'), Decimal('1299.00'), Decimal('12.5'))
    """
    span = find_number_span(text)
    if span is None:
        return None
    start, end = span
    value = read_number(text[start:end], point_parts_thousands=point_parts_thousands)
    return -value if value is not None and is_negative(text, start) else value


def find_number_span(text: str, start: int = 0) -> tuple[int, int] | None:
    """Return where the next number of a text begins and ends, None where there is none."""
    match = _NUMBER.search(text, start)
    if match is None:
        return None
    if " " not in match[0]:
        return match.span()
    # A blank belongs to a number only where it parts groups of three digits.
    groups = _BLANK_GROUPS.match(text, match.start())
    if groups:
        return groups.span()
    return match.start(), match.start() + match[0].index(" ")


def is_negative(text: str, start: int) -> bool:
    """Return whether a minus sign precedes the number there, and no digit or word the sign."""
    sign = _MINUS.search(text, 0, start)
    return sign is not None and not text[: sign.start()].rstrip()[-1:].isalnum()


def read_number(digits: str, *, point_parts_thousands: bool = False) -> Decimal | None:
    """Return the value of digits and marks between them.

    >>> read_number("1.299"), read_number("1.299", point_parts_thousands=True)
    (Decimal('1.299'), Decimal('1299'))
    """
    marks = _MARK.findall(digits)
    groups = _MARK.split(digits)
    if sum(map(len, groups)) > MAX_DIGITS:
        return None
    if _has_fraction(marks, groups, point_parts_thousands=point_parts_thousands):
        return Decimal("".join(groups[:-1]) + "." + groups[-1])
    return Decimal("".join(groups))


def _has_fraction(marks: list[str], groups: list[str], *, point_parts_thousands: bool) -> bool:
    """Return whether the last mark is the decimal one."""
    if not marks or marks[-1] not in ".,":
        return False
    if marks[-1] in marks[:-1]:
        return False  # 1.234.567
    if len(groups[-1]) != _THREE or groups[0].startswith("0") or len(groups[0]) > _THREE:
        return True
    return len(marks) > 1 or (marks[-1] == "." and not point_parts_thousands)


def plain(value: Decimal) -> str:
    """Return a number without exponent and marks.

    >>> plain(Decimal("1E+3")), plain(Decimal("2.50"))
    ('1000', '2.50')
    """
    return format(value, "f")
