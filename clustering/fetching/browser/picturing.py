"""Draw small pictures of stored pages with a real browser that reaches nothing.

All its traffic goes to a proxy that nobody listens to, no name is looked up, every request of a
page is refused, scripts are off, and the page that it gets was made still before. One browser
serves a batch.
"""

from __future__ import annotations

import base64
import binascii
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from django.conf import settings

from clustering.fetching.browser.chromium import BrowserFailed, Chromium
from clustering.fetching.deadlines import Deadline

DISCARD_PORT: Final = 9  # the port of the proxy: discard
PAGE_SECONDS: Final = 15.0
SECONDS: Final = 300.0  # of one browser
WIDTH, HEIGHT = 800, 600  # of the window
SCALE: Final = 0.5  # of the picture: 400 by 300
MAX_HTML_CHARACTERS: Final = 2_000_000  # characters of a page
PNG: Final = b"\x89PNG\r\n\x1a\n"


@dataclass(slots=True)
class Camera:
    """A browser without network and scripts; use it as a context."""

    binary: str
    stop: threading.Event | None = None
    _browser: Chromium = field(init=False)
    _session: str = ""
    _frame: str = ""

    def __enter__(self) -> Self:
        self._browser = Chromium(self.binary, "Vertex", DISCARD_PORT, Deadline(SECONDS, self.stop))
        self._browser.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._browser.__exit__(kind, error, trace)

    def picture(self, html: str) -> bytes:
        """Return a PNG of the upper part of a page. Raises a FetchRefused."""
        if len(html) > MAX_HTML_CHARACTERS:
            raise BrowserFailed(f"{len(html):,} characters are too many for a picture")
        self._browser.deadline = Deadline(PAGE_SECONDS, self.stop)
        self._open_tab()
        self._browser.ask("Page.setDocumentContent", self._session, frameId=self._frame, html=html)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
        screenshot = self._browser.ask(
            "Page.captureScreenshot", self._session, format="png", clip=clip
        )
        self._browser.tell("Page.close", self._session)
        self._browser.events.clear()
        return _decoded(screenshot.get("data", ""))

    def _open_tab(self) -> None:
        target = self._browser.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._browser.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        for method, params in (
            ("Page.enable", {}),
            ("Emulation.setScriptExecutionDisabled", {"value": True}),
            ("Emulation.setDeviceMetricsOverride", size),
            ("Network.enable", {}),
            ("Network.setBlockedURLs", {"urls": ["*"]}),
        ):
            self._browser.ask(method, self._session, **params)
        frame_tree = self._browser.ask("Page.getFrameTree", self._session)["frameTree"]
        self._frame = frame_tree["frame"]["id"]


def open_camera(stop: threading.Event | None = None) -> Camera:
    """Return a camera with this installation's browser."""
    return Camera(settings.CHROMIUM, stop)


def _decoded(data: str) -> bytes:
    try:
        picture = base64.b64decode(data, validate=True)
    except binascii.Error:
        picture = b""
    if not picture.startswith(PNG):
        raise BrowserFailed("the browser returned no picture")
    return picture
