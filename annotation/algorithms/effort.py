"""How much work annotating was, summed up from what a person did and when.

The time between two actions on a page is work on what the second one was for. Longer pauses are
none: somebody went for a coffee. A page's own sums hold all that was done on it, those of its
attributes a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

MAX_PAUSE: Final = 60.0  # seconds
OPENED, DONE, KEY, CLICK = "page_opened", "page_done", "key", "click"
ACCEPTED, CORRECTED, UNDONE = "accepted", "corrected", "undone"
KINDS: Final = (OPENED, DONE, KEY, CLICK, ACCEPTED, CORRECTED, UNDONE)


class Action(NamedTuple):
    """Something that a person did on a page."""

    page: int
    attribute: int | None  # None: for the page as a whole
    kind: str
    at: float  # seconds since some moment, the same for all actions


@dataclass(slots=True)
class Sums:
    """What was done on a page, or for one of its attributes."""

    seconds: float = 0.0
    n_keys: int = 0
    n_clicks: int = 0
    n_accepted: int = 0
    n_corrected: int = 0
    n_undone: int = 0
    n_done: int = 0
    last_at: float = 0.0


def sum_up(
    actions: Iterable[Action], last_at_by_page: Mapping[int, float]
) -> dict[tuple[int, int | None], Sums]:
    """Return the sums of some actions, by page and attribute.

    `last_at_by_page` says when each page was left.

    >>> sum_up([Action(1, 7, "key", 12.0)], {1: 10.0})[1, 7].seconds
    2.0
    """
    sums: dict[tuple[int, int | None], Sums] = {}
    last = dict(last_at_by_page)
    for action in sorted(actions, key=lambda action: action.at):
        seconds = _seconds(action, last.get(action.page))
        last[action.page] = max(action.at, last.get(action.page, action.at))
        for attribute in {None, action.attribute}:
            _add(sums.setdefault((action.page, attribute), Sums()), action, seconds)
    return sums


def _seconds(action: Action, last_at: float | None) -> float:
    """Return how long an action took; a page that was just opened took nothing yet."""
    if last_at is None or action.kind == OPENED:
        return 0.0
    return min(max(action.at - last_at, 0.0), MAX_PAUSE)


def _add(sums: Sums, action: Action, seconds: float) -> None:
    sums.seconds += seconds
    sums.last_at = max(sums.last_at, action.at)
    sums.n_keys += action.kind == KEY
    sums.n_clicks += action.kind == CLICK
    sums.n_accepted += action.kind == ACCEPTED
    sums.n_corrected += action.kind == CORRECTED
    sums.n_undone += action.kind == UNDONE
    sums.n_done += action.kind == DONE
