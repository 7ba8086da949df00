"""One piece of heavy work a person at a time: whoever asks for many at once holds up nobody else.

The turn is an entry of the cache, which all processes share; it ends by itself where its process
was killed. Where the cache is away, everybody has a turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.core.cache import cache

from vertex.core.models import User

LONGEST_TURN: Final = 90  # seconds


class TurnTaken(Exception):
    """Work that the same person asked for is still being done."""

    def __init__(self) -> None:
        super().__init__("What you asked for before is still being worked on. Wait for it to end.")


@contextmanager
def own_turn(person: User, work: str) -> Iterator[None]:
    """Hold a person back from doing a kind of work twice at once. Raises TurnTaken."""
    key = f"turn-{work}-{person.pk}"
    is_taken = not cache.add(key, True, LONGEST_TURN)
    if is_taken and cache.get(key) is not None:  # else the cache is away
        raise TurnTaken
    try:
        yield
    finally:
        cache.delete(key)
