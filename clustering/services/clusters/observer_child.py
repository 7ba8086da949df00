"""The process that observes pages for its parent: batches come in, answers go out.

It knows nothing of Django, so that it starts in a moment. It ends with its input, which ends when
the parent is gone.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage, observe_pages
from clustering.algorithms.packed_observations import observe_packed


def answer_batches(requests: BinaryIO, answers: BinaryIO) -> None:
    """Observe batches of pages until there are no more."""
    while True:
        try:
            algorithm, parameters, pages = pickle.load(requests)  # noqa: S301 - written by the parent process
        except (EOFError, pickle.UnpicklingError):
            return  # the parent is gone, perhaps in the middle of a batch
        pickle.dump(observe_batch(algorithm, parameters, pages), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def observe_batch(
    algorithm: str | None, parameters: Mapping[str, object], pages: Sequence[RawPage]
) -> list[ObservedPage] | list[bytes]:
    """Return what an algorithm observes of pages; without one, what is stored of each."""
    if algorithm is None:
        return observe_packed(pages)
    return observe_pages(algorithm, pages, parameters)


if __name__ == "__main__":
    answer_batches(sys.stdin.buffer, sys.stdout.buffer)
