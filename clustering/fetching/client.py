"""Fetch one URL: guarded, bounded in time and size, checking each step of a redirect.

`Client` works on the loop of `loop`; `Fetcher` is the same for those who wait in a thread.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from time import sleep
from types import TracebackType
from typing import Final, Self

import h11
from django.conf import settings
from tenacity import (
    Retrying,
    retry_if_exception,
    retry_if_result,
    stop_after_attempt,
    wait_exponential,
)

from clustering.dom.addresses import Address, BadAddress, join_url, normalise_url
from clustering.fetching.connections import (
    MAX_SILENCE,
    AnswerBroken,
    Connection,
    open_connection,
    trusted_certificates,
)
from clustering.fetching.deadlines import DeadlinePassed
from clustering.fetching.decompressing import ACCEPTED, BodyTooLarge, decompress, encodings
from clustering.fetching.guard import Guard, read_url
from clustering.fetching.loop import do_in_few_threads, network_loop, wait_for
from clustering.fetching.proxies import ProxyServer
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.sessions import SiteSession

MAX_BYTES: Final = 10 * 1024 * 1024
MAX_REDIRECTS: Final = 5
PAGE_SECONDS: Final = 60.0
IDLE_SECONDS: Final = 15.0  # how long an unused connection is kept
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_KEPT_HEADERS: Final = (
    "content-language content-type date etag last-modified location retry-after server"
)
KEPT_HEADERS: Final = frozenset(_KEPT_HEADERS.split())
MAX_HEADER_CHARACTERS: Final = 2000  # of each that is kept


class RedirectRefused(FetchRefused):
    """The answer leads on too often, in a circle, or to where nothing may be fetched."""

    code = "redirect"


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer, whatever its status; `url` is what was asked for first."""

    url: str
    final_url: str
    status: int
    headers: dict[str, str]
    body: bytes
    fetched_at: datetime
    n_redirects: int = 0
    is_rendered: bool = False
    waited_for: str = ""  # by the browser, until it took the page

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")

    @property
    def location(self) -> str:
        """Return where a redirect leads, normalised; blank if this is none or leads nowhere.

        Raises RedirectRefused where the address is none.
        """
        written = self.headers.get("location", "")
        if self.status not in REDIRECTS or not written:
            return ""
        try:
            return normalise_url(join_url(self.final_url, _as_browsers_read(written)))
        except BadAddress as error:
            raise RedirectRefused(f"redirects to {written[:200]!r}: {error}") from None


def _as_browsers_read(header: str) -> str:
    """Return a header's text as UTF-8 where its bytes are that."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def takes_all(_status: int, _content_type: str) -> bool:
    """Return that a body is read, whatever it is."""
    return True


@dataclass(slots=True, eq=False)
class Client:
    """Connections to any hosts, kept open between requests.

    Cookies and credentials are those of its `session`, and go where that lets them; without one
    there are none. All but its making happens on the loop.
    """

    user_agent: str
    guard: Guard = field(default_factory=Guard)
    certificates: ssl.SSLContext | None = None
    silence: float = MAX_SILENCE
    session: SiteSession | None = None
    idle: dict[str, list[IdleConnection]] = field(default_factory=dict)  # by origin

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_redirects: int = MAX_REDIRECTS,
        max_bytes: int = MAX_BYTES,
        is_cut: bool = False,
        seconds: float = PAGE_SECONDS,
        takes: Callable[[int, str], bool] = takes_all,
    ) -> Fetched:
        """Return the answer of a URL, or raise what is a FetchRefused.

        With `max_redirects=0` a redirect is an answer like any other. A body longer than
        `max_bytes` raises BodyTooLarge, unless `is_cut`. `takes(status, content_type)` decides
        whether the body is read at all.
        """
        request = _Request(
            method=method,
            headers=dict(headers or {}),
            content=content,
            max_redirects=max_redirects,
            max_bytes=max_bytes,
            is_cut=is_cut,
            takes=takes,
        )
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(url, request)
        except TimeoutError:
            refused: FetchRefused = DeadlinePassed(seconds)
        except FetchRefused as error:
            refused = error
            refused.__context__ = None
        # A refusal is kept until it is stored; with its traceback all that came would be kept, too.
        raise refused.with_traceback(None)

    def close(self) -> None:
        """Close the connections that are not in use."""
        for connections in self.idle.values():
            for waiting in connections:
                waiting.close()
        self.idle.clear()

    async def _follow(self, url: str, request: _Request) -> Fetched:
        seen: list[str] = []
        target = read_url(url)
        while True:
            seen.append(str(target))
            answer = await self._fetch_once(target, request, seen)
            may_follow = request.max_redirects > 0 and request.method in {"GET", "HEAD"}
            if not may_follow or not answer.location:
                return answer
            origin = target.origin
            target = _next_target(answer, seen, request.max_redirects)
            if target.origin != origin:
                request = request.without_headers()

    async def _fetch_once(self, target: Address, request: _Request, seen: list[str]) -> Fetched:
        connection = self._take_idle(target.origin) or await self._open(target)
        is_idle = False
        try:
            head = await connection.ask(
                request.method, target.target, self._headers(target, request), request.content
            )
            if self.session is not None:
                set_cookies = _all_of(list(head.headers), b"set-cookie")
                self.session.keep_cookies(target, set_cookies)
            answer = await _read(connection, head, target, request, seen)
            is_idle = connection.become_idle()
        except AnswerBroken as error:
            raise AnswerBroken(f"{target.origin}: {error}") from None
        finally:
            if is_idle:
                self._put_idle(target.origin, connection)
            else:
                connection.close()
        return answer

    async def _open(self, target: Address) -> Connection:
        is_encrypted = target.scheme == "https"
        return await open_connection(
            self.guard,
            target.host,
            target.port,
            certificates=self.certificates or trusted_certificates() if is_encrypted else None,
            silence=self.silence,
        )

    def _take_idle(self, origin: str) -> Connection | None:
        connections = self.idle.get(origin, [])
        while connections:
            waiting = connections.pop()
            waiting.expiry.cancel()
            if waiting.connection.is_usable:
                return waiting.connection
            waiting.connection.close()
        return None

    def _put_idle(self, origin: str, connection: Connection) -> None:
        expiry = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._expire, origin)
        self.idle.setdefault(origin, []).append(IdleConnection(connection, expiry))

    def _expire(self, origin: str) -> None:
        """Close the connection that has waited longest."""
        connections = self.idle.get(origin, [])
        if connections:
            connections.pop(0).close()
        if not connections:
            self.idle.pop(origin, None)

    def _headers(self, target: Address, request: _Request) -> list[tuple[str, str]]:
        headers = {
            "Host": target.netloc,
            "User-Agent": self.user_agent,
            "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding": ACCEPTED,
        }
        if self.session is not None:
            headers |= self.session.headers_for(target)
        if request.content:
            headers["Content-Length"] = str(len(request.content))
        return list({**headers, **request.headers}.items())


@dataclass(frozen=True, slots=True)
class IdleConnection:
    """A connection that waits for its next request, and the call that will close it."""

    connection: Connection
    expiry: asyncio.TimerHandle

    def close(self) -> None:
        self.expiry.cancel()
        self.connection.close()


@dataclass(slots=True)
class Fetcher:
    """A client for a thread that waits for each answer."""

    client: Client
    stop: threading.Event | None = None  # set it to end all requests at once

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        network_loop().call_soon_threadsafe(self.client.close)

    def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_redirects: int = MAX_REDIRECTS,
        max_bytes: int = MAX_BYTES,
        is_cut: bool = False,
        seconds: float = PAGE_SECONDS,
        tries: int = 1,
        takes: Callable[[int, str], bool] = takes_all,
    ) -> Fetched:
        """Return what `Client.fetch` returns, or raise what it raises; try trouble again."""

        def fetch_once() -> Fetched:
            work = self.client.fetch(
                url,
                method=method,
                headers=headers,
                content=content,
                max_redirects=max_redirects,
                max_bytes=max_bytes,
                is_cut=is_cut,
                seconds=seconds,
                takes=takes,
            )
            return wait_for(work, self.stop)

        retrying = Retrying(
            stop=stop_after_attempt(tries),
            wait=wait_exponential(multiplier=0.5, max=10),
            retry=retry_if_exception(_is_transient) | retry_if_result(_is_trouble),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
            sleep=self._pause,
        )
        answer: Fetched = retrying(fetch_once)
        return answer

    def _pause(self, seconds: float) -> None:
        if self.stop is None:
            sleep(seconds)
        else:
            self.stop.wait(seconds)


def open_guard(proxy: ProxyServer | None = None) -> Guard:
    """Return a guard with this installation's allowed networks and proxies."""
    return Guard(
        tuple(settings.ALLOWED_NETWORKS),
        proxy=proxy,
        allowed_proxies=frozenset(settings.FETCH_PROXIES),
        allowed_ports=settings.ALLOWED_PORTS,
    )


def open_client(session: SiteSession | None = None) -> Client:
    """Return a client with this installation's name, for one site where its session is given."""
    guard = open_guard(session.proxy if session else None)
    return Client(settings.USER_AGENT, guard, session=session)


def open_fetcher(
    stop: threading.Event | None = None, session: SiteSession | None = None
) -> Fetcher:
    """Return a fetcher with this installation's name, for one site where its session is given."""
    return Fetcher(open_client(session), stop)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request, the same at every step of a redirect."""

    method: str
    headers: dict[str, str]
    content: bytes
    max_redirects: int
    max_bytes: int
    is_cut: bool
    takes: Callable[[int, str], bool]

    def without_headers(self) -> _Request:
        """Return the request for another origin, without what was meant for the first."""
        return replace(self, headers={}, content=b"")


def _next_target(answer: Fetched, seen: list[str], max_redirects: int) -> Address:
    target = read_url(answer.location)
    if str(target) in seen:
        raise RedirectRefused(f"redirects in a circle: {str(target)[:200]}")
    if len(seen) > max_redirects:
        raise RedirectRefused(
            f"more than {max_redirects} redirects, the last one to {str(target)[:200]}"
        )
    return target


async def _read(
    connection: Connection,
    response: h11.Response,
    target: Address,
    request: _Request,
    seen: list[str],
) -> Fetched:
    raw_headers = list(response.headers)
    headers = _kept(raw_headers)
    body = b""
    status = response.status_code
    is_redirect = status in REDIRECTS and "location" in headers
    if not is_redirect and request.takes(status, headers.get("content-type", "")):
        body = await _body(connection, raw_headers, request)
    return Fetched(
        url=seen[0],
        final_url=str(target),
        status=status,
        headers=headers,
        body=body,
        fetched_at=datetime.now(UTC),
        n_redirects=len(seen) - 1,
    )


async def _body(
    connection: Connection, headers: list[tuple[bytes, bytes]], request: _Request
) -> bytes:
    encoding = ",".join(_all_of(headers, b"content-encoding"))
    layers = encodings(encoding)  # an unknown one is refused before a byte is read
    length = next(iter(_all_of(headers, b"content-length")), "")
    if not request.is_cut and length.isdigit() and int(length[:20]) > request.max_bytes:
        raise BodyTooLarge(request.max_bytes)
    body = bytearray()  # a list of pieces of one byte each would be ten times as large
    async for piece in connection.body():
        body += piece
        if len(body) > request.max_bytes:
            if not request.is_cut:
                raise BodyTooLarge(request.max_bytes)
            break
    if not layers:
        return bytes(body[: request.max_bytes])
    # What was compressed may take long to undo: not on the loop, where all others wait for it.
    packed = [bytes(body)]
    return await do_in_few_threads(
        partial(decompress, packed, encoding, request.max_bytes, is_cut=request.is_cut)
    )


def _kept(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the first of each header that is kept; what the database cannot hold is replaced."""
    value_by_name: dict[str, str] = {}
    for written_name, value in headers:
        name = written_name.decode("latin-1").lower()
        if name in KEPT_HEADERS and name not in value_by_name:
            text = value.decode("latin-1").replace("\x00", "")
            value_by_name[name] = text[:MAX_HEADER_CHARACTERS]
    return value_by_name


def _all_of(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, FetchRefused) and error.is_transient


def _is_trouble(answer: Fetched) -> bool:
    return answer.status >= 500
