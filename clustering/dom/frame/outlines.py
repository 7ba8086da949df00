"""Draw the outline of a page: boxes where headings, texts, pictures, tables and lists stand.

The drawing is made of numbers alone. Nothing that a page says, neither its words nor its
attributes, gets into it, so that it is safe to show whatever the page holds. It is not the layout
of a browser: blocks stand one below the other, text takes the room of its characters, and what a
style sheet puts side by side is not known. Pages of one template look alike in it, pages of another
do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element

from clustering.dom.page import parse_page
from clustering.dom.visible import INVISIBLE_TAGS

WIDTH, HEIGHT = 320, 240
PAGE_MARGIN = 12
MAX_ELEMENTS = 20_000  # looked at; a page of one huge tag ends here
MAX_CHILDREN = 200  # looked at, to decide what an element is
MAX_BOXES = 400  # drawn
MAX_INDENTS = 6
CHARACTERS_PER_LINE = 60
MAX_LINES = 3  # of one text
LINE, GAP = 4, 4  # heights
MIN_CELLS, MAX_CELLS = 3, 12  # of a grid
CELLS_PER_ROW = 4
MAX_LINKS_IN_STRIP = 14
PLACE_HEIGHT = 80  # of the part around one element
LIT = "#b45309"

HEADING_HEIGHTS = {"h1": 12, "h2": 9, "h3": 7, "h4": 6, "h5": 6, "h6": 6}
PICTURE_HEIGHTS = {
    "img": 44,
    "picture": 44,
    "svg": 20,
    "video": 70,
    "canvas": 60,
    "iframe": 60,
    "object": 60,
}
CONTROLS = {"input", "button", "select", "textarea"}
NOT_DRAWN = INVISIBLE_TAGS | {"head", "link", "meta", "title"}
CELLS = {"li", "div", "article", "a", "section", "figure"}  # what a grid may be made of
INDENTED = {"ul", "ol", "dl", "table", "aside", "blockquote"}
FRAMES = {"header", "nav", "footer"}  # what all pages of a site have around them
FRAME_WORDS = ("cookie", "consent", "menu", "navbar", "breadcrumb", "footer")
_INLINE = """a abbr b bdi bdo br cite code data dfn em font i kbd label mark q s samp small span
    strong sub sup time tt u var wbr"""
INLINE = frozenset(_INLINE.split())
FILLS = {
    "heading": "#3c3d47",
    "text": "#b9bac4",
    "link": "#8d95ee",
    "picture": "#dfe1ea",
    "control": "#ffffff",
    "cell": "#d3d4dd",
    "frame": "#e9eaf0",
}


class Box(NamedTuple):
    """A rectangle of the outline."""

    kind: str
    x: float
    y: float
    width: float
    height: float


class OutlinePiece(NamedTuple):
    """Something that a page shows, before it is placed on the sheet."""

    kind: str
    indent: float
    height: float
    n: int  # characters, cells or links


def draw_outline(body: bytes, content_type: str = "") -> str:
    """Return an SVG that shows what a page is made of, a blank sheet where it has nothing.

    Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    boxes = list(_boxes(tree)) if tree is not None else []
    drawn = "".join(map(_rectangle, boxes))
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {size}>'
        f'<rect {size} fill="#ffffff"/>{drawn}</svg>'
    )


def draw_place(body: bytes, content_type: str, number: int) -> str:
    """Return an SVG of what stands around a numbered element, lit; blank where it is not drawn.

    Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    lit = next(islice(tree.iter(etree.Element), number, None), None) if tree is not None else None
    if tree is None or lit is None:
        return ""
    around = {lit, *lit.iterancestors(), *lit.iterdescendants()}
    y: float = PAGE_MARGIN
    boxes: list[Box] = []
    lit_box: Box | None = None
    for element, piece in _pieces(tree):
        placed = list(_placed(piece, y))
        if lit_box is None and placed and element in around:
            lit_box = _around_all(placed)
        if lit_box is not None and y > lit_box.y + PLACE_HEIGHT:
            break
        boxes += placed
        y = max([y, *(box.y + box.height for box in placed)]) + GAP
    if lit_box is None:
        return ""
    top = max(0, lit_box.y + lit_box.height / 2 - PLACE_HEIGHT / 2)
    shown = [box for box in boxes if top - PLACE_HEIGHT < box.y < top + PLACE_HEIGHT]
    drawn = "".join(map(_rectangle, shown[:MAX_BOXES]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top:.0f} {WIDTH} {PLACE_HEIGHT}" '
        f'width="{WIDTH}" height="{PLACE_HEIGHT}">'
        f'<rect y="{top:.0f}" width="{WIDTH}" height="{PLACE_HEIGHT}" fill="#ffffff"/>{drawn}'
        f'<rect x="{lit_box.x - 3:.0f}" y="{lit_box.y - 3:.0f}" width="{lit_box.width + 6:.0f}" '
        f'height="{lit_box.height + 6:.0f}" rx="2" fill="none" stroke="{LIT}" '
        'stroke-width="2"/></svg>'
    )


def _around_all(boxes: Sequence[Box]) -> Box:
    """Return the rectangle around boxes."""
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right = max(box.x + box.width for box in boxes)
    bottom = max(box.y + box.height for box in boxes)
    return Box(boxes[0].kind, left, top, right - left, bottom - top)


def _rectangle(box: Box) -> str:
    edge = ' stroke="#8b8c99"' if box.kind == "control" else ""
    return (
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" '
        f'rx="1" fill="{FILLS[box.kind]}"{edge}/>'
    )


def _boxes(tree: _Element) -> Iterator[Box]:
    """Yield what stands on the sheet, from above, until it is full."""
    y: float = PAGE_MARGIN
    n_boxes = 0
    for _, piece in _pieces(tree):
        for box in _placed(piece, y):
            if n_boxes == MAX_BOXES or box.y + box.height > HEIGHT - PAGE_MARGIN / 2:
                return
            yield box
            n_boxes += 1
            y = max(y, box.y + box.height)
        y += GAP


def _placed(piece: OutlinePiece, y: float) -> Iterator[Box]:
    """Yield the boxes of one piece: a text of several lines, a row of cells, a grid of pictures."""
    kind, indent, height, n = piece
    left = PAGE_MARGIN + indent
    room = WIDTH - PAGE_MARGIN - left
    if kind == "row":
        width = room / n
        for cell in range(n):
            yield Box("cell", left + cell * width, y, max(1, width - 3), LINE + 1)
    elif kind == "strip":
        for link in range(min(n, MAX_LINKS_IN_STRIP)):
            yield Box("frame", PAGE_MARGIN + link * 21, y, 17, LINE)
    elif kind == "grid":
        yield from _grid(left, y, room, n)
    elif kind in {"text", "link", "heading"}:
        yield from _lines(piece, left, y, room)
    elif kind == "picture":
        yield Box(kind, left, y, min(room, 1.6 * height), height)
    else:
        yield Box(kind, left, y, min(room, 90), height)


def _lines(piece: OutlinePiece, left: float, y: float, room: float) -> Iterator[Box]:
    """Yield the lines of a text; a heading is one line of larger characters."""
    kind, _, height, n = piece
    if kind == "heading":
        share = min(1.0, 2 * min(1.0, n / CHARACTERS_PER_LINE))
        yield Box(kind, left, y, max(6, room * share), height)
        return
    for line in range(min(MAX_LINES, 1 + n // CHARACTERS_PER_LINE)):
        n_left = n - line * CHARACTERS_PER_LINE
        share = max(0.0, min(1.0, n_left / CHARACTERS_PER_LINE))
        yield Box(kind, left, y + line * (height + 2), max(6, room * share), height)


def _grid(left: float, y: float, room: float, n: int) -> Iterator[Box]:
    """Yield the cells of a grid: a picture, a link and a text each."""
    width = room / CELLS_PER_ROW
    for cell in range(min(n, MAX_CELLS)):
        x, top = left + cell % CELLS_PER_ROW * width, y + cell // CELLS_PER_ROW * 52
        yield Box("picture", x, top, width - 8, 34)
        yield Box("link", x, top + 38, 0.7 * width, LINE)
        yield Box("text", x, top + 44, 0.4 * width, LINE)


def _pieces(tree: _Element) -> Iterator[tuple[_Element, OutlinePiece]]:
    """Yield what a page shows, in its order, each with the element that shows it."""
    waiting: deque[tuple[_Element, int]] = deque([(tree, 0)])
    for _ in range(MAX_ELEMENTS):
        if not waiting:
            return
        element, depth = waiting.popleft()
        tag = element.tag
        if not isinstance(tag, str) or tag in NOT_DRAWN:
            continue
        piece, goes_inside = _piece(element, tag, depth)
        if piece is not None:
            yield element, piece
        if goes_inside:
            inner = depth + (tag in INDENTED)
            children = list(islice(element, MAX_ELEMENTS))
            waiting.extendleft((child, inner) for child in reversed(children))


def _piece(element: _Element, tag: str, depth: int) -> tuple[OutlinePiece | None, bool]:
    """Return what one element draws, and whether what it holds is drawn too."""
    indent = 8.0 * min(depth, MAX_INDENTS)
    whole = _whole_piece(element, tag, indent)
    if whole is not None:
        return whole, False
    if tag == "tr":
        return None, False
    if tag not in INLINE and not _has_own_words(element):
        return None, True
    children = islice(element, MAX_CHILDREN)
    has_picture = any(child.tag in PICTURE_HEIGHTS for child in children)
    n_characters = _length(element)
    if n_characters == 0:
        return None, has_picture
    kind = "link" if tag == "a" else "text"
    return OutlinePiece(kind, indent, LINE, n_characters), has_picture


def _whole_piece(element: _Element, tag: str, indent: float) -> OutlinePiece | None:
    """Return the piece of an element that is drawn as one, whatever it holds."""
    if _is_frame(element, tag):
        n_links = sum(1 for _ in islice(element.iter("a"), MAX_LINKS_IN_STRIP))
        return OutlinePiece("strip", 0, LINE, max(2, n_links))
    if tag in HEADING_HEIGHTS:
        return OutlinePiece("heading", indent, HEADING_HEIGHTS[tag], max(4, _length(element)))
    if tag in PICTURE_HEIGHTS:
        return OutlinePiece("picture", indent, PICTURE_HEIGHTS[tag], 0)
    if tag in CONTROLS:
        return OutlinePiece("control", indent, 9, 0)
    if tag == "tr":
        n_cells = sum(1 for child in element if child.tag in {"td", "th"})
        if n_cells:
            return OutlinePiece("row", indent, LINE, min(n_cells, MAX_CELLS))
    n_cells = _n_grid_cells(element)
    return OutlinePiece("grid", indent, LINE, n_cells) if n_cells >= MIN_CELLS else None


def _is_frame(element: _Element, tag: str) -> bool:
    """Return whether an element is what the pages of a site have around them, such as a menu."""
    if tag in FRAMES:
        return True
    if tag in {"html", "body", "main"}:
        return False
    named = f"{element.get('class', '')} {element.get('id', '')}"[:200].lower()
    return any(word in named for word in FRAME_WORDS)


def _n_grid_cells(element: _Element) -> int:
    """Return how many children are cells of a grid: of the first one's tag, with a picture."""
    if len(element) < MIN_CELLS:
        return 0
    tag = element[0].tag
    if tag not in CELLS:
        return 0
    children = islice(element, 2 * MAX_CELLS)
    return sum(1 for child in children if child.tag == tag and child.find(".//img") is not None)


def _has_own_words(element: _Element) -> bool:
    """Return whether an element has words of its own between its children, as a paragraph has."""
    if element.text and element.text.strip():
        return True
    return any(child.tail and child.tail.strip() for child in islice(element, MAX_CHILDREN))


def _length(element: _Element) -> int:
    """Return how many characters an element shows, as far as they decide its size."""
    total = 0
    for text in element.itertext():
        total += len(text.strip())
        if total > MAX_LINES * CHARACTERS_PER_LINE:
            break
    return total
