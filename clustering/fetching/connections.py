"""One HTTP/1.1 connection: a socket of the guard, with h11 to read what comes.

Nothing else opens a socket for a request, whether it goes to the host itself or to a proxy.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from time import monotonic
from typing import Final

import certifi
import h11

from clustering.fetching.guard import Guard
from clustering.fetching.proxies import MAX_INTERIM_ANSWERS
from clustering.fetching.refusals import FetchRefused

MAX_SILENCE: Final = 15.0  # seconds without a byte
MAX_HEAD_BYTES: Final = 100 * 1024  # of status and headers
MAX_UNREAD_BYTES: Final = 256 * 1024  # that have come and nobody took yet
# After so long a time of reading what has come, all others on the loop have a turn.
TURN_SECONDS: Final = 0.002
QUICK_ACKNOWLEDGEMENT: Final = getattr(socket, "TCP_QUICKACK", None)  # Linux; it holds for one read

Headers = Sequence[tuple[bytes, bytes]]


class TlsFailed(FetchRefused):
    """The host's certificate or its encryption cannot be trusted."""

    code = "tls"


class HostSilent(FetchRefused):
    """The host accepted the connection and then sent nothing."""

    code = "deadline"
    is_transient = True


class AnswerBroken(FetchRefused):
    """What came back is not HTTP, or the connection broke in the middle of it."""

    code = "broken_answer"
    is_transient = True


class Connection:
    """A connection to one host; it carries one request after the other."""

    def __init__(self, wire: _Wire, silence: float) -> None:
        self._wire = wire
        self._silence = silence
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._turn_ends_at = 0.0

    async def ask(
        self, method: str, target: str, headers: Sequence[tuple[str, str]], content: bytes
    ) -> h11.Response:
        """Send a request and return the head of its answer. Raises AnswerBroken, HostSilent.

        Headers are sent in the bytes in which answers had them: an ETag or a cookie may
        be no ASCII.
        """
        try:
            written = [
                (name.encode(), value.encode("latin-1", "replace")) for name, value in headers
            ]
            request = h11.Request(method=method, target=target, headers=written)
            sent = self._http.send(request) or b""
            if content:
                sent += self._http.send(h11.Data(content)) or b""
            sent += self._http.send(h11.EndOfMessage()) or b""
        except h11.LocalProtocolError as error:
            raise AnswerBroken(f"the request cannot be written: {error}") from None
        self._wire.write(sent)
        for _ in range(MAX_INTERIM_ANSWERS + 1):
            event = await self._next_event()
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise AnswerBroken("no answer, but something else")
        raise AnswerBroken(f"more than {MAX_INTERIM_ANSWERS} interim answers before the answer")

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the answer's body as it comes."""
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            else:
                return

    def become_idle(self) -> bool:
        """Make ready for the next request; return whether that is possible."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return self.is_usable

    @property
    def is_usable(self) -> bool:
        """Return whether nothing came that was not asked for: neither bytes nor an end."""
        return not self._wire.is_over and not self._wire.n_unread

    def close(self) -> None:
        """Close at once, whatever the other side says."""
        self._wire.close()

    async def _next_event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        """Return what comes next, never that more data are needed."""
        await self._give_way()
        try:
            while True:
                event = self._http.next_event()
                if event is not h11.NEED_DATA:
                    return event
                piece = await self._wire.read(self._silence)
                if not piece and self._wire.why_over:
                    raise AnswerBroken(self._wire.why_over)
                self._http.receive_data(piece)
        except h11.RemoteProtocolError as error:
            raise AnswerBroken(str(error)) from None

    async def _give_way(self) -> None:
        """Suspend once in a while, so that all others on the loop have a turn.

        What has come may be pieces of one byte, and thousands of them are read without
        waiting for any.
        """
        if monotonic() < self._turn_ends_at:
            return
        await asyncio.sleep(0)
        self._turn_ends_at = monotonic() + TURN_SECONDS


async def open_connection(
    guard: Guard,
    host: str,
    port: int,
    *,
    certificates: ssl.SSLContext | None = None,
    silence: float = MAX_SILENCE,
) -> Connection:
    """Connect to a host that the guard lets through, encrypted where `certificates` are given.

    Raises what the guard raises, TlsFailed, HostSilent and AnswerBroken.
    """
    connected = await guard.connect(host, port)
    wire = _Wire()
    try:
        await asyncio.get_running_loop().create_connection(
            lambda: wire,
            sock=connected,
            ssl=certificates,
            server_hostname=host if certificates else None,
            ssl_handshake_timeout=silence if certificates else None,
        )
    except (ssl.SSLError, ssl.CertificateError) as error:
        connected.close()
        raise TlsFailed(f"{host}: {_why(error)}") from None
    except OSError as error:
        connected.close()
        raise _broken_off(error) from None
    except BaseException:
        connected.close()
        raise
    return Connection(wire, silence)


# Saves 18 ms for each connection.
@lru_cache(maxsize=1)
def trusted_certificates() -> ssl.SSLContext:
    """Return the settings of encryption that all connections share."""
    return ssl.create_default_context(cafile=certifi.where())


class _Wire(asyncio.Protocol):
    """The bytes of a connection: those that came wait here until somebody reads them."""

    def __init__(self) -> None:
        self.is_over = False
        self.why_over = ""  # blank where the other side closed in good order
        self._unread = bytearray()
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._reader: asyncio.Future[None] | None = None
        self._is_paused = False

    @property
    def n_unread(self) -> int:
        return len(self._unread)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport
        self._socket = transport.get_extra_info("socket")

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) > MAX_UNREAD_BYTES and self._transport and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.is_over = True
        self._wake()
        return False  # nothing is sent to a host that says that it is done

    def connection_lost(self, error: Exception | None) -> None:
        self.is_over = True
        if error is not None:
            self.why_over = str(error) or type(error).__name__
        self._wake()

    def write(self, sent: bytes) -> None:
        if self._transport is not None and not self.is_over:
            self._transport.write(sent)

    async def read(self, silence: float) -> bytes:
        """Return the bytes that came, empty at the end. Raises HostSilent."""
        if not self._unread and not self.is_over:
            self._acknowledge_at_once()
            self._reader = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(silence):
                    await self._reader
            except TimeoutError:
                raise HostSilent(f"no byte for {silence:g} seconds") from None
            finally:
                self._reader = None
        piece = bytes(self._unread)
        self._unread.clear()
        if self._is_paused and self._transport and not self.is_over:
            self._is_paused = False
            self._transport.resume_reading()
        return piece

    def close(self) -> None:
        self.is_over = True
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _acknowledge_at_once(self) -> None:
        """Acknowledge at once: a server that sends in two parts would wait 40 ms for it."""
        if QUICK_ACKNOWLEDGEMENT is not None and self._socket is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, QUICK_ACKNOWLEDGEMENT, 1)


def _broken_off(error: OSError) -> FetchRefused:
    """Return what a connection that broke while encryption was agreed on is called."""
    if isinstance(error, TimeoutError) or "handshake is taking longer" in str(error):
        return HostSilent("no encryption was agreed on in time")
    return AnswerBroken(str(error) or type(error).__name__)


def _why(error: Exception) -> str:
    return getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
