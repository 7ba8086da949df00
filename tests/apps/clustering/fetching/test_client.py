"""One URL is fetched within limits of time, size and steps; no host learns what is not for it."""

from __future__ import annotations

import gzip
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from clustering.fetching.client import Client, Fetcher, RedirectRefused
from clustering.fetching.connections import AnswerBroken, HostSilent, TlsFailed
from clustering.fetching.deadlines import DeadlinePassed
from clustering.fetching.decompressing import BodyTooLarge, EncodingRefused
from clustering.fetching.guard import Guard, UrlRefused, networks
from clustering.fetching.refusals import FetchRefused, FetchStopped
from tests.apps.clustering.fake_host import (
    LONG_BEFORE,
    Answer,
    Asked,
    FakeHost,
    drip,
    hang,
    moved,
    page,
    say,
)

AGENT = "Vertex/test"
GUARD = Guard(networks(["127.0.0.0/8"]), resolve=lambda _host, _port: ["127.0.0.1"])
CERTIFICATE = Path(__file__).with_name("shop_test.pem")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with Fetcher(Client(AGENT, GUARD)) as one:
        yield one


def raw(write: Callable[[BaseHTTPRequestHandler], None]) -> Answer:
    return Answer(raw=write)


def seconds_of(work: Callable[[], object], error: type[Exception]) -> float:
    begun = time.monotonic()
    with pytest.raises(error):
        work()
    return time.monotonic() - begun


def test_an_answer_is_a_plain_value(fetcher: Fetcher) -> None:
    with FakeHost({"/a?b=1": page("/c")}) as host:
        answer = fetcher.fetch(f"{host.url}/a?b=1#part")

    assert (answer.url, answer.final_url) == (f"{host.url}/a?b=1", f"{host.url}/a?b=1")
    assert (answer.status, answer.content_type, answer.n_redirects) == (
        200,
        "text/html; charset=utf-8",
        0,
    )
    assert b'href="/c"' in answer.body
    assert answer.fetched_at.tzinfo is not None


def test_whoever_asks_says_who_it_is_and_nothing_else(fetcher: Fetcher) -> None:
    with FakeHost({}) as host:
        fetcher.fetch(f"{host.url}/a")
        request = host.asked[0]

    assert request.headers["User-Agent"] == AGENT
    assert request.headers["Host"] == f"127.0.0.1:{host.server_port}"
    assert set(request.headers) == {"Host", "User-Agent", "Accept", "Accept-Encoding"}


def test_what_a_host_sent_beyond_ascii_is_sent_back(fetcher: Fetcher) -> None:
    with FakeHost({"/": Answer(b"x", headers={"ETag": '"caf\xe9"'})}) as host:
        etag = fetcher.fetch(host.url).headers["etag"]
        fetcher.fetch(host.url, headers={"If-None-Match": etag})

    assert '"caf\xe9"' == host.asked[1].headers["If-None-Match"]


def test_connections_are_used_again(fetcher: Fetcher) -> None:
    with FakeHost({"/": page()}) as host:
        for _ in range(3):
            fetcher.fetch(host.url)

    assert [len(waiting) for waiting in fetcher.client.idle.values()] == [1]


def test_a_connection_that_the_host_has_closed_meanwhile_is_replaced(fetcher: Fetcher) -> None:
    with FakeHost(
        {"/": raw(say(HEAD + b"Content-Length: 2\r\nConnection: keep-alive\r\n\r\nok"))}
    ) as host:
        for _ in range(5):
            assert fetcher.fetch(host.url).body == b"ok"
            time.sleep(0.02)


def test_cookies_are_neither_kept_nor_sent(fetcher: Fetcher) -> None:
    with FakeHost({"/": Answer(b"x", headers={"Set-Cookie": "id=1"})}) as host:
        fetcher.fetch(host.url)
        fetcher.fetch(host.url)

    assert [request.headers.get("Cookie") for request in host.asked] == [None, None]


# Redirects


def test_up_to_five_redirects_are_followed(fetcher: Fetcher) -> None:
    routes = {f"/{n}": moved(f"/{n + 1}") for n in range(5)} | {"/5": page(text="end")}
    with FakeHost(routes) as host:
        answer = fetcher.fetch(f"{host.url}/0")

    assert (answer.n_redirects, answer.url, answer.final_url) == (
        5,
        f"{host.url}/0",
        f"{host.url}/5",
    )


def test_a_sixth_redirect_and_a_circle_are_refused(fetcher: Fetcher) -> None:
    with FakeHost(
        {f"/{n}": moved(f"/{n + 1}") for n in range(9)} | {"/x": moved("/y"), "/y": moved("/x")}
    ) as host:
        with pytest.raises(RedirectRefused, match="more than 5"):
            fetcher.fetch(f"{host.url}/0")
        with pytest.raises(RedirectRefused, match="circle"):
            fetcher.fetch(f"{host.url}/x")

    assert host.paths == ["/0", "/1", "/2", "/3", "/4", "/5", "/x", "/y"]


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:1", "http://a@b/", "//"]
)
def test_a_redirect_to_anything_else_is_refused(fetcher: Fetcher, target: str) -> None:
    with FakeHost({"/": moved(target)}) as host, pytest.raises((UrlRefused, RedirectRefused)):
        fetcher.fetch(host.url)


def test_a_redirect_is_an_answer_where_none_is_to_be_followed(fetcher: Fetcher) -> None:
    with FakeHost({"/a/b": moved("../c")}) as host:
        answer = fetcher.fetch(f"{host.url}/a/b", max_redirects=0)

    assert (answer.status, answer.location, answer.body) == (302, f"{host.url}/c", b"")


def test_a_redirect_is_read_as_browsers_read_it(fetcher: Fetcher) -> None:
    with FakeHost(
        {
            "/": raw(
                say("HTTP/1.1 302 Found\r\nLocation: /café\r\nContent-Length: 0\r\n\r\n".encode())
            )
        }
    ) as host:
        answer = fetcher.fetch(host.url, max_redirects=0)

    assert answer.location == f"{host.url}/caf%C3%A9"


def test_headers_given_for_one_origin_do_not_reach_another(fetcher: Fetcher) -> None:
    with (
        FakeHost({}) as other,
        FakeHost({"/": moved("/own"), "/own": moved(f"{other.url}/")}) as host,
    ):
        fetcher.fetch(host.url, headers={"Authorization": "Token secret"})

    assert [request.headers.get("Authorization") for request in host.asked] == ["Token secret"] * 2
    assert other.asked[0].headers.get("Authorization") is None


def test_what_is_sent_is_sent_to_nobody_else(fetcher: Fetcher) -> None:
    with FakeHost({"/": moved("/other", 307)}) as host:
        answer = fetcher.fetch(host.url, method="POST", content=b"{}", headers={"Webhook-Id": "1"})

    assert (answer.status, host.paths, host.asked[0].method) == (307, ["/"], "POST")
    assert host.asked[0].headers["Content-Length"] == "2"


# Time


def test_a_host_that_hangs_is_left_after_its_silence(fetcher: Fetcher) -> None:
    fetcher.client.silence = 0.5
    with FakeHost({"/": raw(hang)}) as host:
        assert 0.4 < seconds_of(lambda: fetcher.fetch(host.url), HostSilent) < LONG_BEFORE


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nX-Slow: ", HEAD + b"Content-Length: 99999\r\n\r\n", b"HTT"]
)
def test_a_host_that_drips_is_left_at_the_deadline(fetcher: Fetcher, head: bytes) -> None:
    with FakeHost({"/": raw(drip(b"x", 0.05, head))}) as host:
        assert (
            0.9 < seconds_of(lambda: fetcher.fetch(host.url, seconds=1), FetchRefused) < LONG_BEFORE
        )


def test_a_host_that_sends_for_ever_is_left_at_the_bound_or_the_deadline(fetcher: Fetcher) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    with FakeHost({"/": raw(drip(chunk, 0, head))}) as host:
        seconds_of(lambda: fetcher.fetch(host.url, seconds=30), BodyTooLarge)
        seconds_of(lambda: fetcher.fetch(host.url, seconds=0.5, max_bytes=10**12), DeadlinePassed)


def test_endless_interim_answers_end_at_the_deadline(fetcher: Fetcher) -> None:
    with FakeHost({"/": raw(drip(b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.01))}) as host:
        assert seconds_of(lambda: fetcher.fetch(host.url, seconds=1), FetchRefused) < LONG_BEFORE


def test_a_deadline_holds_for_all_redirects_together(fetcher: Fetcher) -> None:
    def slow(_asked: Asked) -> Answer:
        time.sleep(0.4)
        return moved(f"/{time.monotonic()}")

    routes = {"/": slow}
    with FakeHost(routes) as host:
        host.routes = _Everything(slow)
        assert seconds_of(lambda: fetcher.fetch(host.url, seconds=1), DeadlinePassed) < LONG_BEFORE


class _Everything(dict[str, Answer | Callable[[Asked], Answer]]):
    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        super().__init__()
        self.answer = answer

    def get(self, _path: str, _default: object = None) -> Callable[[Asked], Answer]:
        return self.answer


def test_called_off_requests_end_at_once() -> None:
    stop = threading.Event()
    with FakeHost({"/": raw(hang)}) as host, Fetcher(Client(AGENT, GUARD), stop) as fetcher:
        threading.Timer(0.3, stop.set).start()
        assert seconds_of(lambda: fetcher.fetch(host.url), FetchStopped) < 2


# Size and form


def test_a_large_body_is_refused_by_its_header_and_by_its_bytes(fetcher: Fetcher) -> None:
    with FakeHost(
        {
            "/": Answer(b"x" * 1001),
            "/gz": Answer(gzip.compress(b"x" * 1001), headers={"Content-Encoding": "gzip"}),
        }
    ) as host:
        for path in ("/", "/gz"):
            with pytest.raises(BodyTooLarge):
                fetcher.fetch(f"{host.url}{path}", max_bytes=1000)
            assert len(fetcher.fetch(f"{host.url}{path}", max_bytes=1001).body) == 1001


def test_a_flood_of_headers_is_refused(fetcher: Fetcher) -> None:
    flood = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 1000) for n in range(1000))
    with (
        FakeHost({"/": raw(say(b"HTTP/1.1 200 OK\r\n" + flood + b"\r\n"))}) as host,
        pytest.raises(AnswerBroken),
    ):
        fetcher.fetch(host.url)


def test_an_unknown_encoding_is_refused(fetcher: Fetcher) -> None:
    squeezed = Answer(b"x", headers={"Content-Encoding": "compress"})
    with FakeHost({"/": squeezed}) as host, pytest.raises(EncodingRefused, match="compress"):
        fetcher.fetch(host.url)


def test_a_body_that_nobody_wants_is_not_read(fetcher: Fetcher) -> None:
    endless = raw(drip(b"x" * 65536, 0, b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"))
    with FakeHost({"/": endless}) as host:
        answer = fetcher.fetch(host.url, takes=lambda _status, kind: kind == "text/html")

    assert (answer.status, answer.content_type, answer.body) == (200, "video/mp4", b"")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\x01\x02",
        b"HTTP/1.1 abc OK\r\n\r\n",
        HEAD + b"Content-Length: 10\r\n\r\nshort",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_broken_answer(fetcher: Fetcher, text: bytes) -> None:
    with FakeHost({"/": raw(say(text))}) as host, pytest.raises(AnswerBroken) as refused:
        fetcher.fetch(host.url)

    assert refused.value.is_transient


def test_headers_of_any_bytes_become_text_that_a_database_takes(fetcher: Fetcher) -> None:
    text = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; \xff"
        + b"x" * 5000
        + b"\r\nContent-Length: 0\r\n\r\n"
    )
    with FakeHost({"/": raw(say(text))}) as host:
        answer = fetcher.fetch(host.url)

    assert answer.content_type.startswith("text/html; \xff")
    assert len(answer.content_type) == 2000


# Trying again


def test_trouble_is_tried_again_a_few_times(fetcher: Fetcher) -> None:
    answers = [Answer(b"", 503), raw(say(b"")), page(text="at last")]
    with FakeHost({"/": lambda _asked: answers.pop(0)}) as host:
        assert b"at last" in fetcher.fetch(host.url, tries=3).body


def test_what_will_not_change_is_not_tried_again(fetcher: Fetcher) -> None:
    with FakeHost({"/": Answer(b"", 404), "/big": Answer(b"x" * 100)}) as host:
        assert fetcher.fetch(host.url, tries=3).status == 404
        with pytest.raises(BodyTooLarge):
            fetcher.fetch(f"{host.url}/big", max_bytes=10, tries=3)

    assert host.paths == ["/", "/big"]


def test_the_last_of_the_tries_is_told(fetcher: Fetcher) -> None:
    with FakeHost({"/": Answer(b"", 500), "/broken": raw(say(b""))}) as host:
        assert fetcher.fetch(host.url, tries=2).status == 500
        with pytest.raises(AnswerBroken):
            fetcher.fetch(f"{host.url}/broken", tries=2)

    assert host.paths == ["/", "/", "/broken", "/broken"]


# Encryption


@pytest.fixture
def shop() -> Iterator[FakeHost]:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(CERTIFICATE)
    names: list[str | None] = []
    own.sni_callback = lambda _socket, name, _context: names.append(name)
    with FakeHost({"/": page(text="shop")}, tls=own) as host:
        host.names = names  # type: ignore[attr-defined] # the names asked for
        yield host


def test_the_checked_address_is_asked_under_the_name_of_the_host(shop: FakeHost) -> None:
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    with Fetcher(Client(AGENT, GUARD, certificates=trusting)) as fetcher:
        answer = fetcher.fetch(f"https://shop.test:{shop.server_port}/")

    assert b"shop" in answer.body
    assert shop.asked[0].headers["Host"] == f"shop.test:{shop.server_port}"
    assert shop.names == ["shop.test"]  # type: ignore[attr-defined]


def test_a_certificate_of_nobody_or_of_another_name_is_refused(shop: FakeHost) -> None:
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    with Fetcher(Client(AGENT, GUARD)) as fetcher, pytest.raises(TlsFailed, match="self-signed"):
        fetcher.fetch(f"https://shop.test:{shop.server_port}/")
    with (
        Fetcher(Client(AGENT, GUARD, certificates=trusting)) as fetcher,
        pytest.raises(TlsFailed, match="mismatch"),
    ):
        fetcher.fetch(f"https://other.test:{shop.server_port}/")

    assert shop.asked == []


def test_a_host_that_speaks_no_encryption_is_refused(fetcher: Fetcher) -> None:
    with FakeHost({"/": page()}) as host, pytest.raises(FetchRefused) as refused:
        fetcher.fetch(f"https://127.0.0.1:{host.server_port}/")

    assert refused.value.code == "tls"
