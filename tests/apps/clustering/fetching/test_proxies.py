"""A proxy gets an address that was checked, and only one allowed by the operator is asked."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import AddressRefused, Guard, UrlRefused, networks
from clustering.fetching.proxies import ProxyFailed, ProxyRefused, ProxyServer
from tests.apps.clustering.fake_host import Answer, FakeHost, canary, page

CERTIFICATE = Path(__file__).with_name("shop_test.pem")
# Spellings of addresses at which nobody may be asked for anything.
PRIVATE = [
    "127.0.0.1",
    "localhost",
    "0.0.0.0",
    "169.254.169.254",
    "10.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0x7f.1",
    "017700000001",
    "127.1",
    "[64:ff9b::7f00:1]",
]


class TunnelProxy(FakeHost):
    """A proxy that tunnels to wherever it is asked to, and notes what it was asked."""

    def __init__(self, account: str = "") -> None:
        super().__init__({})
        self.account = account
        self.tunnels: list[str] = []
        self.RequestHandlerClass = _TunnelVisitor

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def server(self) -> ProxyServer:
        user, _, password = self.account.partition(":")
        return ProxyServer("127.0.0.1", self.server_port, user, password)


class _TunnelVisitor(BaseHTTPRequestHandler):
    server: TunnelProxy

    def do_CONNECT(self) -> None:
        self.server.tunnels.append(self.path)
        expected = "Basic YWRhOnMzY3JldA==" if self.server.account else None
        if self.headers.get("Proxy-Authorization") != expected:
            self.send_error(407)
            return
        host, _, port = self.path.rpartition(":")
        try:
            far = socket.create_connection((host.strip("[]"), int(port)), 5)
        except OSError:
            self.send_error(502)
            return
        with far, suppress(OSError):
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            self._relay(far)
        self.close_connection = True

    def _relay(self, far: socket.socket) -> None:
        other = {self.connection: far, far: self.connection}
        while not self.server.is_over.is_set():
            for end in select.select(list(other), [], [], 0.1)[0]:
                piece = end.recv(65536)
                if not piece:
                    return
                other[end].sendall(piece)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def guard(proxy: TunnelProxy, *, is_allowed: bool = True, allowed: str = "127.0.0.0/8") -> Guard:
    return Guard(
        networks([allowed]),
        resolve=lambda host, _port: ["127.0.0.1"] if host.endswith(".test") else [host],
        proxy=proxy.server,
        allowed_proxies=frozenset([proxy.name] if is_allowed else []),
    )


@pytest.fixture
def proxy() -> Iterator[TunnelProxy]:
    with TunnelProxy() as running:
        yield running


def test_http_goes_through_a_tunnel_to_the_checked_address(proxy: TunnelProxy) -> None:
    with FakeHost({"/": page(text="far")}) as host, Fetcher(Client("V", guard(proxy))) as fetcher:
        answer = fetcher.fetch(f"http://shop.test:{host.server_port}/")

    assert b"far" in answer.body
    assert proxy.tunnels == [f"127.0.0.1:{host.server_port}"]
    assert host.asked[0].headers["Host"] == f"shop.test:{host.server_port}"


def test_https_is_encrypted_from_here_to_the_host(proxy: TunnelProxy) -> None:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(CERTIFICATE)
    trusted = ssl.create_default_context(cafile=str(CERTIFICATE))
    with FakeHost({"/": page(text="far")}, tls=own) as host:
        client = Client("V", guard(proxy), certificates=trusted)
        with Fetcher(client) as fetcher:
            answer = fetcher.fetch(f"https://shop.test:{host.server_port}/")

    assert b"far" in answer.body
    assert proxy.tunnels == [f"127.0.0.1:{host.server_port}"]


def test_the_proxy_is_told_its_account_and_the_host_is_not() -> None:
    with TunnelProxy("ada:s3cret") as proxy, FakeHost({"/": page()}) as host:
        with Fetcher(Client("V", guard(proxy))) as fetcher:
            assert fetcher.fetch(host.url).status == 200
        assert "Proxy-Authorization" not in host.asked[0].headers

        proxy.account = "ada:another"
        wrong = guard(proxy)
        proxy.account = "ada:s3cret"
        with Fetcher(Client("V", wrong)) as fetcher, pytest.raises(ProxyRefused) as refused:
            fetcher.fetch(host.url)

    assert "does not accept its user and password" in str(refused.value)
    assert "another" not in str(refused.value)


@pytest.mark.parametrize("host", PRIVATE)
def test_no_private_address_is_asked_for_through_a_proxy(proxy: TunnelProxy, host: str) -> None:
    """The proxy would connect to any of them: see the first test."""
    with canary("127.0.0.1") as bird:
        own = guard(proxy, allowed="127.77.0.0/16")
        with Fetcher(Client("V", own)) as fetcher, pytest.raises((AddressRefused, UrlRefused)):
            fetcher.fetch(f"http://{host}:{bird.port}/")

    assert (bird.n_connections, proxy.tunnels) == (0, [])


def test_a_name_that_answers_the_proxy_otherwise_changes_nothing(proxy: TunnelProxy) -> None:
    answers = iter([["127.77.0.1"], ["127.0.0.1"]])
    own = guard(proxy, allowed="127.77.0.0/16")
    own.resolve = lambda _host, _port: next(answers)
    with canary("127.0.0.1") as bird, FakeHost({"/": page()}, address="127.77.0.1", port=bird.port):
        with Fetcher(Client("V", own)) as fetcher:
            assert fetcher.fetch(f"http://shop.test:{bird.port}/").status == 200
        assert bird.n_connections == 0

    assert proxy.tunnels == [f"127.77.0.1:{bird.port}"]


def test_a_proxy_that_the_operator_did_not_allow_is_not_asked(proxy: TunnelProxy) -> None:
    with FakeHost({"/": page()}) as host:
        own = guard(proxy, is_allowed=False)
        with (
            Fetcher(Client("V", own)) as fetcher,
            pytest.raises(ProxyRefused, match="FETCH_PROXIES"),
        ):
            fetcher.fetch(host.url)

    assert (proxy.tunnels, host.asked) == ([], [])


def test_a_proxy_that_opens_no_tunnel_says_why(proxy: TunnelProxy) -> None:
    port = FakeHost({})
    port.server_close()
    with Fetcher(Client("V", guard(proxy))) as fetcher, pytest.raises(ProxyFailed) as failed:
        fetcher.fetch(f"http://127.0.0.1:{port.server_port}/")

    assert "answers 502 and opens no tunnel" in str(failed.value)


def test_a_web_server_is_no_proxy() -> None:
    with FakeHost({"/": Answer(b"x")}) as host:
        own = Guard(
            networks(["127.0.0.0/8"]),
            proxy=ProxyServer("127.0.0.1", host.server_port),
            allowed_proxies=frozenset([f"127.0.0.1:{host.server_port}"]),
        )
        with Fetcher(Client("V", own)) as fetcher, pytest.raises(ProxyFailed, match="501"):
            fetcher.fetch(host.url)


def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with TunnelProxy() as proxy, FakeHost({"/": page()}) as host:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy.name}")
        with Fetcher(Client("V", Guard(networks(["127.0.0.0/8"])))) as fetcher:
            fetcher.fetch(host.url)

    assert proxy.tunnels == []


def test_a_proxy_that_never_comes_to_its_answer_holds_up_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        interim = threading.Thread(target=send_interim_answers, args=[listener], daemon=True)
        interim.start()
        server = ProxyServer("127.0.0.1", listener.getsockname()[1])
        through = Guard(
            networks(["127.0.0.0/8"]), proxy=server, allowed_proxies=frozenset([server.name])
        )
        with Fetcher(Client("V", through)) as fetcher, pytest.raises(ProxyFailed, match="interim"):
            fetcher.fetch("http://127.0.0.1:8000/")
        interim.join()


def send_interim_answers(listener: socket.socket) -> None:
    """Send them faster than they are read, until the client has gone."""
    client, _ = listener.accept()
    with client, suppress(OSError):
        while True:
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
