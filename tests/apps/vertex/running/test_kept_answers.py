"""What a client leaves of an answer is kept; threads wait for few clients that are far behind."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vertex.running.kept_answers import MAX_KEPT, KeptAnswer

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def answer_on(ours: socket.socket, *, n_places: int, stall: float = 60) -> KeptAnswer:
    places = threading.BoundedSemaphore(n_places) if n_places else threading.Semaphore(0)
    return KeptAnswer(ours, stall, lambda: places.acquire(blocking=False), places.release)


def test_what_is_not_taken_is_kept(ends: Ends) -> None:
    ours, theirs = ends
    answer = answer_on(ours, n_places=0)
    answer.sendall(b"a" * MAX_KEPT)
    n_taken = 0
    while not answer.send_kept():
        n_taken += len(theirs.recv(MAX_KEPT))
    assert n_taken, "the socket held less"
    while n_taken < MAX_KEPT:
        n_taken += len(theirs.recv(MAX_KEPT))
    assert n_taken == MAX_KEPT


def test_without_a_place_to_wait_at_a_large_answer_is_broken_off(ends: Ends) -> None:
    answer = answer_on(ends[0], n_places=0)
    with pytest.raises(BrokenPipeError):
        answer.sendall(b"a" * 8 * MAX_KEPT)


def test_a_client_that_takes_nothing_is_not_waited_for(ends: Ends) -> None:
    answer = answer_on(ends[0], n_places=1, stall=0.01)
    with pytest.raises(BrokenPipeError):
        answer.sendall(b"a" * 8 * MAX_KEPT)


def test_a_large_file_goes_to_a_client_that_takes_it(ends: Ends, tmp_path: Path) -> None:
    ours, theirs = ends
    body = bytes(range(256)) * 8 * 4096
    (tmp_path / "file").write_bytes(body)
    received = bytearray()

    def take() -> None:
        while piece := theirs.recv(65536):
            received.extend(piece)

    reader = threading.Thread(target=take)
    reader.start()
    answer = answer_on(ours, n_places=1)
    with (tmp_path / "file").open("rb") as file:
        answer.sendfile(file, offset=1, count=len(body) - 2)
    answer.end()
    while not answer.send_kept():
        pass
    ours.shutdown(socket.SHUT_WR)
    reader.join()
    assert received == body[1:-1]
