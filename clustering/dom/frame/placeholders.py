"""What stands in the frame for an image or another box whose content is not shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from lxml.etree import _Element

from clustering.dom.frame.markup import SVG

LAZY_SOURCES: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-image")
MAX_SIDE: Final = 4_000  # pixels of a placeholder
DEFAULT_SIZE: Final = (96, 72)
_NUMBER: Final = re.compile(r"\s*+([0-9]{1,5})(?:\.[0-9]*+)?\s*+(?:px\s*+)?\Z")


def image_source(element: _Element) -> str:
    """Return the address of an image as it is written, also where a script was to fill it in."""
    source = str(element.get("src", "")).strip()
    if not source or source.startswith("data:"):
        lazy_sources = (str(element.get(name, "")).strip() for name in LAZY_SOURCES)
        addresses = (lazy for lazy in lazy_sources if lazy and not lazy.startswith("{"))
        source = next(addresses, source)
    if not source:
        srcset = str(element.get("srcset", "") or element.get("data-srcset", ""))
        source = next(_addresses_in(srcset), "")
    return source


def placeholder(element: _Element) -> str:
    """Return a grey box of the size that an image was to have."""
    width, height = _pixels(element.get("width")), _pixels(element.get("height"))
    if width is None and height is None:
        width, height = DEFAULT_SIZE
    if width is None:
        width = round((height or 1) * 4 / 3)
    if height is None:
        height = round((width or 1) * 3 / 4)
    drawing = (
        f'<svg xmlns="{SVG}" width="{width}" height="{height}">'
        '<rect width="100%" height="100%" fill="#e4e5ec"/>'
        f'<path d="M0 0L{width} {height}M{width} 0L0 {height}" stroke="#cdcfd9" '
        'vector-effect="non-scaling-stroke"/></svg>'
    )
    return "data:image/svg+xml," + quote(drawing, safe=" =:/'")


def _addresses_in(srcset: str) -> Iterator[str]:
    for part in re.split(r",\s+", srcset):
        address = part.strip().partition(" ")[0].rstrip(",")
        if address:
            yield address


def _pixels(written: str | None) -> int | None:
    """Return a length that an attribute gives, None where it gives none or 0."""
    number = _NUMBER.match(written or "")
    if number is None or int(number[1]) == 0:
        return None
    return min(int(number[1]), MAX_SIDE)


def box_size(element: _Element) -> str:
    """Return the size of what is not shown, for the base sheet; the page's rules win."""
    declarations = ""
    for side in ("width", "height"):
        size = str(element.get(side, "")).strip()
        if re.fullmatch(r"[0-9]{1,4}%?", size):
            unit = "" if size.endswith("%") else "px"
            declarations += f"--vertex-{side}:{size}{unit};"
    return declarations
