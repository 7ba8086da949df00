"""The proxy a site is fetched through: it opens a tunnel to an address that the guard checked.

The guard names the address as a number, so that the proxy resolves nothing: what a name leads to is
decided here alone, for http as for https.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import h11

from clustering.fetching.refusals import FetchRefused

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_HEAD_BYTES: Final = 16 * 1024  # of the proxy's answer
MAX_INTERIM_ANSWERS: Final = 20  # before the answer itself, of a proxy or a host
PIECE_BYTES: Final = 4096
TUNNEL_SECONDS: Final = 20.0
PROXY_AUTHENTICATION = 407


class ProxyRefused(FetchRefused):
    """The site is to be fetched through a proxy that this installation does not allow."""

    code = "proxy"


class ProxyFailed(FetchRefused):
    """The proxy opened no tunnel to the host."""

    code = "proxy"
    is_transient = True


@dataclass(frozen=True, slots=True)
class ProxyServer:
    """An HTTP proxy, with the account that it asks for."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


async def open_tunnel(
    connection: socket.socket, proxy: ProxyServer, address: IpAddress, port: int
) -> None:
    """Open a tunnel to an address through a connected proxy. Raises ProxyFailed, ProxyRefused."""
    host = f"[{address}]" if address.version == 6 else str(address)
    target = f"{host}:{port}"
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
    headers = [("Host", target)]
    if proxy.user or proxy.password:
        account = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode("ascii")
        headers.append(("Proxy-Authorization", f"Basic {account}"))
    sent = http.send(h11.Request(method="CONNECT", target=target, headers=headers)) or b""
    sent += http.send(h11.EndOfMessage()) or b""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(TUNNEL_SECONDS):
            await loop.sock_sendall(connection, sent)
            answer = await _answer_of(http, connection)
    except TimeoutError:
        raise ProxyFailed(f"the proxy {proxy.name} does not answer") from None
    except (OSError, h11.RemoteProtocolError) as error:
        raise ProxyFailed(f"the proxy {proxy.name} broke off: {error}") from None
    if answer.status_code == PROXY_AUTHENTICATION:
        raise ProxyRefused(f"the proxy {proxy.name} does not accept its user and password")
    if not 200 <= answer.status_code < 300:
        raise ProxyFailed(
            f"the proxy {proxy.name} answers {answer.status_code} and opens no tunnel to {target}; "
            f"let it allow CONNECT to port {port}"
        )
    if http.trailing_data[0]:
        raise ProxyFailed(f"the proxy {proxy.name} sends what nobody asked for")


async def _answer_of(http: h11.Connection, connection: socket.socket) -> h11.Response:
    loop = asyncio.get_running_loop()
    n_interim = 0
    while n_interim <= MAX_INTERIM_ANSWERS:
        event = http.next_event()
        if isinstance(event, h11.Response):
            return event
        if event is h11.NEED_DATA:
            # Where bytes have come already, this suspends nothing: interim answers without end
            # would hold up all others on the loop.
            http.receive_data(await loop.sock_recv(connection, PIECE_BYTES))
        elif isinstance(event, h11.InformationalResponse):
            n_interim += 1
        else:
            raise h11.RemoteProtocolError("no answer, but something else")
    raise h11.RemoteProtocolError(f"more than {MAX_INTERIM_ANSWERS} interim answers")
