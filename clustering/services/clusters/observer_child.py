"""The process that observes pages for its parent: batches come in, answers go out.

It knows nothing of Django, so that it starts in a moment. It ends with its input, which ends when
the parent is gone.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Final

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage, observe_pages
from clustering.algorithms.packed_observations import observe_packed
from clustering.algorithms.plain_messages import read_plain, write_plain
from clustering.fetching.way_out import refuse_other_connections

LENGTH: Final = struct.Struct("<Q")  # of the message that follows
MAX_MESSAGE: Final = 4 * 1024**3  # bytes; a batch of the largest pages has a fifth of it


def answer_batches(requests: BinaryIO, answers: BinaryIO) -> None:
    """Observe batches of pages until there are no more."""
    while True:
        try:
            algorithm, parameters, pages = read_plain(receive(requests))
        except EOFError:
            return  # the parent is gone, perhaps in the middle of a batch
        send(answers, write_plain(observe_batch(algorithm, parameters, pages)))


def send(stream: BinaryIO, message: bytes) -> None:
    """Write a message with its length before it."""
    stream.write(LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """Read a message. Raises EOFError where there is none, or half of one."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    if length > MAX_MESSAGE:
        raise EOFError
    message = stream.read(length)
    if len(message) < length:
        raise EOFError
    return message


def observe_batch(
    algorithm: str | None, parameters: Mapping[str, object], pages: Sequence[RawPage]
) -> list[ObservedPage] | list[bytes]:
    """Return what an algorithm observes of pages; without one, what is stored of each."""
    if algorithm is None:
        return observe_packed(pages)
    return observe_pages(algorithm, pages, parameters)


if __name__ == "__main__":
    refuse_other_connections(lambda _host, _port: False)
    answer_batches(sys.stdin.buffer, sys.stdout.buffer)
