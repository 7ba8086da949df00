"""How long to leave a host alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

MAX_PAUSE: Final = timedelta(hours=1)
BUSY: Final = frozenset({429, 503})  # the host asks to come back later


def pause_asked(retry_after: str, now: datetime) -> timedelta | None:
    """Return how long Retry-After asks to wait, at most an hour; None if it asks for nothing.

    >>> pause_asked("120", datetime(2024, 1, 1, tzinfo=UTC))
    datetime.timedelta(seconds=120)
    """
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), MAX_PAUSE)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(max(until - now, timedelta(0)), MAX_PAUSE)


def back_off(n_failures: int, *, first: float = 0.5, max_seconds: float = 30.0) -> float:
    """Return the seconds to wait after so many failures in a row.

    >>> [back_off(n) for n in (1, 2, 3, 20)]
    [0.5, 1.0, 2.0, 30.0]
    """
    return float(min(first * 2 ** (min(n_failures, 20) - 1), max_seconds))
