"""Hold on to the node and the text that an annotation means, and find them again.

An anchor names its value several times: by the XPath of its node, by the displayed text itself (the
quote) with what stands before and after it, and by its position in the page's text. Offsets count
characters in the displayed text of the node, see `page_texts`. A value may be a whole node, a part
of its text, an attribute of an element, or run from one node to another.

Comparisons leave out white space where an exact comparison fails. Of several places of a text in
one node the first that stands between word boundaries counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from annotation.algorithms.anchors.node_paths import (
    AnchorProblem,
    PageNode,
    cut,
    listed,
    raw_text,
    select_node,
    select_nodes,
)
from annotation.algorithms.anchors.page_texts import PageTexts, TextNode, is_within_word
from clustering.dom.visible import INVISIBLE_TAGS
from clustering.values.displayed import displayed

CONTEXT_CHARS = 32  # of prefix and suffix
MAX_VALUE_CHARS = 200_000
MAX_OCCURRENCES = 1_000  # of one quote on a page
MAX_CANDIDATES = 200  # nodes of one XPath among which a text may decide

How: TypeAlias = Literal["xpath", "quote", "position"]


class TextElsewhere(AnchorProblem):
    """The node does not show the text that was given with it."""

    def __init__(self, xpath: str, shown: str, text: str) -> None:
        what = f"shows {cut(shown, 80)!r}" if shown else "shows no text"
        super().__init__(f"{cut(xpath)} {what}, not {cut(text, 80)!r}")


class EmptyNode(AnchorProblem):
    """The node shows nothing that could be a value."""

    def __init__(self, node: PageNode) -> None:
        names = ", ".join(f"@{name!s}" for name in list(node.element.attrib)[:8])
        hint = f"; does an attribute hold the value ({names})?" if names and not node.step else ""
        super().__init__(f"{cut(node.xpath)} shows no text{hint}")


class TextMissing(AnchorProblem):
    """No node of the page shows the text."""

    def __init__(self, text: str) -> None:
        super().__init__(f"no node shows {cut(text, 80)!r}")


class AmbiguousText(AnchorProblem):
    """Several nodes show the text; `candidates` are their XPaths."""

    def __init__(self, text: str, nodes: list[PageNode]) -> None:
        self.candidates = [node.xpath for node in nodes[:100]]
        super().__init__(
            f"{len(nodes)} nodes show {cut(text, 80)!r}; give the XPath of one of them: "
            f"{listed(nodes)}"
        )


class AnchorLost(AnchorProblem):
    """Nothing that an anchor names is on the page."""

    def __init__(self, anchor: Anchor) -> None:
        super().__init__(
            f"{cut(anchor.quote, 80)!r} is neither at {cut(anchor.xpath)} nor elsewhere on the page"
        )


@dataclass(frozen=True, slots=True)
class Anchor:
    """A value on a page, named in several ways."""

    xpath: str
    quote: str  # the displayed text
    end_xpath: str = ""  # the node in which the value ends, if it is another one
    start: int | None = None  # offset of the value in its node; None where it begins with the node
    end: int | None = None  # offset behind the value in the node in which it ends; None: at its end
    prefix: str = ""
    suffix: str = ""
    # Of the quote in the page's text; None for attributes and what is not shown.
    position: int | None = None


@dataclass(frozen=True, slots=True)
class ProposedNode:
    """A node, or the part of its text, in which a value is said to stand."""

    xpath: str
    text: str = ""  # the value; blank where it is all that the node shows
    end_xpath: str = ""  # the node in which the value ends, if it is another one
    start: int | None = None  # in the displayed text of the node
    end: int | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "xpath": self.xpath,
            "end_xpath": self.end_xpath,
            "start": self.start,
            "end": self.end,
            "text": self.text,
        }


class ResolvedAnchor(NamedTuple):
    """An anchor as it stands on a page now, and by what it was found."""

    anchor: Anchor
    how: How


class _Stretch(NamedTuple):
    """A part of a node's displayed text."""

    start: int
    end: int


def anchor_node(page: PageTexts, xpath: str, text: str = "", end_xpath: str = "") -> Anchor:
    """Return the anchor of a node, or of the text in it that is the value.

    Where an XPath selects several nodes, the text may decide between them. Raises AnchorProblem.
    """
    text = _checked(text)
    nodes = select_nodes(page.tree, xpath)
    if 1 < len(nodes) <= MAX_CANDIDATES and text:
        showing = [node for node in nodes if displayed_text(page, node) == text]
        nodes = showing or [node for node in nodes if locate(displayed_text(page, node), text)]
    node = nodes[0] if len(nodes) == 1 else select_node(page.tree, xpath)
    if end_xpath and end_xpath != xpath:
        return anchor_run(page, node, select_node(page.tree, end_xpath), text)
    shown = displayed_text(page, node)
    if not shown:
        raise TextElsewhere(xpath, shown, text) if text else EmptyNode(node)
    stretch = locate(shown, text) if text else _Stretch(0, len(shown))
    if stretch is None:
        raise TextElsewhere(xpath, shown, text)
    return anchor_part(page, node, stretch)


def anchor_proposed(page: PageTexts, node: ProposedNode) -> Anchor:
    """Return the anchor of a proposed value. Raises AnchorProblem.

    The offsets hold where the text stands there; else the text decides.
    """
    is_part = node.start is not None or node.end is not None
    if not is_part and not node.end_xpath:
        anchor = anchor_node(page, node.xpath)
        if not node.text or anchor.quote == displayed(node.text):
            return anchor
    elif not node.end_xpath:
        selected = select_node(page.tree, node.xpath)
        shown = displayed_text(page, selected)
        start = node.start or 0
        end = len(shown) if node.end is None else node.end
        if 0 <= start < end <= len(shown) and shown[start:end] == displayed(node.text):
            return anchor_part(page, selected, (start, end))
    return anchor_node(page, node.xpath, node.text, node.end_xpath)


def find_text(page: PageTexts, text: str) -> Anchor:
    """Return the anchor of the only node that shows a text.

    Whole text nodes come first, then whole elements, parts of text nodes at word boundaries,
    attributes and the head, texts that run over several nodes. Raises TextMissing, and
    AmbiguousText where the first of these kinds that has any node has several.
    """
    text = _checked(text)
    if not text:
        raise TextMissing(text)
    for kind in (_whole_texts, _whole_elements, _parts_of_texts, _unseen_values):
        nodes = kind(page, text)
        if len(nodes) > 1:
            raise AmbiguousText(text, nodes)
        if nodes:
            return anchor_node(page, nodes[0].xpath, text)
    runs = _runs(page, text)
    if len(runs) > 1:
        raise AmbiguousText(text, [_node_of(first) for first, _, _ in runs])
    if not runs:
        raise TextMissing(text)
    first, last, _ = runs[0]
    return anchor_run(page, _node_of(first), _node_of(last), text)


def find_again(page: PageTexts, anchor: Anchor) -> ResolvedAnchor:
    """Find an anchor's value on the same page or on a later version of it. Raises AnchorLost."""
    try:
        return ResolvedAnchor(
            anchor_node(page, anchor.xpath, anchor.quote, anchor.end_xpath), "xpath"
        )
    except AnchorProblem:
        pass
    if anchor.position is None:
        return _find_unseen(page, anchor)
    places = list(_places(page.whole, anchor.quote))
    if not places:
        raise AnchorLost(anchor)
    likeness = {place: _likeness(page.whole, place, anchor) for place in places}
    best = max(likeness.values())
    nearest = min(
        (place for place in places if likeness[place] == best),
        key=lambda place: (abs(place - (anchor.position or 0)), place),
    )
    is_decided = len(places) == 1 or (best > 0 and Counter(likeness.values())[best] == 1)
    found_anchor = _anchor_at(page, nearest, anchor)
    return ResolvedAnchor(found_anchor, "quote" if is_decided else "position")


def displayed_text(page: PageTexts, node: PageNode) -> str:
    """Return what a node shows; for an attribute or a script, which show nothing, its text."""
    span = None if node.name else page.span(node.element, node.number)
    if span:
        return page.whole[span[0] : span[1]]
    around = [node.element, *node.element.iterancestors()]
    is_unseen = bool(node.name) or any(element.tag in INVISIBLE_TAGS for element in around)
    return displayed(raw_text(node)) if is_unseen else ""


def locate(shown: str, text: str) -> tuple[int, int] | None:
    """Return where a displayed text stands in a longer one, between word boundaries if it can.

    >>> locate("25 of 5 stars", "5")
    (6, 7)
    """
    place = next(_places(shown, text), None)
    if place is None:
        place = shown.find(text)
    if place >= 0:
        return place, place + len(text)
    return _locate_squeezed(shown, text)


def _locate_squeezed(shown: str, text: str) -> tuple[int, int] | None:
    """Do the same without regard to blanks."""
    offsets = [offset for offset, character in enumerate(shown) if character != " "]
    squeezed = text.replace(" ", "")
    place = shown.replace(" ", "").find(squeezed)
    if place < 0 or not squeezed:
        return None
    return offsets[place], offsets[place + len(squeezed) - 1] + 1


def _checked(text: str) -> str:
    if len(text) > MAX_VALUE_CHARS:
        raise AnchorProblem(f"the text is longer than {MAX_VALUE_CHARS:,} characters")
    return displayed(text)


def anchor_part(page: PageTexts, node: PageNode, stretch: tuple[int, int]) -> Anchor:
    """Return the anchor of a part of a node, or of all of it."""
    shown = displayed_text(page, node)
    start, end = stretch
    span = None if node.name else page.span(node.element, node.number)
    position = span[0] + start if span else None
    return Anchor(
        xpath=node.xpath,
        quote=shown[start:end],
        start=start or (None if end == len(shown) else 0),
        end=None if end == len(shown) else end,
        position=position,
        **context_around(page, position, end - start),
    )


def context_around(page: PageTexts, position: int | None, length: int) -> dict[str, str]:
    if position is None:
        return {}
    after = position + length
    return {
        "prefix": page.whole[max(0, position - CONTEXT_CHARS) : position],
        "suffix": page.whole[after : after + CONTEXT_CHARS],
    }


def anchor_run(page: PageTexts, first: PageNode, last: PageNode, text: str) -> Anchor:
    """Return the anchor of a value that begins in one node and ends in another."""
    first_begin, first_end = _span_of_text(page, first)
    last_begin, last_end = _span_of_text(page, last)
    if first_begin >= last_end:
        raise AnchorProblem(f"{cut(last.xpath)} does not come after {cut(first.xpath)}")
    shown = page.whole[first_begin:last_end]
    stretch = locate(shown, text) if text else (0, len(shown))
    if stretch is None:
        raise TextElsewhere(f"{first.xpath} to {last.xpath}", shown, text)
    start, end = first_begin + stretch[0], first_begin + stretch[1]
    if start >= first_end or end <= last_begin:  # it does not reach into both nodes
        raise TextElsewhere(f"{first.xpath} to {last.xpath}", shown, text)
    return Anchor(
        xpath=first.xpath,
        end_xpath=last.xpath,
        quote=page.whole[start:end],
        start=stretch[0] or None,
        end=None if end == last_end else end - last_begin,
        position=start,
        **context_around(page, start, end - start),
    )


def _span_of_text(page: PageTexts, node: PageNode) -> tuple[int, int]:
    """Return where a node's text stands; raise EmptyNode for an attribute, or if it shows none."""
    span = None if node.name else page.span(node.element, node.number)
    if span is None:
        raise EmptyNode(node)
    return span


def _node_of(text: TextNode) -> PageNode:
    return PageNode(text.element, text.number)


def _whole_texts(page: PageTexts, text: str) -> list[PageNode]:
    squeezed = text.replace(" ", "")
    return [
        _node_of(node)
        for node in page.nodes
        if not node.is_in_head
        and len(squeezed) <= node.end - node.start <= 2 * len(text)
        and page.text_of(node).replace(" ", "") == squeezed
    ]


def _whole_elements(page: PageTexts, text: str) -> list[PageNode]:
    """Return the innermost elements that show the text and nothing else."""
    squeezed = text.replace(" ", "")
    node_by_range: dict[tuple[int, int], PageNode] = {}
    # Inner ones come before outer ones.
    for element, (first, after) in page.range_by_element.items():
        start, end = page.nodes[first].start, page.nodes[after - 1].end
        if (
            not page.nodes[first].is_in_head
            and len(squeezed) <= end - start <= 2 * len(text)
            and page.whole[start:end].replace(" ", "") == squeezed
        ):
            node_by_range.setdefault((first, after), PageNode(element))
    return list(node_by_range.values())


def _parts_of_texts(page: PageTexts, text: str) -> list[PageNode]:
    return [
        _node_of(node)
        for node in page.nodes
        if not node.is_in_head and next(_places(page.text_of(node), text), None) is not None
    ]


def _unseen_values(page: PageTexts, text: str) -> list[PageNode]:
    """Return the attributes whose value is the text, and the texts of the head that are."""
    attributes = []
    for element in page.tree.iter("*"):
        for name, value in element.attrib.items():
            if len(value) >= len(text) and displayed(str(value)) == text:
                attributes.append(PageNode(element, name=str(name)))
    head = [_node_of(node) for node in page.nodes if node.is_in_head and page.text_of(node) == text]
    return attributes + head


def _runs(page: PageTexts, text: str) -> list[tuple[TextNode, TextNode, int]]:
    """Return where a text runs over several text nodes."""
    runs = []
    for place in _places(page.whole, text):
        ends = page.nodes_between(place, place + len(text))
        if ends is not None and ends[0] is not ends[1] and not ends[0].is_in_head:
            runs.append((*ends, place))
    return runs


def _find_unseen(page: PageTexts, anchor: Anchor) -> ResolvedAnchor:
    """Find the value of an attribute, or of a text that is not shown, at another element."""
    name = anchor.xpath.rpartition("/@")[2] if "/@" in anchor.xpath else ""
    nodes = [node for node in _unseen_values(page, anchor.quote) if node.name == name]
    if len(nodes) != 1:
        raise AnchorLost(anchor)
    return ResolvedAnchor(anchor_node(page, nodes[0].xpath, anchor.quote), "quote")


def _anchor_at(page: PageTexts, place: int, anchor: Anchor) -> Anchor:
    """Return the anchor of a quote at a place of the text, of its former kind if possible."""
    ends = page.nodes_between(place, place + len(anchor.quote))
    if ends is None:
        raise AnchorLost(anchor)
    first, last = ends
    if "/text()" not in anchor.xpath and not anchor.end_xpath:
        spans = ((element, page.span(element)) for element in page.range_by_element)
        whole = next(
            (element for element, span in spans if span == (place, place + len(anchor.quote))), None
        )
        if whole is not None:
            return anchor_node(page, PageNode(whole).xpath)
    if first is not last:
        return anchor_run(page, _node_of(first), _node_of(last), anchor.quote)
    start = place - first.start
    return anchor_part(page, _node_of(first), (start, start + len(anchor.quote)))


def _likeness(whole: str, place: int, anchor: Anchor) -> int:
    """Return how many characters around a place are those that stood around the anchor."""
    before = whole[max(0, place - CONTEXT_CHARS) : place]
    after = whole[place + len(anchor.quote) :][:CONTEXT_CHARS]
    return _n_common(before[::-1], anchor.prefix[::-1]) + _n_common(after, anchor.suffix)


def _n_common(text: str, other_text: str) -> int:
    pairs = zip(text, other_text, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other_text)))


def _places(whole: str, text: str) -> Iterator[int]:
    """Yield where a text stands between word boundaries."""
    place, n_found = whole.find(text), 0
    while place >= 0 and text and n_found < MAX_OCCURRENCES:
        end = place + len(text)
        if not (is_within_word(whole, place) or is_within_word(whole, end)):
            yield place
            n_found += 1
        place = whole.find(text, place + 1)
