"""The process that observes pages for its parent: batches come in, answers go out.

It knows nothing of Django, so that it starts in a moment. It ends with its input, which ends when
the parent is gone.
"""

from __future__ import annotations

import pickle
import sys
from typing import BinaryIO

from clustering.algorithms.observation import observe_pages


def answer_batches(requests: BinaryIO, answers: BinaryIO) -> None:
    """Observe batches of pages until there are no more.

    Each is an algorithm's name, values of its parameters, and pages.
    """
    while True:
        try:
            algorithm, parameters, pages = pickle.load(requests)  # noqa: S301 - written by the parent process
        except (EOFError, pickle.UnpicklingError):
            return  # the parent is gone, perhaps in the middle of a batch
        pickle.dump(observe_pages(algorithm, pages, parameters), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    answer_batches(sys.stdin.buffer, sys.stdout.buffer)
