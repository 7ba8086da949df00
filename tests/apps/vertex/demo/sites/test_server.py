"""The demo server answers as a web server does, and as fast as a crawl asks."""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

from vertex.demo import sites
from vertex.demo.sites.server import LOOPBACK, DemoServer, PortTaken, is_served

ROOT = Path(sites.__file__).parents[3]


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Visitor:
    """A client that keeps its connection."""

    def __init__(self, server: DemoServer) -> None:
        self.connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=60)

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        self.connection.request(
            method, path, headers={name.replace("_", "-"): text for name, text in headers.items()}
        )
        response = self.connection.getresponse()
        return Answer(response.status, response.headers, response.read())


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer(sites.load("alpine-shop")) as server:
        yield server


@pytest.fixture
def visitor(server: DemoServer) -> Iterator[Visitor]:
    visitor = Visitor(server)
    yield visitor
    visitor.connection.close()


def test_every_page_is_served_as_it_was_made(server: DemoServer, visitor: Visitor) -> None:
    for page in server.site.pages.values():
        answer = visitor.get(page.path)
        assert (page.status, page.content_type, page.body) == (
            answer.status,
            answer.headers["Content-Type"],
            answer.body,
        )


@pytest.mark.parametrize("path", ["/static/1.css", "/img/logo.svg"])
def test_assets_are_served_with_their_types(
    server: DemoServer, visitor: Visitor, path: str
) -> None:
    answer = visitor.get(path)

    assert (server.site.assets[path].body, server.site.assets[path].content_type) == (
        answer.body,
        answer.headers["Content-Type"],
    )


def test_an_old_address_redirects(server: DemoServer, visitor: Visitor) -> None:
    old, new = next(iter(server.site.redirects.items()))
    answer = visitor.get(old)

    assert (301, server.url + new) == (answer.status, answer.headers["Location"])


def test_an_unknown_address_is_404_and_an_unknown_product_200(visitor: Visitor) -> None:
    assert visitor.get("/jobs").status == 404
    assert visitor.get("/p/never-sold").status == 200
    assert b"this trail ends here" in visitor.get("/p/never-sold").body


def test_the_search_finds_what_is_there(visitor: Visitor) -> None:
    answer = visitor.get("/search?q=kids")

    assert b"results for" in answer.body
    assert b"Nothing matches" not in answer.body
    assert b"Nothing matches" in visitor.get("/search?q=zeppelin").body
    assert b"&lt;script&gt;" in visitor.get("/search?q=%3Cscript%3E").body


def test_session_and_order_in_the_query_do_not_matter() -> None:
    with DemoServer(sites.load("town-guide")) as server:
        visitor = Visitor(server)
        plain = visitor.get("/browse.asp?cat=0&page=2").body

        assert plain == visitor.get("/browse.asp?page=2&cat=0&sessionid=4F").body
        assert plain != visitor.get("/browse.asp?cat=0").body
        visitor.connection.close()


def test_robots_and_sitemap_are_there(server: DemoServer, visitor: Visitor) -> None:
    assert b"Disallow: /cart" in visitor.get("/robots.txt").body
    listed = visitor.get("/sitemap.xml").body.decode()

    details = [page for page in server.site.pages.values() if page.values]
    assert all(f"<loc>{server.url}{page.path}</loc>" in listed for page in details)


def test_a_page_that_is_known_is_not_sent_again(visitor: Visitor) -> None:
    tag = visitor.get("/").headers["ETag"]

    assert visitor.get("/", If_None_Match=tag)[::2] == (304, b"")
    assert visitor.get("/", If_None_Match='"another"').status == 200


def test_head_has_the_length_and_no_body(server: DemoServer, visitor: Visitor) -> None:
    answer = visitor.get("/", method="HEAD")

    assert (str(len(server.site.pages["/"].body)), b"") == (
        answer.headers["Content-Length"],
        answer.body,
    )


def test_an_edition_can_be_exchanged_while_it_runs() -> None:
    with DemoServer(sites.load("the-courier")) as server:
        visitor = Visitor(server)
        before = visitor.get("/").body
        server.site = sites.load("the-courier", 2)

        assert sites.load("the-courier", 2).pages["/"].body == visitor.get("/").body != before
        visitor.connection.close()


def test_it_knows_itself_and_refuses_a_stranger(server: DemoServer) -> None:
    assert is_served("alpine-shop", server.server_port)
    with pytest.raises(
        PortTaken, match=rf"port {server.server_port} is taken by demo-sites \(alpine-shop\)"
    ):
        is_served("town-guide", server.server_port)
    with ThreadingHTTPServer((LOOPBACK, 0), BaseHTTPRequestHandler) as stranger:
        Thread(target=stranger.serve_forever, daemon=True).start()
        with pytest.raises(PortTaken, match="is taken by BaseHTTP"):
            is_served("alpine-shop", stranger.server_port)
        stranger.shutdown()
        free_port = stranger.server_port
    assert not is_served("alpine-shop", free_port)


@pytest.mark.bar
def test_three_hundred_pages_a_second(server: DemoServer) -> None:
    paths = list(server.site.pages) * 2
    shares = [paths[start::4] for start in range(4)]

    def fetch(share: list[str]) -> int:
        visitor = Visitor(server)
        n_bytes = sum(len(visitor.get(path).body) for path in share)
        visitor.connection.close()
        return n_bytes

    # The best of three: other tests share the machine.
    rates = []
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            begun = time.perf_counter()
            assert all(pool.map(fetch, shares))
            rates.append(len(paths) / (time.perf_counter() - begun))

    assert max(rates) > 300


def test_the_command_serves_a_site() -> None:
    command = [
        sys.executable,
        "-u",
        "-m",
        "vertex.demo.sites",
        "serve",
        "tinker-board",
        "--edition",
        "2",
    ]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        result = process.stderr.readline()
        port = int(result.rpartition(f"{LOOPBACK}:")[2].partition("/")[0])

        assert "Tinker Board, edition 2" in result
        assert is_served("tinker-board", port)
    finally:
        process.kill()
        process.communicate()


def test_the_command_writes_a_site(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "vertex.demo.sites",
        "write",
        "town-guide",
        str(tmp_path),
        "--edition",
        "1b",
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    n_pages = len(sites.load("town-guide", "1b").pages)
    assert n_pages == len((tmp_path / "manifest.jsonl").read_text().splitlines())
    assert n_pages == len((tmp_path / "truth/types.jsonl").read_text().splitlines())
    assert (tmp_path / "truth/vertical.json").exists()
