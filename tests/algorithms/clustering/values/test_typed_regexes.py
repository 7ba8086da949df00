"""Regular expressions that select and validate values."""

from __future__ import annotations

import pytest

from clustering.values.typed_regexes import (
    MAX_PATTERN_CHARS,
    MAX_TEXT_CHARS,
    BadRegex,
    check_regex,
    select,
)


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        (r"ISBN (\d+)", "Book, ISBN 123", "123"),
        (r"\d+", "about 12 or 13", "12"),
        (r"EUR (\d+)|(\d+) EUR", "5 EUR", "5"),
        (r"\p{L}+", "1 été", "été"),
    ],
)
def test_the_group_or_the_match_is_the_value(pattern: str, text: str, value: str) -> None:
    assert value == select(pattern, text)


@pytest.mark.parametrize(("pattern", "text"), [(r"^\d+$", "none"), (r"(\s*)", "x"), ("x*", "y")])
def test_what_does_not_match_or_is_empty_is_refused(pattern: str, text: str) -> None:
    assert select(pattern, text) is None


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("(?=a)b", "lookahead"),
        ("(?<!a)b", "negative lookbehind"),
        (r"(a)\1", "backreferences"),
        ("(", "missing \\)"),
        ("x" * (MAX_PATTERN_CHARS + 1), "at most 512"),
        ("((a{100}){100}){100}", "repetition"),
    ],
)
def test_a_bad_regex_says_what_is_wrong(pattern: str, advice: str) -> None:
    with pytest.raises(BadRegex, match=advice):
        check_regex(pattern)


def test_a_bomb_takes_no_time() -> None:
    assert select("(a+)+$", "a" * (MAX_TEXT_CHARS - 1) + "b") is None
