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
_NUMBER: Final = re.compile(r"\s*([0-9]{1,5})(?:\.[0-9]*)?\s*(?:px)?\s*\Z")


def image_source(element: _Element) -> str:
    """Return the address of an image as it is written, also where a script was to fill it in."""
    source = str(element.get("src", "")).strip()
    lazy = (str(element.get(name, "")).strip() for name in LAZY_SOURCES)
    if not source or source.startswith("data:"):
        source = next((one for one in lazy if one and not one.startswith("{")), source)
    if not source:
        source = next(
            _candidates(str(element.get("srcset", "") or element.get("data-srcset", ""))), ""
        )
    return source


def placeholder(element: _Element) -> str:
    """Return a grey box of the size that an image was to have."""
    width, height = (_pixels(element.get(side)) for side in ("width", "height"))
    if width is None and height is None:
        width, height = DEFAULT_SIZE
    wide, high = width or round((height or 1) * 4 / 3), height or round((width or 1) * 3 / 4)
    drawing = (
        f'<svg xmlns="{SVG}" width="{wide}" height="{high}">'
        '<rect width="100%" height="100%" fill="#e4e5ec"/>'
        '<path d="M0 0L100 100M100 0L0 100" stroke="#cdcfd9" vector-effect="non-scaling-stroke"/></svg>'
    ).replace('d="M0 0L100 100M100 0L0 100"', f'd="M0 0L{wide} {high}M{wide} 0L0 {high}"')
    return "data:image/svg+xml," + quote(drawing, safe=" =:/'")


def _candidates(srcset: str) -> Iterator[str]:
    for part in re.split(r",\s+", srcset):
        address = part.strip().partition(" ")[0].rstrip(",")
        if address:
            yield address


def _pixels(written: str | None) -> int | None:
    found = _NUMBER.match(written or "")
    return min(int(found[1]), MAX_SIDE) if found and int(found[1]) else None


def box_size(element: _Element) -> str:
    """Return the size of what is not shown, for the base sheet; the page's own rules come before it."""
    sides = (("--vertex-width", "width"), ("--vertex-height", "height"))
    sizes = ((name, str(element.get(side, "")).strip()) for name, side in sides)
    return "".join(
        f"{name}:{size if size.endswith('%') else f'{size}px'};"
        for name, size in sizes
        if re.fullmatch(r"[0-9]{1,4}%?", size)
    )
