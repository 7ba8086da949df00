"""Ratings: a value and the best that could be given."""

from __future__ import annotations

import pytest

from clustering.values.ratings import read_rating


@pytest.mark.parametrize(
    ("text", "value", "best"),
    [
        ("4.5 out of 5 stars", 4.5, 5.0),
        ("4,5/5", 4.5, 5.0),
        ("8 von 10", 8.0, 10.0),
        ("95%", 95.0, 100.0),
        ("★★★½☆", 3.5, 5.0),
        ("★★★", 3.0, None),
        ("Rated 4.2", 4.2, None),
        ("12 of 10", 12.0, None),
    ],
)
def test_the_best_is_told_where_it_stands_there(
    text: str, value: float, best: float | None
) -> None:
    assert {"value": value, "best": best} == read_rating(text)


@pytest.mark.parametrize("text", ["", "not rated"])
def test_what_shows_no_rating_is_none(text: str) -> None:
    assert read_rating(text) is None
