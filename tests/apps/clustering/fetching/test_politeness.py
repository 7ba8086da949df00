"""How long a host is left alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from clustering.fetching.politeness import MAX_PAUSE, back_off, pause_asked

NOW = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 7 ", 7),
        ("Wed, 01 May 2024 12:00:30 GMT", 30),
        ("Wed, 01 May 2024 14:00:30 +0200", 30),
        ("Wed, 01 May 2024 12:00:30", 30),
        ("Wed, 01 May 2024 11:00:00 GMT", 0),
        ("99999", 3600),
        ("9" * 5000, 3600),
        ("Fri, 01 May 2054 12:00:00 GMT", 3600),
    ],
)
def test_seconds_and_dates_are_heeded_for_an_hour_at_most(text: str, seconds: int) -> None:
    assert pause_asked(text, NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5", "1.5", "٣", "Wed, 99 May 2024 12:00:30 GMT"])
def test_what_is_no_time_asks_for_nothing(text: str) -> None:
    assert pause_asked(text, NOW) is None


def test_waiting_doubles_up_to_a_limit() -> None:
    assert [back_off(n) for n in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert back_off(10_000) == 30
    assert timedelta(hours=1) == MAX_PAUSE
