"""Fetch one URL: guarded, bounded in time and size, checking each step of a redirect."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import sleep
from types import TracebackType
from typing import Final, Self

import httpcore
from django.conf import settings
from tenacity import (
    Retrying,
    retry_if_exception,
    retry_if_result,
    stop_after_attempt,
    wait_exponential,
)

from clustering.dom.addresses import Address, BadAddress, join_url, normalise_url
from clustering.fetching import deadlines
from clustering.fetching.connections import MAX_SILENCE, Network, trusted_certificates
from clustering.fetching.deadlines import Deadline
from clustering.fetching.decoding import ACCEPTED, BodyTooLarge, decode, encodings
from clustering.fetching.guard import Guard, read_url
from clustering.fetching.refusals import FetchRefused

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


class AnswerBroken(FetchRefused):
    """What came back is not HTTP, or the connection broke in the middle of it."""

    code = "broken_answer"
    is_transient = True


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


def _takes_all(_status: int, _content_type: str) -> bool:
    return True


@dataclass(slots=True)
class Fetcher:
    """Connections to any hosts, kept open between requests, without cookies and credentials."""

    user_agent: str
    guard: Guard = field(default_factory=Guard)
    stop: threading.Event | None = None  # set it to end all requests at once
    certificates: ssl.SSLContext | None = None
    silence: float = MAX_SILENCE
    _pool: httpcore.ConnectionPool = field(init=False)

    def __post_init__(self) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=self.certificates or trusted_certificates(),
            max_connections=None,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=Network(self.guard),
        )

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
        self._pool.close()

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
        takes: Callable[[int, str], bool] = _takes_all,
    ) -> Fetched:
        """Return the answer of a URL, or raise what is a FetchRefused.

        With `max_redirects=0` a redirect is an answer like any other. A body longer than
        `max_bytes` raises BodyTooLarge, unless `is_cut`. `takes(status, content_type)` decides whether
        the body is read at all.
        """
        retrying = Retrying(
            stop=stop_after_attempt(tries),
            wait=wait_exponential(multiplier=0.5, max=10),
            retry=retry_if_exception(_is_transient) | retry_if_result(_is_trouble),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
            sleep=self._pause,
        )
        request = _Request(
            method=method,
            headers=dict(headers or {}),
            content=content,
            max_redirects=max_redirects,
            max_bytes=max_bytes,
            is_cut=is_cut,
            takes=takes,
        )
        answer: Fetched = retrying(self._follow, url, request, seconds)
        return answer

    def _pause(self, seconds: float) -> None:
        if self.stop is None:
            sleep(seconds)
        else:
            self.stop.wait(seconds)

    def _follow(self, url: str, request: _Request, seconds: float) -> Fetched:
        deadline = Deadline(seconds, self.stop)
        seen: list[str] = []
        target = read_url(url)
        with deadlines.within(deadline):
            while True:
                seen.append(str(target))
                answer = self._fetch_once(target, request, seen)
                may_follow = request.max_redirects > 0 and request.method in {"GET", "HEAD"}
                if not may_follow or not answer.location:
                    return answer
                origin = target.origin
                target = _next_target(answer, seen, request.max_redirects)
                if target.origin != origin:
                    request = request.without_headers()

    def _fetch_once(self, target: Address, request: _Request, seen: list[str]) -> Fetched:
        sent = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=target.scheme, host=target.host, port=target.port, target=target.target
            ),
            headers=self._headers(target, request),
            content=request.content or None,
            extensions={"timeout": {"read": self.silence, "write": self.silence}},
        )
        try:
            response = self._pool.handle_request(sent)
            try:
                return _read(response, target, request, seen)
            finally:
                response.close()
        except (httpcore.ProtocolError, httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise AnswerBroken(f"{target.origin}: {error or type(error).__name__}") from None

    def _headers(self, target: Address, request: _Request) -> list[tuple[str, str]]:
        headers = {
            "Host": target.netloc,
            "User-Agent": self.user_agent,
            "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding": ACCEPTED,
        }
        if request.content:
            headers["Content-Length"] = str(len(request.content))
        return list({**headers, **request.headers}.items())


def open_fetcher(stop: threading.Event | None = None) -> Fetcher:
    """Return a fetcher with this installation's name and allowed networks."""
    return Fetcher(settings.USER_AGENT, Guard(tuple(settings.ALLOWED_NETWORKS)), stop)


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


def _read(
    response: httpcore.Response, target: Address, request: _Request, seen: list[str]
) -> Fetched:
    headers = _kept(response.headers)
    body = b""
    is_redirect = response.status in REDIRECTS and "location" in headers
    if not is_redirect and request.takes(response.status, headers.get("content-type", "")):
        body = _body(response, request)
    return Fetched(
        url=seen[0],
        final_url=str(target),
        status=response.status,
        headers=headers,
        body=body,
        fetched_at=datetime.now(UTC),
        n_redirects=len(seen) - 1,
    )


def _body(response: httpcore.Response, request: _Request) -> bytes:
    encoding = ",".join(_all_of(response.headers, b"content-encoding"))
    encodings(encoding)  # an unknown one is refused before a byte is read
    length = next(iter(_all_of(response.headers, b"content-length")), "")
    if not request.is_cut and length.isdigit() and int(length[:20]) > request.max_bytes:
        raise BodyTooLarge(request.max_bytes)
    return decode(
        _checked(response.iter_stream()), encoding, request.max_bytes, is_cut=request.is_cut
    )


def _checked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Check the deadline between chunks, for a host that sends without a pause."""
    for chunk in chunks:
        deadlines.current().remaining()
        yield chunk


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
