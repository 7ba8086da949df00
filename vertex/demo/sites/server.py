"""Serve a demo site on loopback as a real web server would."""

from __future__ import annotations

import http.client
import os
import socket
import threading
import time
from contextlib import ExitStack, suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from clustering.fetching.way_out import sending_to_service
from vertex.demo.sites.site import DemoSite

LOOPBACK = "127.0.0.1"
TRIES = 3


class PortTaken(Exception):
    """Something else listens where a site was to be served."""

    def __init__(self, port: int, by: str) -> None:
        super().__init__(f"port {port} is taken by {by or 'another program'}")


class DemoServer(ThreadingHTTPServer):
    """One site on one port; `site` may be exchanged for another edition while it runs."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, site: DemoSite, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), Visitor)
        self.site = site

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shutdown()
        self.server_close()


class Visitor(BaseHTTPRequestHandler):
    """Answer one visitor."""

    server: DemoServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self) -> None:
        status, headers, body = answer(
            self.server.site, self.path, f"http://{self.headers.get('Host', '')}"
        )
        if status == 200 and self.headers.get("If-None-Match") == headers["ETag"]:
            status, body = 304, b""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def version_string(self) -> str:
        return server_name(self.server.site.name)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Keep quiet: a crawl would fill the screen."""


def server_name(name: str) -> str:
    return f"demo-sites ({name})"


def is_served(name: str, port: int) -> bool:
    """Say whether the port answers as this demo site. Raises PortTaken for anything else."""
    for _ in range(TRIES):
        try:
            server = _server_at(port)
        except ConnectionRefusedError:
            return False
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)  # perhaps a demo that is just going
        else:
            if server != server_name(name):
                raise PortTaken(port, server)
            return True
    raise PortTaken(port, "a program that does not speak HTTP")


def _server_at(port: int) -> str:
    """Return what the server at a port calls itself."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        with sending_to_service():
            connection.request("HEAD", "/robots.txt")
        return connection.getresponse().getheader("Server", "") or ""
    finally:
        connection.close()


def front_page(port: int) -> bytes:
    """Return what the server at a port shows first. Raises OSError where none answers."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        with sending_to_service():
            connection.request("GET", "/")
        return connection.getresponse().read()
    finally:
        connection.close()


def free_ports(number: int) -> int:
    """Return the first of so many ports in a row at which nobody listens."""
    # So that processes that look at the same time find different ones.
    begin = 20_000 + os.getpid() % 900 * 10
    for first in range(begin, 30_000, 10):
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + number):
                stack.enter_context(socket.create_server((LOOPBACK, port)))
            return first
    raise PortTaken(begin, "others, like all up to 30000")


def answer(site: DemoSite, target: str, base_url: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body for a request's target."""
    path = target.partition("#")[0]
    if path in site.redirects:
        return (
            301,
            {"Location": base_url + site.redirects[path], "Content-Type": "text/html", "ETag": ""},
            b"",
        )
    if asset := site.assets.get(path):
        return _ok(asset.body, asset.content_type)
    if path == "/robots.txt":
        return _ok(site.robots.encode(), "text/plain; charset=utf-8")
    if path == "/sitemap.xml":
        return _ok(site.sitemap(base_url).encode(), "application/xml")
    page = site.page_at(path)
    if page is None and urlsplit(path).path == "/search":
        page = site.search(" ".join(parse_qs(urlsplit(path).query).get("q", [""]))[:100])
    page = page or site.missing(path)
    return page.status, _ok(page.body, page.content_type)[1], page.body


def _ok(body: bytes, content_type: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": content_type, "ETag": f'"{sha256(body).hexdigest()[:16]}"'}, body
