"""No spelling, no name and no redirect leads to an address that is not public."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import (
    REFUSED_NETWORKS,
    TABLE,
    AddressRefused,
    ConnectFailed,
    Guard,
    NameNotAnswered,
    NameNotFound,
    UrlRefused,
    is_own,
    kind_of,
    networks,
    read_url,
)
from clustering.fetching.loop import wait_for
from clustering.fetching.refusals import FetchRefused
from tests.apps.clustering.fake_host import HANGS_FOR, LONG_BEFORE, Canary, FakeHost, canary, moved

AGENT = "Vertex/test"
HERE = networks(["127.0.0.0/8", "::1/128"])
PUBLIC = "93.184.216.34"

# Ways of writing an address of this machine; {} is the canary's port.
SPELLINGS = [
    "http://127.0.0.1:{}/",
    "http://127.0.0.2:{}/",
    "http://127.0.0.1.:{}/",
    "http://127.1:{}/",
    "http://127.0.1:{}/",
    "http://2130706433:{}/",
    "http://0x7f000001:{}/",
    "http://0x7F.0.0.1:{}/",
    "http://0x7f.1:{}/",
    "http://0177.0.0.1:{}/",
    "http://0177.0.0.01:{}/",
    "http://017700000001:{}/",
    "http://127.0.0.0x1:{}/",
    "http://127.000.000.001:{}/",
    "http://00000127.0.0.1:{}/",
    "http://0.0.0.0:{}/",
    "http://0:{}/",
    "http://localhost:{}/",
    "http://LOCALHOST:{}/",
    "http://localhost.:{}/",
    "http://localhost%2e:{}/",
    "http://%31%32%37.0.0.1:{}/",
    "http://127.0.0.1%00.example.org:{}/",
    "http://127.0.0.1\x00.example.org:{}/",
    "http://１２７.０.０.１:{}/",
    "http://①②⑦.⓪.⓪.①:{}/",
    "http://127。0。0。1:{}/",
    "http://127．0．0．1:{}/",
    "http://ｌｏｃａｌｈｏｓｔ:{}/",
    "http://[::1]:{}/",
    "http://[::1%25lo]:{}/",
    "http://[::1%lo]:{}/",
    "http://[0:0:0:0:0:0:0:1]:{}/",
    "http://[0000::0001]:{}/",
    "http://[::]:{}/",
    "http://[::127.0.0.1]:{}/",
    "http://[::ffff:127.0.0.1]:{}/",
    "http://[::ffff:7f00:1]:{}/",
    "http://[0:0:0:0:0:FFFF:127.0.0.1]:{}/",
    "http://[::ffff:0:127.0.0.1]:{}/",
    "http://[64:ff9b::127.0.0.1]:{}/",
    "http://[64:ff9b:1::127.0.0.1]:{}/",
    "http://[2002:7f00:1::]:{}/",
    "http://[2001:0:7f00:1::]:{}/",
    "http://[fe80::1%25lo]:{}/",
    "http://[fec0::1]:{}/",
    "http://example.org@127.0.0.1:{}/",
    "http://user:password@127.0.0.1:{}/",
    "http://example.org:80@127.0.0.1:{}/",
    "http://127.0.0.1:{}\\@example.org/",
    "http://example.org\\@127.0.0.1:{}/",
    "http://127.0.0.1:{}#@example.org/",
    "http:\\\\127.0.0.1:{}/",
    "http:/127.0.0.1:{}/",
    "http:127.0.0.1:{}/",
    "http:///127.0.0.1:{}/",
    "//127.0.0.1:{}/",
    "http://127.0.0.1\t:{}/",
    "ht\ntp://127.0.0.1:{}/",
    "http://127.0.0.1 :{}/",
    "https://127.0.0.1:{}/",
    "ftp://127.0.0.1:{}/",
    "gopher://127.0.0.1:{}/_GET",
    "dict://127.0.0.1:{}/",
    "file://127.0.0.1:{}/etc/passwd",
    "file:///etc/passwd?{}",
    "jar:http://127.0.0.1:{}/!/",
    "",
]


@pytest.fixture
def bird() -> Iterator[Canary]:
    with canary("127.0.0.1", "127.0.0.2", "::1") as listening:
        yield listening


def answering(*answers: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(answers)


def fetcher_of(**guard: object) -> Fetcher:
    return Fetcher(Client(AGENT, Guard(**guard)))  # type: ignore[arg-type] # what a test leaves out has a default


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_of_this_machine_is_connected_to(bird: Canary, spelling: str) -> None:
    with fetcher_of() as fetcher, pytest.raises(FetchRefused):
        fetcher.fetch(spelling.format(bird.port))

    time.sleep(0.03)
    assert bird.n_connections == 0


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.2", "localhost", "[::1]", "１２７.０.０.１", "127.0.0.1."]
)
def test_the_canary_sings_where_the_network_is_allowed(bird: Canary, host: str) -> None:
    with fetcher_of(allowed_networks=HERE) as fetcher:
        assert fetcher.fetch(f"http://{host}:{bird.port}/").body == b"canary"

    assert bird.n_connections == 1


@pytest.mark.parametrize("network", REFUSED_NETWORKS)
def test_every_network_of_the_table_is_refused_from_end_to_end(network: str) -> None:
    span = ipaddress.ip_network(network)
    middle = span.network_address + span.num_addresses // 2
    for address in (span.network_address, middle, span.broadcast_address):
        guard = Guard(resolve=answering(str(address)))
        with pytest.raises(AddressRefused, match="shop"):
            wait_for(guard.checked_addresses("shop.test", 80))


@pytest.mark.parametrize(
    "address",
    [
        PUBLIC,
        "1.1.1.1",
        "172.32.0.1",
        "172.15.255.255",
        "11.0.0.0",
        "2606:4700::1111",
        "2a00:1450:4001::1",
    ],
)
def test_public_addresses_pass(address: str) -> None:
    guard = Guard(resolve=answering(address))

    assert [ipaddress.ip_address(address)] == wait_for(guard.checked_addresses("shop.test", 80))


def test_the_table_covers_what_python_calls_special() -> None:
    missed = [
        network
        for word in (
            "_private_networks",
            "_linklocal_network",
            "_multicast_network",
            "_reserved_networks",
        )
        for version in (ipaddress._IPv4Constants, ipaddress._IPv6Constants)  # type: ignore[attr-defined]
        for network in _listed(getattr(version, word, []))
        if not any(network.version == one.version and network.subnet_of(one) for one, _ in TABLE)
    ]

    assert missed == []


def _listed(networks: object) -> list[ipaddress.IPv4Network]:
    return networks if isinstance(networks, list) else [networks]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("169.254.169.254", "link-local"),
        ("100.100.100.200", "shared by carriers"),
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("2001:0:1::", "Teredo"),
        ("::", "unspecified, loopback or IPv4-compatible"),
        ("6000::1", "outside global unicast"),
    ],
)
def test_a_refused_address_is_called_by_its_kind(address: str, kind: str) -> None:
    assert kind in {kind_of(ipaddress.ip_address(address))} | {
        told for network, told in TABLE if ipaddress.ip_address(address) in network
    }


def test_one_bad_answer_of_a_name_server_spoils_all(bird: Canary) -> None:
    with (
        fetcher_of(resolve=answering(PUBLIC, "127.0.0.1")) as fetcher,
        pytest.raises(AddressRefused),
    ):
        fetcher.fetch(f"http://shop.test:{bird.port}/")

    assert bird.n_connections == 0


@pytest.mark.parametrize("answer", ["fe80::1%eth0", "not an address", ""])
def test_an_answer_that_is_no_plain_address_is_refused(answer: str) -> None:
    guard = Guard(resolve=answering(answer))

    with pytest.raises(AddressRefused):
        wait_for(guard.checked_addresses("shop.test", 80))


class Rebinding:
    """A name server that gives a harmless address first and from then on the canary's."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.n_asked = 0

    def __call__(self, _host: str, _port: int) -> list[str]:
        self.n_asked += 1
        return [self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]]


def test_a_name_that_is_rebound_between_check_and_connection_gains_nothing(bird: Canary) -> None:
    with FakeHost({"/": moved("/next"), "/next": moved("/")}) as host:
        names = Rebinding("127.0.0.1", "127.0.0.2")
        allowed = networks(["127.0.0.1/32"])
        with fetcher_of(allowed_networks=allowed, resolve=names) as fetcher:
            answer = fetcher.fetch(f"http://shop.test:{host.server_port}/", max_redirects=0)
            assert (answer.status, names.n_asked) == (302, 1)
            with pytest.raises(AddressRefused):
                fetcher.fetch(f"http://shop.test:{bird.port}/")

    assert (bird.n_connections, names.n_asked) == (0, 2)


def test_the_second_answer_would_have_been_connected_to_if_it_were_allowed(bird: Canary) -> None:
    with fetcher_of(allowed_networks=HERE, resolve=Rebinding("127.0.0.2")) as fetcher:
        fetcher.fetch(f"http://shop.test:{bird.port}/")

    assert bird.n_connections == 1


@pytest.mark.parametrize(
    "target", ["http://127.0.0.2:{}/", "http://0x7f000002:{}/", "https://127.0.0.2:{}/"]
)
def test_a_redirect_is_checked_like_any_address(bird: Canary, target: str) -> None:
    with (
        FakeHost({"/": moved(target.format(bird.port))}) as host,
        fetcher_of(allowed_networks=networks(["127.0.0.1/32"])) as fetcher,
        pytest.raises(FetchRefused),
    ):
        fetcher.fetch(host.url)

    assert bird.n_connections == 0


def test_the_same_redirect_is_followed_where_its_target_is_allowed(bird: Canary) -> None:
    routes = {"/": moved(f"http://127.0.0.2:{bird.port}/")}
    with FakeHost(routes) as host, fetcher_of(allowed_networks=HERE) as fetcher:
        assert fetcher.fetch(host.url).body == b"canary"

    assert bird.n_connections == 1


def test_proxies_of_the_environment_are_not_used(
    bird: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.2:{bird.port}")
    with FakeHost({}) as host, fetcher_of(allowed_networks=networks(["127.0.0.1/32"])) as fetcher:
        assert fetcher.fetch(host.url).status == 404

    assert bird.n_connections == 0


def test_the_own_addresses_of_this_machine_are_known() -> None:
    assert is_own(ipaddress.ip_address("127.0.0.1"), 80)
    assert not is_own(ipaddress.ip_address("192.0.2.1"), 80)


def test_ports_of_other_protocols_are_refused() -> None:
    with pytest.raises(UrlRefused, match="port 25 "):
        read_url("http://example.org:25/")


def test_a_name_without_an_address_is_told_from_a_name_server_that_is_down() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def down(_host: str, _port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with pytest.raises(NameNotFound, match="Name or service not known") as permanent:
        wait_for(Guard(resolve=unknown).checked_addresses("shop.test", 80))
    with pytest.raises(NameNotAnswered, match="Temporary") as passing:
        wait_for(Guard(resolve=down).checked_addresses("shop.test", 80))
    assert (permanent.value.is_transient, passing.value.is_transient) == (False, True)


def test_a_name_server_that_hangs_is_not_waited_for() -> None:
    is_over = threading.Event()
    begun = time.monotonic()
    hangs = Guard(resolve=lambda _host, _port: [str(is_over.wait(HANGS_FOR))])
    with pytest.raises(FetchRefused):
        wait_for(hangs.checked_addresses("a.test", 80))
    is_over.set()

    assert time.monotonic() - begun < LONG_BEFORE


def test_the_next_address_is_tried_where_one_does_not_answer(bird: Canary) -> None:
    with fetcher_of(
        allowed_networks=HERE, resolve=lambda _host, _port: ["127.0.0.9", "127.0.0.2"]
    ) as fetcher:
        fetcher.fetch(f"http://shop.test:{bird.port}/")

    assert bird.n_connections == 1


def test_a_port_that_nobody_listens_on_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    with (
        fetcher_of(allowed_networks=HERE) as fetcher,
        pytest.raises(ConnectFailed, match="Connection refused"),
    ):
        fetcher.fetch(f"http://127.0.0.1:{port}/")


def test_in_an_allowed_network_other_ports_than_those_named_are_refused() -> None:
    loopback, private = ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("10.0.0.1")
    guard = Guard(networks(["127.0.0.1/32"]), allowed_ports=frozenset({8101, 8102}))

    guard.check(loopback, 8102, "127.0.0.1")
    with pytest.raises(AddressRefused, match="VERTEX_ALLOWED_PORTS does not allow port 5432"):
        guard.check(loopback, 5432, "127.0.0.1")
    with pytest.raises(AddressRefused, match="not a public address"):
        guard.check(private, 8102, "10.0.0.1")
    guard.check(ipaddress.ip_address(PUBLIC), 443, PUBLIC)  # ports of public hosts are all allowed
    Guard(networks(["127.0.0.1/32"])).check(loopback, 5432, "127.0.0.1")
