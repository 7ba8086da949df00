"""A proxy on loopback, the only way out of a rendering browser, held by the guard."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from time import monotonic
from types import TracebackType
from typing import Final, Self

from clustering.fetching.deadlines import Deadline
from clustering.fetching.guard import Guard, UrlRefused, read_url
from clustering.fetching.loop import POLL_SECONDS, wait_for
from clustering.fetching.refusals import FetchRefused

MAX_HEAD: Final = 64 * 1024
MAX_CONNECTIONS: Final = 64  # at once
PIECE_BYTES: Final = 64 * 1024
HOP_BY_HOP: Final = (b"connection:", b"proxy-connection:", b"proxy-authorization:", b"keep-alive:")
ANSWER: Final = "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(slots=True)
class Proxy:
    """A proxy for one page: it ends at the deadline, and passes no more bytes than allowed."""

    guard: Guard
    deadline: Deadline
    max_bytes: int
    refused_by_address: dict[tuple[str, int], FetchRefused] = field(default_factory=dict)
    n_bytes: int = 0
    _listener: socket.socket = field(init=False)
    _is_over: threading.Event = field(default_factory=threading.Event)
    _slots: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(MAX_CONNECTIONS)
    )
    _threads: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(POLL_SECONDS)

    def __enter__(self) -> Self:
        self._start(self._listen)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(2 * POLL_SECONDS)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, name="proxy", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        """Take the browser's connections until the end; this thread alone closes the listener."""
        with self._listener:
            while not self._is_over.is_set():
                with suppress(TimeoutError):
                    client, _ = self._listener.accept()
                    if self._slots.acquire(blocking=False):
                        self._start(self._serve, client)
                    else:
                        client.close()

    def _serve(self, client: socket.socket) -> None:
        """Do what one connection of the browser asks for, and close it.

        `_connect` answers where it may not lead.
        """
        with ExitStack() as stack:
            stack.callback(self._slots.release)
            stack.enter_context(client)
            stack.enter_context(suppress(OSError, FetchRefused))
            head, body_start = self._read_head(client)
            request = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            if len(request) != 3:
                return
            server = stack.enter_context(self._connect(client, request[0], request[1]))
            if request[0] == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                server.sendall(rewritten(head))
            server.sendall(body_start)
            self._relay(client, server)

    def _read_head(self, client: socket.socket) -> tuple[bytes, bytes]:
        seen = b""
        while b"\r\n\r\n" not in seen and len(seen) < MAX_HEAD:
            piece = self._receive(client)
            if not piece:
                break
            seen += piece
        head, _, body_start = seen.partition(b"\r\n\r\n")
        return head, body_start

    def _receive(self, client: socket.socket) -> bytes:
        while not self._is_over.is_set():
            client.settimeout(self.deadline.slice())
            with suppress(TimeoutError):
                return client.recv(PIECE_BYTES)
        return b""

    def _connect(self, client: socket.socket, method: str, address: str) -> socket.socket:
        """Connect to where a request leads, or answer the browser that it may not."""
        try:
            url = read_url(f"https://{address}/" if method == "CONNECT" else address)
            try:
                return wait_for(self.guard.connect(url.host, url.port), self.deadline.stop)
            except FetchRefused as error:
                self.refused_by_address[url.host, url.port] = error
                raise
        except UrlRefused:
            client.sendall(ANSWER.format(status="400 Bad Request").encode())
            raise
        except FetchRefused:
            client.sendall(ANSWER.format(status="403 Forbidden").encode())
            raise

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        """Pass bytes both ways until one side is done, the time is over or too many were passed."""
        other = {client: server, server: client}
        end_by_number = {end.fileno(): end for end in other}
        arriving = select.poll()
        for end in other:
            end.settimeout(self.deadline.remaining())
            arriving.register(end, select.POLLIN)
        while not self._is_over.is_set():
            for number, _ in arriving.poll(self.deadline.slice() * 1000):
                end = end_by_number[number]
                piece = end.recv(PIECE_BYTES)
                self.n_bytes += len(piece)
                if (
                    not piece
                    or self.n_bytes > self.max_bytes
                    or monotonic() > self.deadline.ends_at
                ):
                    return
                other[end].sendall(piece)


def rewritten(head: bytes) -> bytes:
    r"""Return a request to a proxy as one to the server itself, for one answer only.

    >>> rewritten(b"GET http://example.org/a HTTP/1.1\r\nHost: other\r\nConnection: keep-alive")
    b'GET /a HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n'
    """
    first, *lines = head.split(b"\r\n")
    method, address, _ = first.split(b" ", 2)
    url = read_url(address.decode("latin-1"))
    dropped = (*HOP_BY_HOP, b"host:")
    headers = [line for line in lines if not line.lower().startswith(dropped)]
    own = [b"%s %s HTTP/1.1" % (method, url.target.encode()), b"Host: " + url.netloc.encode()]
    return b"\r\n".join([*own, *headers, b"Connection: close", b"", b""])
