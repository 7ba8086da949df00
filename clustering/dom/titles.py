"""The title of a page, as it is read in a limited child."""

from __future__ import annotations

from clustering.dom.page import parse_page

MAX_TITLE_CHARS = 200


def read_title(body: bytes, content_type: str = "") -> str:
    """Return the title of a page, blank where it has none. Raises PageTooLarge."""
    tree = parse_page(body, content_type).tree
    title = tree.findtext(".//title") if tree is not None else None
    return " ".join((title or "").split())[:MAX_TITLE_CHARS]
