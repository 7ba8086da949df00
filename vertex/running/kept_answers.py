"""Answers that clients do not take at once: what is left of them is kept, so that no thread waits.

gunicorn writes to a `KeptAnswer` instead of the connection. Once its thread is done, the event loop
sends the rest as the client takes it. Only an answer that is far ahead of its client, such as a
download of a million records, makes its thread wait, and only where a place is free for that.
"""

from __future__ import annotations

import errno
import select
import socket
from collections.abc import Callable
from typing import Any, Final

MAX_KEPT: Final = 1024 * 1024  # bytes of an answer that its client did not take yet
PIECE: Final = 64 * 1024


class KeptAnswer:
    """The connection as gunicorn writes an answer to it; all but writing is the socket's own."""

    def __init__(
        self,
        sock: socket.socket,
        stall: float,
        take_place: Callable[[], bool],
        give_place_back: Callable[[], None],
    ) -> None:
        self._sock = sock
        self._stall = stall  # seconds in which a client has to take something
        self._take_place = take_place
        self._give_place_back = give_place_back
        self._has_place = False
        self._kept = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    @property
    def is_sent(self) -> bool:
        return not self._kept

    def sendall(self, data: bytes) -> None:
        """Send what the client takes now, keep the rest. Raises OSError where that is too much."""
        self._kept += data
        if not self.send_kept() and len(self._kept) > MAX_KEPT:
            self._wait()

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> None:
        """Send a part of a file as `sendall` does."""
        file.seek(offset)
        n_left = count
        while piece := file.read(PIECE if n_left is None else min(PIECE, n_left)):
            n_left = None if n_left is None else n_left - len(piece)
            self.sendall(piece)

    def send_kept(self) -> bool:
        """Send what the client takes now; return whether nothing is left. Raises OSError."""
        while self._kept:
            try:
                n_sent = self._sock.send(self._kept, socket.MSG_DONTWAIT)
            except (BlockingIOError, InterruptedError):
                return False
            del self._kept[:n_sent]
        return True

    def end(self) -> None:
        """Give the place back, where the answer took one: its thread is done."""
        if self._has_place:
            self._has_place = False
            self._give_place_back()

    def _wait(self) -> None:
        """Wait until the client has taken half of what is kept. Raises BrokenPipeError."""
        if not self._has_place and not self._take_place():
            raise BrokenPipeError(errno.EPIPE, "as many threads as may wait for clients already")
        self._has_place = True
        room = select.poll()
        room.register(self._sock, select.POLLOUT)
        while len(self._kept) > MAX_KEPT // 2:
            if not room.poll(self._stall * 1000):
                raise BrokenPipeError(errno.EPIPE, f"nothing was taken in {self._stall:g} seconds")
            self.send_kept()
