"""Answers that break HTTP's rules: read where no guess is needed, else refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.fetching.refusals import FetchRefused
from tests.apps.clustering.fake_host import Answer, FakeHost, say

PAGE = b"<p>page</p>"  # 11 bytes
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 11\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
READ = {
    "no length": OK + b"\r\n" + PAGE,
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 11\n\n" + PAGE,
    "no reason": b"HTTP/1.1 200\r\n" + LENGTH + b"\r\n" + PAGE,
    "a reason beyond ASCII": b"HTTP/1.1 200 tr\xe8s bien\r\n" + LENGTH + b"\r\n" + PAGE,
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + PAGE,
    "names in capitals": OK + b"CONTENT-LENGTH: 11\r\n\r\n" + PAGE,
    "no blank behind the colon": OK + b"Content-Length:11\r\n\r\n" + PAGE,
    "blanks around a value": OK + b"Content-Length: \t 11 \t\r\n\r\n" + PAGE,
    "the same length twice": OK + LENGTH + LENGTH + b"\r\n" + PAGE,
    "more bytes than the length": OK + LENGTH + b"\r\n" + PAGE + b"more",
    "a folded header": OK + LENGTH + b"X-Old: one\r\n  two\r\n\r\n" + PAGE,
    "a value beyond ASCII": OK + LENGTH + b"X-Name: caf\xc3\xa9 \xff\r\n\r\n" + PAGE,
    "an empty value": OK + LENGTH + b"X-Empty:\r\n\r\n" + PAGE,
    "interim answers": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n"
    + OK
    + LENGTH
    + b"\r\n"
    + PAGE,
    "length and chunks": OK
    + b"Content-Length: 3\r\n"
    + CHUNKED
    + b"b\r\n"
    + PAGE
    + b"\r\n0\r\n\r\n",
    "chunks with extensions": OK + CHUNKED + b"b;a=b\r\n" + PAGE + b"\r\n0\r\n\r\n",
    "chunks with zeros before their size": OK + CHUNKED + b"000B\r\n" + PAGE + b"\r\n0\r\n\r\n",
    "chunks with trailers": OK + CHUNKED + b"b\r\n" + PAGE + b"\r\n0\r\nX-Sum: 1\r\n\r\n",
    "60 KB of headers": OK + LENGTH + b"X: %s\r\n\r\n" % (b"y" * 60_000) + PAGE,
}
REFUSED = {
    "fewer bytes than the length": OK + b"Content-Length: 20\r\n\r\n" + PAGE,
    "two lengths": OK + LENGTH + b"Content-Length: 12\r\n\r\n" + PAGE,
    "a length that is no number": OK + b"Content-Length: many\r\n\r\n" + PAGE,
    "chunks without an end": OK + CHUNKED + b"b\r\n" + PAGE + b"\r\n",
    "a line without a colon": OK + LENGTH + b"sloppy\r\n\r\n" + PAGE,
    "a blank before the colon": OK + LENGTH + b"X-Blank : 1\r\n\r\n" + PAGE,
    "another protocol": b"ICY 200 OK\r\n" + LENGTH + b"\r\n" + PAGE,
    "no head": PAGE,
    "interim answers without end": b"HTTP/1.1 103 Hints\r\n\r\n" * 21
    + OK
    + LENGTH
    + b"\r\n"
    + PAGE,
    "packed by its header only": OK + LENGTH + b"Content-Encoding: gzip\r\n\r\n" + PAGE,
}


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with Fetcher(Client("Vertex/test", Guard(networks(["127.0.0.0/8"])))) as one:
        yield one


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is(name: str, fetcher: Fetcher) -> None:
    with FakeHost({"/": Answer(raw=say(READ[name]))}) as host:
        assert fetcher.fetch(host.url).body == PAGE


@pytest.mark.parametrize("name", REFUSED)
def test_of_the_others_it_is_said_why_not(name: str, fetcher: Fetcher) -> None:
    answer = Answer(raw=say(REFUSED[name]))
    with FakeHost({"/": answer}) as host, pytest.raises(FetchRefused) as refused:
        fetcher.fetch(host.url)

    assert refused.value.code in {"broken_answer", "encoding"}
    assert len(str(refused.value)) > len(f"{host.url}: "), "why"
