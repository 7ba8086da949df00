"""Read what a browser reports that an editor did; anything unexpected is refused."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.exceptions import BadRequest
from django.http import HttpRequest

from annotation.algorithms.anchors.anchoring import ProposedNode
from annotation.algorithms.anchors.picking import PickedPlace
from vertex.core.texts import storable

MAX_BODY_BYTES = 4_000_000
MAX_NUMBER = 2**31 - 1
MAX_PARTS = 2_000
MAX_TEXT_CHARS = 200_000


class Gesture:
    """What a browser reports of one gesture. Reading a value of a wrong type raises BadRequest."""

    def __init__(self, document: object) -> None:
        if not isinstance(document, dict):
            raise BadRequest("A gesture is a JSON object.")
        self.document: dict[str, Any] = document

    def text(self, name: str, default: str | None = None) -> str:
        value = self.document.get(name, default)
        if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
            raise BadRequest(f"“{name}” of a gesture must be a text.")
        return storable(value)

    def number(self, name: str) -> int:
        value = self.number_or_none(name)
        if value is None:
            raise BadRequest(f"“{name}” of a gesture must be a number.")
        return value

    def number_or_none(self, name: str) -> int | None:
        value = self.document.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_NUMBER:
            raise BadRequest(f"“{name}” of a gesture must be a whole number from 0.")
        return value

    def is_set(self, name: str) -> bool:
        return self.document.get(name) is True

    def parts(self, name: str) -> list[Gesture]:
        value = self.document.get(name, [])
        if not isinstance(value, list) or len(value) > MAX_PARTS:
            raise BadRequest(f"“{name}” of a gesture must be a list of at most {MAX_PARTS:,}.")
        return [Gesture(part) for part in value]

    def place(self) -> PickedPlace:
        """Return where on the page the gesture was made: on an element, or along a text."""
        clicked = Gesture(self.document.get("place"))
        text = clicked.document.get("text")
        if not text:
            return PickedPlace(clicked.number("number"))
        stretch = Gesture(text)
        return PickedPlace(
            number=stretch.number("number"),
            text_node=stretch.number("textNode"),
            start=stretch.number("start"),
            end=stretch.number("end"),
            end_number=stretch.number_or_none("endNumber"),
            end_text_node=stretch.number_or_none("endTextNode"),
        )

    def mark(self) -> ProposedNode:
        return ProposedNode(
            xpath=self.text("xpath"),
            text=self.text("text", ""),
            end_xpath=self.text("end_xpath", ""),
            start=self.number_or_none("start"),
            end=self.number_or_none("end"),
        )


def read_gesture(request: HttpRequest) -> Gesture:
    """Return the gesture that a request reports. Raises BadRequest."""
    if int(request.headers.get("Content-Length") or 0) > MAX_BODY_BYTES:
        raise BadRequest(f"A gesture has at most {MAX_BODY_BYTES:,} bytes.")
    try:
        document = orjson.loads(request.body)
    except orjson.JSONDecodeError:  # also where it is nested too deeply
        raise BadRequest("A gesture is a JSON object.") from None
    return Gesture(document)
