"""A web server on loopback, each answer set by a test to the byte; and a port that counts."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass
class Answer:
    """What a route answers; `raw` is written as it is, instead of everything else."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: Callable[[BaseHTTPRequestHandler], None] | None = None


@dataclass
class Asked:
    """A request as the server saw it."""

    method: str
    path: str
    headers: dict[str, str]
    at: float
    body: bytes = b""


NOT_FOUND = Answer(b"not found", 404, {"Content-Type": "text/plain"})


def page(*links: str, text: str = "") -> Answer:
    """Return an HTML page with these links."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = f"<!doctype html><title>page</title><body><h1>{text}</h1><ul>{anchors}</ul></body>"
    return Answer(body.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def moved(location: str, status: int = 302) -> Answer:
    """Return a redirect."""
    return Answer(status=status, headers={"Location": location})


class FakeHost(ThreadingHTTPServer):
    """A server of routes, each an answer or a function of the request; any other path gives 404."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        routes: Mapping[str, Answer | Callable[[Asked], Answer]],
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__((address, port), _Visitor)
        self.routes = dict(routes)
        self.asked: list[Asked] = []
        self.is_over = threading.Event()
        self.scheme = "http"
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.server_address[0]!s}:{self.server_port}"

    @property
    def paths(self) -> list[str]:
        """Return the paths asked for, but for robots.txt."""
        return [request.path for request in self.asked if request.path != "/robots.txt"]

    def __enter__(self) -> Self:
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing about visitors who left."""


class _Visitor(BaseHTTPRequestHandler):
    server: FakeHost
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30

    def do_GET(self) -> None:
        requested = Asked(
            self.command,
            self.path,
            dict(self.headers.items()),
            time.monotonic(),
            self.rfile.read(int(self.headers.get("Content-Length", 0))),
        )
        self.server.asked.append(requested)
        route = self.server.routes.get(self.path, NOT_FOUND)
        answer = route(requested) if callable(route) else route
        if answer.raw is not None:
            answer.raw(self)
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


HANGS_FOR = 240.0  # seconds; the end of a test ends it
# Whoever gives up a host that hangs has given up by then, on a busy machine too.
LONG_BEFORE = HANGS_FOR / 2


def hang(visitor: BaseHTTPRequestHandler) -> None:
    """Answer nothing until the test is over."""
    assert isinstance(visitor.server, FakeHost)
    visitor.server.is_over.wait(HANGS_FOR)


def drip(piece: bytes, every: float, head: bytes = b"") -> Callable[[BaseHTTPRequestHandler], None]:
    """Write a head, then a piece at a time until the visitor leaves."""

    def write(visitor: BaseHTTPRequestHandler) -> None:
        assert isinstance(visitor.server, FakeHost)
        with suppress(OSError):
            visitor.wfile.write(head)
            while not visitor.server.is_over.wait(every):
                visitor.wfile.write(piece)

    return write


def say(text: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Write bytes and close."""

    def write(visitor: BaseHTTPRequestHandler) -> None:
        visitor.wfile.write(text)

    return write


@dataclass
class Canary:
    """Ports that nobody may connect to."""

    port: int
    n_connections: int = 0


@contextmanager
def canary(*addresses: str) -> Iterator[Canary]:
    """Listen on one port of all these addresses and count visitors; each gets a short answer."""
    first = socket.create_server((addresses[0], 0), family=_family(addresses[0]))
    bird = Canary(first.getsockname()[1])
    others = [
        socket.create_server((address, bird.port), family=_family(address))
        for address in addresses[1:]
    ]
    listeners = [first, *others]
    is_over = threading.Event()
    threads = [
        threading.Thread(target=_count, args=(bird, one, is_over), daemon=True) for one in listeners
    ]
    for thread in threads:
        thread.start()
    try:
        yield bird
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        for listener in listeners:
            listener.close()


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _count(bird: Canary, listener: socket.socket, is_over: threading.Event) -> None:
    listener.settimeout(0.02)
    while True:
        ends = is_over.is_set()  # a last look after the test has ended
        try:
            visitor, _ = listener.accept()
        except TimeoutError:
            if ends:
                return
            continue
        bird.n_connections += 1
        with visitor, suppress(OSError):
            visitor.settimeout(1)
            visitor.recv(1000)
            visitor.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\ncanary"
            )
