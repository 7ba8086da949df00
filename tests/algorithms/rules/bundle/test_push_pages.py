"""What a spider sends to Vertex: against a server that takes it, fails, refuses, or is away."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rules.bundle import push_pages
from rules.bundle.push_pages import Pusher, PushPages, entry_of


class Receiver(ThreadingHTTPServer):
    """It answers with the statuses of its script in turn, and takes everything after that."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.script: list[int] = []
        self.too_large = ""  # an address that no batch may hold
        self.urls: list[str] = []  # of the pages that were taken
        self.tokens: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answers(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        urls = [page["url"] for page in json.loads(gzip.decompress(body))["pages"]]
        status = self.server.script.pop(0) if self.server.script else 200
        if self.server.too_large in urls:
            status = 413
        if status == 200:
            self.server.tokens.add(self.headers["Authorization"])
            self.server.urls += urls
        answer = json.dumps({"results": [], "new": len(urls), "unchanged": 0, "failed": 0}).encode()
        self.send_response(status)
        self.send_header("Location", f"{self.server.url}/elsewhere/")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_pages, "LINGER_SECONDS", 0.01)
    monkeypatch.setattr(push_pages, "FIRST_PAUSE", 0.01)


def pusher_to(url: str, folder: Path) -> Pusher:
    return Pusher(f"{url}/api/v1/sites/shop/pushed_pages/", "secret", folder)


def page(number: int) -> dict[str, Any]:
    return {"url": f"https://shop.example/{number}", "body": ""}


def pushed(pusher: Pusher, n_pages: int, *, seconds: float = 60) -> int:
    """Keep pages while the pusher is at work, and return how many are left at the end."""
    pusher.start()
    for number in range(n_pages):
        pusher.keep(page(number))
    return pusher.finish(seconds)


def test_all_pages_arrive_once_and_in_order(receiver: Receiver, tmp_path: Path) -> None:
    pusher = pusher_to(receiver.url, tmp_path)

    assert 0 == pushed(pusher, 120)
    assert [page(number)["url"] for number in range(120)] == receiver.urls
    assert {"Token secret"} == receiver.tokens
    assert [] == list(tmp_path.iterdir())
    assert 120 == pusher.counts["new"]


@pytest.mark.parametrize("script", [[503, 500], [429], [301, 401]])
def test_pages_wait_for_a_server_in_trouble(
    receiver: Receiver, tmp_path: Path, script: list[int]
) -> None:
    receiver.script = list(script)
    pusher = pusher_to(receiver.url, tmp_path)
    pusher.start()
    pusher.keep(page(1))
    while receiver.script:
        threading.Event().wait(0.01)

    assert 0 == pusher.finish(60)
    assert [page(1)["url"]] == receiver.urls


def test_what_is_left_is_sent_by_the_next_run(receiver: Receiver, tmp_path: Path) -> None:
    receiver.script = [401] * 50
    pusher = pusher_to(receiver.url, tmp_path)

    assert 3 == pushed(pusher, 3), "a wrong token is no reason to wait"
    assert "answers 401" in pusher.problem
    receiver.script = []
    again = pusher_to(receiver.url, tmp_path)
    assert 0 == pushed(again, 0)
    assert [page(number)["url"] for number in range(3)] == receiver.urls


def test_a_server_that_is_away_costs_no_page(tmp_path: Path) -> None:
    pusher = pusher_to("http://127.0.0.1:9", tmp_path)

    assert 2 == pushed(pusher, 2, seconds=0.05)
    assert 2 == len(list(tmp_path.glob("*.json")))


def test_a_page_that_fits_no_batch_is_named_and_holds_up_no_other(
    receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.too_large = page(3)["url"]
    pusher = pusher_to(receiver.url, tmp_path)

    assert 0 == pushed(pusher, 8)
    assert [page(number)["url"] for number in range(8) if number != 3] == receiver.urls
    assert f"A page cannot be sent: {page(3)['url']}" in caplog.text
    assert 1 == pusher.counts["failed"]


def response(url: str, **meta: Any) -> Any:
    return SimpleNamespace(
        url=url,
        status=200,
        headers={"Content-Type": b"text/html; charset=latin-1", "ETag": b'"1"'},
        body=b"<p>page",
        request=SimpleNamespace(meta=meta),
    )


def test_a_response_is_told_with_where_it_began() -> None:
    result = entry_of(
        response("https://shop.example/new", redirect_urls=["https://shop.example/old"], depth=2)
    )

    assert ("https://shop.example/old", "https://shop.example/new", 2, "PHA+cGFnZQ==") == tuple(
        result[name] for name in ("url", "final_url", "depth", "body")
    )
    assert {"Content-Type": "text/html; charset=latin-1", "ETag": '"1"'} == result["headers"]


def test_without_an_address_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VERTEX_URL", raising=False)
    middleware = PushPages.from_crawler(SimpleNamespace(settings={}, signals=None, stats=None))
    middleware.process_spider_input(response("https://shop.example/"))

    assert [] == list(tmp_path.iterdir())


def test_half_of_the_settings_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERTEX_TOKEN", raising=False)
    settings = {"VERTEX_URL": "http://vertex.example", "VERTEX_SITE": "shop"}
    with pytest.raises(ValueError, match="VERTEX_TOKEN"):
        PushPages.from_crawler(SimpleNamespace(settings=settings, signals=None, stats=None))
