"""Draw small pictures of stored pages with a real browser that reaches nothing.

All its traffic goes to a proxy that nobody listens to, no name is looked up, every request of a
page is refused, scripts are off, and the page that it gets was made still before. One browser
serves a batch.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from django.conf import settings

from clustering.dom.frame.markup import OWN_ATTRIBUTE
from clustering.fetching.browser.chromium import BrowserFailed, Chromium
from clustering.fetching.deadlines import Deadline

DISCARD_PORT: Final = 9  # the port of the proxy: discard
PAGE_SECONDS: Final = 15.0
SECONDS: Final = 300.0  # of one browser
WIDTH, HEIGHT = 800, 600  # of the window
SCALE: Final = 0.5  # of the picture: 400 by 300
CROP_WIDTH, CROP_HEIGHT = 400, 100  # of what is shown around a node
CROP_SCALE: Final = 0.9
LEFT_SHARE: Final = 0.6  # of a crop that is left of the node's middle: labels stand there
MAX_CROP_BOXES: Final = 20  # of a text in several lines
TEXT_NODE: Final = 3
MAX_HTML_CHARACTERS: Final = 2_000_000  # characters of a page
PNG: Final = b"\x89PNG\r\n\x1a\n"


class PicturedNode(NamedTuple):
    """A node of a page whose elements are numbered: an element, or one of its texts."""

    number: int
    text: int | None = None  # which of its texts that are not blank, from 0


class PixelBox(NamedTuple):
    """A rectangle, in pixels of a picture."""

    x: float
    y: float
    width: float
    height: float


class Crop(NamedTuple):
    """A picture of what stands around a node, and the boxes of the node in it."""

    png: bytes
    boxes: Sequence[PixelBox]


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
        self._show(html)
        picture = self._shoot(PixelBox(0, 0, WIDTH, HEIGHT), SCALE)
        self._close_tab()
        return picture

    def crops(self, html: str, nodes: Sequence[PicturedNode]) -> list[Crop | None]:
        """Return what stands around nodes of a numbered page; None for a node that cannot be seen.

        Raises a FetchRefused.
        """
        self._show(html)
        document = self._browser.ask("DOM.getDocument", self._session, depth=0)["root"]["nodeId"]
        crops = [self._crop(document, node) for node in nodes]
        self._close_tab()
        return crops

    def _show(self, html: str) -> None:
        if len(html) > MAX_HTML_CHARACTERS:
            raise BrowserFailed(f"{len(html):,} characters are too many for a picture")
        self._browser.deadline = Deadline(PAGE_SECONDS, self.stop)
        self._open_tab()
        self._browser.ask("Page.setDocumentContent", self._session, frameId=self._frame, html=html)

    def _close_tab(self) -> None:
        self._browser.tell("Page.close", self._session)
        self._browser.events.clear()

    def _shoot(self, part: PixelBox, scale: float) -> bytes:
        """Return a PNG of a part of the page that is shown."""
        screenshot = self._browser.ask(
            "Page.captureScreenshot",
            self._session,
            format="png",
            clip={
                "x": part.x,
                "y": part.y,
                "width": part.width,
                "height": part.height,
                "scale": scale,
            },
            captureBeyondViewport=True,
        )
        return _decoded(screenshot.get("data", ""))

    def _crop(self, document: int, node: PicturedNode) -> Crop | None:
        """Return the part of the page around a node, None where the node is not drawn."""
        boxes = self._boxes_of(document, node)
        if not boxes:
            return None
        part = _part_around(boxes[0])
        return Crop(self._shoot(part, CROP_SCALE), [_box_within(part, box) for box in boxes])

    def _boxes_of(self, document: int, node: PicturedNode) -> list[PixelBox]:
        """Return where a node stands on the page, none where it is not drawn."""
        element = self._browser.ask(
            "DOM.querySelector",
            self._session,
            nodeId=document,
            selector=f'[{OWN_ATTRIBUTE}="{node.number}"]',
        )["nodeId"]
        if element == 0:
            return []
        target: dict[str, Any] = {"nodeId": element}
        if node.text is not None:
            shown = self._browser.ask("DOM.describeNode", self._session, nodeId=element, depth=1)
            children = shown["node"].get("children", [])
            texts = [child for child in children if child["nodeType"] == TEXT_NODE]
            if node.text >= len(texts):
                return []
            target = {"backendNodeId": texts[node.text]["backendNodeId"]}
        try:
            quads = self._browser.ask("DOM.getContentQuads", self._session, **target)["quads"]
        except BrowserFailed:  # what is not drawn has none
            return []
        boxes = [_box_around(quad) for quad in quads[:MAX_CROP_BOXES]]
        return [box for box in boxes if box.width * box.height > 0]

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


def _box_around(quad: Sequence[float]) -> PixelBox:
    """Return the rectangle around four corners, given as x and y in turn."""
    across, down = quad[::2], quad[1::2]
    return PixelBox(min(across), min(down), max(across) - min(across), max(down) - min(down))


def _part_around(box: PixelBox) -> PixelBox:
    """Return the part of a page around a box, or around its upper end where it is large."""
    left = box.x + box.width / 2 - CROP_WIDTH * LEFT_SHARE
    top = box.y + min(box.height, CROP_HEIGHT) / 2 - CROP_HEIGHT / 2
    return PixelBox(max(0, min(left, WIDTH - CROP_WIDTH)), max(0, top), CROP_WIDTH, CROP_HEIGHT)


def _box_within(part: PixelBox, box: PixelBox) -> PixelBox:
    """Return where a box of the page stands in the picture of a part of it."""
    return PixelBox(
        x=CROP_SCALE * (box.x - part.x),
        y=CROP_SCALE * (box.y - part.y),
        width=CROP_SCALE * box.width,
        height=CROP_SCALE * box.height,
    )


def _decoded(data: str) -> bytes:
    try:
        picture = base64.b64decode(data, validate=True)
    except binascii.Error:
        picture = b""
    if not picture.startswith(PNG):
        raise BrowserFailed("the browser returned no picture")
    return picture
