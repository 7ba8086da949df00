"""What a limited child observes of pages; it knows nothing of Django, so that it starts in a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage, observe_pages
from clustering.algorithms.packed_observations import observe_packed
from clustering.algorithms.plain_messages import read_plain, write_plain


def observe_message(message: bytes) -> bytes:
    """Return what `observe_batch` returns, for an algorithm, its parameters and pages, all as messages."""
    algorithm, parameters, pages = read_plain(message)
    return write_plain(observe_batch(algorithm, parameters, pages))


def observe_batch(
    algorithm: str | None, parameters: Mapping[str, object], pages: Sequence[RawPage]
) -> list[ObservedPage] | list[bytes]:
    """Return what an algorithm observes of pages; without one, what is stored of each."""
    if algorithm is None:
        return observe_packed(pages)
    return observe_pages(algorithm, pages, parameters)
