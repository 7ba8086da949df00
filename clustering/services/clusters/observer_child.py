"""What a limited child observes of pages; it knows no Django, so that it starts in a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage, observe_pages
from clustering.algorithms.packed_observations import observe_packed
from clustering.algorithms.plain_messages import write_plain


def observe_bodies(
    bodies: bytes,
    pages: Sequence[tuple[int, str, str]],
    algorithm: str | None,
    parameters: Mapping[str, object],
) -> bytes:
    """Return what `observe_batch` returns as a message.

    `bodies` holds the pages one after the other; of each `pages` says how many bytes it has, its
    address and its content type.
    """
    raw_pages = []
    start = 0
    for n_bytes, url, content_type in pages:
        raw_pages.append(RawPage(url, bodies[start : start + n_bytes], content_type))
        start += n_bytes
    return write_plain(observe_batch(algorithm, parameters, raw_pages))


def observe_batch(
    algorithm: str | None, parameters: Mapping[str, object], pages: Sequence[RawPage]
) -> list[ObservedPage] | list[bytes]:
    """Return what an algorithm observes of pages; without one, what is stored of each."""
    if algorithm is None:
        return observe_packed(pages)
    return observe_pages(algorithm, pages, parameters)
