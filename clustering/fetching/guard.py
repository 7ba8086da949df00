"""Decide which addresses may be connected to, and connect to no other.

A name is resolved once, every answer is checked against the table below, and the connection goes to
a checked answer: what a second look-up would return does not matter.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from clustering.dom.addresses import Address, BadAddress, parse_url
from clustering.fetching.proxies import ProxyRefused, ProxyServer, open_tunnel
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.way_out import let_through

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

CONNECT_SECONDS: Final = 5.0
MAX_ADDRESSES_TRIED: Final = 4

REFUSED_NETWORKS: Final[dict[str, str]] = {
    # IANA's special-purpose registry of IPv4, whether it calls the range reachable or not.
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by carriers",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "multicast relays",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "AS112",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "255.255.255.255/32": "broadcast",
    # Public by its number, but answered by the host of a virtual machine.
    "168.63.129.16/32": "cloud platform",
    # IPv6: first what carries an IPv4 address inside, then the registry, then all that nobody was
    # given.
    "::/96": "unspecified, loopback or IPv4-compatible",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated",
    "64:ff9b::/96": "NAT64",
    "64:ff9b:1::/48": "local NAT64",
    "2001::/32": "Teredo",
    "2002::/16": "6to4",
    "100::/64": "discard-only",
    "100:0:0:1::/64": "dummy prefix",
    "2001::/23": "protocol assignments",
    "2001:db8::/32": "documentation",
    "2620:4f:8000::/48": "AS112",
    "3ffe::/16": "returned to the registry",
    "3fff::/20": "documentation",
    "5f00::/16": "segment routing",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
    "::/3": "outside global unicast",
    "4000::/2": "outside global unicast",
    "8000::/1": "outside global unicast",
}
TABLE: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ipaddress.ip_network(network), kind) for network, kind in REFUSED_NETWORKS.items()
)

# Ports on which something other than HTTP listens for lines of text: the list of the Fetch
# standard.
_PORTS: Final = (
    "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 "
    "109 110 111 113 "
    "115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 "
    "554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 "
    "5061 6000 6566 "
    "6665 6666 6667 6668 6669 6679 6697 10080"
)
REFUSED_PORTS: Final = frozenset(int(port) for port in _PORTS.split())


class UrlRefused(FetchRefused):
    """The URL is malformed, not of HTTP, or carries credentials."""

    code = "bad_url"


class AddressRefused(FetchRefused):
    """The host has an address that must not be connected to."""

    code = "address"


class NameNotFound(FetchRefused):
    """The host's name has no address."""

    code = "dns"


class NameNotAnswered(NameNotFound):
    """No name server answered in time."""

    is_transient = True


class ConnectFailed(FetchRefused):
    """No connection came about."""

    code = "connect"
    is_transient = True


def read_url(url: str) -> Address:
    """Parse a URL with the one parser of URLs. Raises UrlRefused."""
    try:
        address = parse_url(url)
    except BadAddress as error:
        raise UrlRefused(str(error)) from None
    if address.port in REFUSED_PORTS:
        raise UrlRefused(f"“{str(address)[:200]}”: port {address.port} is not used for web pages")
    return address


def resolve_name(host: str, port: int) -> list[str]:
    """Return the addresses of a name, in the order to try them."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in answers))


@dataclass(slots=True)
class Guard:
    """The addresses of this installation: all public ones, and those of the networks it allows.

    In allowed networks only the allowed ports are connected to, where any are named. Where a proxy
    is given, all connections lead through it; it must be one that the operator allows, and may then
    stand at any address.
    """

    allowed_networks: tuple[Network, ...] = ()
    resolve: Callable[[str, int], list[str]] = field(default=resolve_name)
    proxy: ProxyServer | None = None
    allowed_proxies: frozenset[str] = frozenset()  # as host:port
    allowed_ports: frozenset[int] = frozenset()

    async def connect(self, host: str, port: int) -> socket.socket:
        """Resolve a host, check every answer, connect to the first that accepts.

        This is the only way out: to a host itself, through a proxy, and for a browser.
        """
        addresses = await self.checked_addresses(host, port)
        if self.proxy is not None:
            return await self._connect_through(self.proxy, addresses[0], port)
        return await _connect_to_first(addresses, host, port)

    async def _connect_through(
        self, proxy: ProxyServer, address: IpAddress, port: int
    ) -> socket.socket:
        """Connect to a checked address by a tunnel that the proxy opens."""
        if proxy.name not in self.allowed_proxies:
            raise ProxyRefused(f"the proxy {proxy.name} is none that VERTEX_FETCH_PROXIES allows")
        answers = [proxy.host]
        if not _read_address(proxy.host):
            answers = await self._look_up(proxy.host, proxy.port)
        proxy_addresses = [parse_address(answer, proxy.host) for answer in answers]
        connection = await _connect_to_first(proxy_addresses, proxy.host, proxy.port)
        try:
            await open_tunnel(connection, proxy, address, port)
        except BaseException:
            connection.close()
            raise
        return connection

    async def checked_addresses(self, host: str, port: int) -> list[IpAddress]:
        """Return a host's addresses, or raise if a single one of them is refused."""
        answers = [host] if _read_address(host) else await self._look_up(host, port)
        addresses = [parse_address(answer, host) for answer in answers]
        for address in addresses:
            self.check(address, port, host)
        return addresses

    def why_refused(self, url: str) -> str:
        """Return why nothing can be fetched from the host of a URL, blank where something may be.

        Nothing is sent to the host; its name is looked up. Where no name server
        answers, nobody knows.
        """
        try:
            address = read_url(url)
            asyncio.run(self.checked_addresses(address.host, address.port))
        except NameNotAnswered:
            return ""
        except FetchRefused as refusal:
            return str(refusal)
        return ""

    def check(self, address: IpAddress, port: int, host: str) -> None:
        """Raise AddressRefused unless the address may be connected to."""
        is_in_allowed_network = any(address in network for network in self.allowed_networks)
        if is_in_allowed_network and (not self.allowed_ports or port in self.allowed_ports):
            return
        kind = kind_of(address) or ("of this machine" if is_own(address, port) else "")
        if kind:
            is_literal = host.strip("[]") == str(address)
            name = str(address) if is_literal else f"{host} ({address})"
            if is_in_allowed_network:
                raise AddressRefused(f"{name}: VERTEX_ALLOWED_PORTS does not allow port {port}")
            raise AddressRefused(
                f"{name} is {kind}, not a public address; "
                "VERTEX_ALLOWED_NETWORKS can allow its network"
            )

    async def _look_up(self, host: str, port: int) -> list[str]:
        """Resolve in a thread of its own: the system's resolver knows no deadline."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                answers = await _in_own_thread(partial(self.resolve, host, port))
        except TimeoutError:
            raise NameNotAnswered(f"{host}: no name server answered in time") from None
        except (OSError, UnicodeError) as error:
            is_transient = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            refusal = NameNotAnswered if is_transient else NameNotFound
            raise refusal(f"{host} has no address: {_why(error)}") from None
        if not answers:
            raise NameNotFound(f"{host} has no address")
        return answers


def parse_address(text: str, host: str) -> IpAddress:
    """Read an address as resolvers write it; one with a zone is refused."""
    address = _read_address(text)
    if address is None:
        raise AddressRefused(f"{host} ({text}) is no address of the public network")
    return address


def _read_address(text: str) -> IpAddress | None:
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def kind_of(address: IpAddress) -> str:
    """Return what kind of special address this is; blank for an ordinary public one.

    >>> kind_of(ipaddress.ip_address("169.254.169.254"))
    'link-local'
    >>> kind_of(ipaddress.ip_address("93.184.216.34"))
    ''
    """
    return next((kind for network, kind in TABLE if address in network), "")


def is_own(address: IpAddress, port: int) -> bool:
    """Return whether an address is this machine's own: the kernel then sends from the same one."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:  # connecting it sends nothing
            let_through(probe)
            probe.connect((str(address), port))
            return bool(probe.getsockname()[0] == str(address))
    except OSError:
        return False


def networks(words: Iterable[str]) -> tuple[Network, ...]:
    """Read networks as settings and tests write them."""
    return tuple(ipaddress.ip_network(word) for word in words)


async def _connect_to_first(addresses: Sequence[IpAddress], host: str, port: int) -> socket.socket:
    """Connect to the first address that accepts."""
    problem = ""
    for address in addresses[:MAX_ADDRESSES_TRIED]:
        try:
            return await _connect(address, port)
        except OSError as error:
            problem = problem or (os.strerror(error.errno) if error.errno else "timed out")
    raise ConnectFailed(f"{host}:{port} does not take connections: {problem}")


async def _connect(address: IpAddress, port: int) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with ExitStack() as unless_connected:
        connection = unless_connected.enter_context(socket.socket(family, socket.SOCK_STREAM))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        let_through(connection)
        async with asyncio.timeout(CONNECT_SECONDS):
            await asyncio.get_running_loop().sock_connect(connection, (str(address), port))
        unless_connected.pop_all()
        return connection


async def _in_own_thread(work: Callable[[], list[str]]) -> list[str]:
    """Return what a thread of its own finds; one that never ends is not waited for."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(result: list[str], error: Exception | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)

    def do_work() -> None:
        result: list[str] = []
        error: Exception | None = None
        try:
            result = work()
        except (OSError, UnicodeError) as raised:
            error = raised
        with suppress(RuntimeError):  # the loop may have ended meanwhile
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=do_work, name="look-up", daemon=True).start()
    return await answer


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is no name of a host"
