"""Fetch a page with a real browser: what its scripts have made of it is the page.

The browser asks for the page itself and for whatever the page needs, all through the guarded proxy.
Redirects are not followed but returned, as the fetcher does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from django.conf import settings

from clustering.dom.addresses import Address
from clustering.fetching.browser.chromium import BrowserFailed, Chromium
from clustering.fetching.browser.proxy import Proxy
from clustering.fetching.client import (
    KEPT_HEADERS,
    MAX_BYTES,
    MAX_HEADER_CHARACTERS,
    PAGE_SECONDS,
    REDIRECTS,
    Fetched,
    open_guard,
)
from clustering.fetching.connections import AnswerBroken
from clustering.fetching.deadlines import Deadline
from clustering.fetching.decompressing import BodyTooLarge
from clustering.fetching.guard import Guard, read_url
from clustering.fetching.sessions import SiteSession

MAX_BYTES_PASSED: Final = 50 * 1024 * 1024  # bytes of a page and all that belongs to it
MAX_SETTLING: Final = 5.0  # seconds that scripts may go on after the page has loaded
# Runs before the page's scripts: deletes the one thing that sends around a proxy, under all its
# names, and answers boxes that stop a page until somebody presses a button, which a page may open
# again and again.
BEFORE_SCRIPTS: Final = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', "
    "'RTCIceTransport', 'WebTransport']) delete window[name];"
    "window.alert = () => {}; window.confirm = () => false; window.prompt = () => null;"
)
IDLE: Final = "networkIdle"  # the browser's word for half a second without a request


@dataclass(slots=True)
class Renderer:
    """Renders pages, each in a browser of its own with an empty profile."""

    binary: str
    user_agent: str
    guard: Guard = field(default_factory=Guard)
    stop: threading.Event | None = None

    def render(
        self,
        url: str,
        *,
        takes: Callable[[int, str], bool],
        seconds: float = PAGE_SECONDS,
        session: SiteSession | None = None,
    ) -> Fetched:
        """Return the page after its scripts have run; other answers as the fetcher does.

        Of a site's session the page's own host gets the cookies, and the page itself the headers:
        what the page asks for besides may lead anywhere. Raises a FetchRefused.
        """
        address = read_url(url)
        guard, user_agent = self.guard, self.user_agent
        if session is not None:
            guard = replace(guard, proxy=session.proxy)
            user_agent = session.user_agent or user_agent
        deadline = Deadline(seconds, self.stop)
        with (
            Proxy(guard, deadline, MAX_BYTES_PASSED) as proxy,
            Chromium(self.binary, user_agent, proxy.port, deadline) as browser,
        ):
            return _Visit(browser, proxy, address, takes, session).answer()


def open_renderer(stop: threading.Event | None = None) -> Renderer:
    """Return a renderer with this installation's browser, name and allowed networks."""
    return Renderer(settings.CHROMIUM, settings.USER_AGENT, open_guard(), stop)


@dataclass(slots=True)
class _Visit:
    """One page in one tab."""

    browser: Chromium
    proxy: Proxy
    address: Address
    takes: Callable[[int, str], bool]
    site_session: SiteSession | None = None
    session: str = ""
    frame: str = ""
    loader: str = ""  # of what the frame shows
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def answer(self) -> Fetched:
        """Request the page, decide by its headers, let it settle and return its markup."""
        self._open_tab()
        self.browser.tell("Page.navigate", self.session, url=str(self.address))
        self._await_headers()
        if self.status in REDIRECTS or not self.takes(
            self.status, self.headers.get("content-type", "")
        ):
            return self._fetched(b"")
        waited_for = self._await_rest()
        body = self._serialised()
        kind = self.headers.get("content-type", "").partition(";")[0].strip() or "text/html"
        self.headers["content-type"] = f"{kind}; charset=utf-8"
        return replace(self._fetched(body), waited_for=waited_for)

    def _open_tab(self) -> None:
        target = self.browser.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.browser.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self._ask("Page.enable")
        self.frame = self._ask("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self._ask("Page.setLifecycleEventsEnabled", enabled=True)
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=BEFORE_SCRIPTS)
        self.browser.tell("Browser.setDownloadBehavior", behavior="deny")
        if self.site_session is not None:
            self._set_cookies(self.site_session.cookies_for(self.address))
        # Documents stop twice: before they are asked for, and when their headers are there.
        documents = [
            {"resourceType": "Document", "requestStage": stage} for stage in ("Request", "Response")
        ]
        self._ask("Fetch.enable", patterns=documents)

    def _set_cookies(self, value_by_name: Mapping[str, str]) -> None:
        cookies = [
            {"name": name, "value": value, "url": f"{self.address.origin}/"}
            for name, value in value_by_name.items()
        ]
        if cookies:
            self._ask("Network.setCookies", cookies=cookies)

    def _await_headers(self) -> None:
        while not self.status:
            event = self.browser.next_event(self.browser.deadline.remaining())
            if event is not None:
                self._react(event)

    def _await_rest(self) -> str:
        """Wait until the page has loaded and its scripts are done or out of time; say what for."""
        begun_at = monotonic()
        settled_at = self.browser.deadline.ends_at
        limit = "the end of its time: it never loaded whole"
        while monotonic() < settled_at:
            event = self.browser.next_event(min(0.25, max(0.01, settled_at - monotonic())))
            if event is None:
                continue
            self._react(event)
            if event["method"] == "Page.loadEventFired":
                settled_at = min(settled_at, monotonic() + MAX_SETTLING)
                limit = f"{MAX_SETTLING:g} s after it loaded: scripts went on"
            if event["method"] == "Page.lifecycleEvent" and self._is_idle(event["params"]):
                return f"half a second without a request, after {monotonic() - begun_at:.1f} s"
        return limit

    def _is_idle(self, event: dict[str, Any]) -> bool:
        return bool(
            event["name"] == IDLE
            and event["frameId"] == self.frame
            and event["loaderId"] == self.loader
        )

    def _react(self, event: dict[str, Any]) -> None:
        if event["method"] == "Fetch.requestPaused":
            self._decide(event["params"])
        elif (
            event["method"] == "Page.frameNavigated"
            and event["params"]["frame"]["id"] == self.frame
        ):
            self.loader = event["params"]["frame"]["loaderId"]
        elif event["method"] == "Page.javascriptDialogOpening":
            self.browser.tell("Page.handleJavaScriptDialog", self.session, accept=False)
        elif event["method"] in {"Inspector.targetCrashed", "Inspector.detached"}:
            raise BrowserFailed("the page made the browser crash")

    def _decide(self, paused: dict[str, Any]) -> None:
        """Continue requests of frames; read the page's headers, and let it lead nowhere else."""
        number = paused["requestId"]
        is_page = paused["frameId"] == self.frame
        is_answer = "responseStatusCode" in paused or "responseErrorReason" in paused
        if is_page and self.status:
            self._abort(number)
            return
        if is_page and is_answer:
            self._read_headers(paused)
            if self.status in REDIRECTS:
                self._abort(number)
                return
        changes: dict[str, Any] = {}
        if is_page and not is_answer and self.site_session is not None:
            own = self.site_session.headers_for(self.address)
            headers = {**paused["request"]["headers"], **own}
            changes["headers"] = [
                {"name": name, "value": value}
                for name, value in headers.items()
                if name != "Cookie"  # the browser has them
            ]
        self.browser.tell("Fetch.continueRequest", self.session, requestId=number, **changes)

    def _abort(self, request: str) -> None:
        self.browser.tell(
            "Fetch.failRequest", self.session, requestId=request, errorReason="Aborted"
        )

    def _read_headers(self, paused: dict[str, Any]) -> None:
        refused = self.proxy.refused_by_address.get((self.address.host, self.address.port))
        if refused is not None:
            raise refused
        if "responseErrorReason" in paused:
            raise AnswerBroken(f"{self.address.origin}: {paused['responseErrorReason']}")
        self.status = int(paused["responseStatusCode"])
        for header in paused.get("responseHeaders", []):
            name = header["name"].lower()
            if name in KEPT_HEADERS:
                self.headers.setdefault(
                    name, header["value"].replace("\0", "")[:MAX_HEADER_CHARACTERS]
                )

    def _serialised(self) -> bytes:
        root = self._ask("DOM.getDocument", depth=0)["root"]["nodeId"]
        markup: str = self._ask("DOM.getOuterHTML", nodeId=root)["outerHTML"]
        body = markup.encode("utf-8", "replace")
        if len(body) > MAX_BYTES:
            raise BodyTooLarge(MAX_BYTES)
        return body

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.ask(method, self.session, **params)

    def _fetched(self, body: bytes) -> Fetched:
        """Return the answer with what was rendered; a blank body says that nothing was."""
        return Fetched(
            url=str(self.address),
            final_url=str(self.address),
            status=self.status,
            headers=self.headers,
            body=body,
            fetched_at=datetime.now(UTC),
            is_rendered=bool(body),
        )
