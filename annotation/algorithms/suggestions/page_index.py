"""A page as suggestions look at it: its spots, what is the same on other pages, and where values stand.

Notation:   A spot is a text node, or an element with more than one of them, or an attribute; a value may be
            a part of it. The kind of a spot is its path without positions, with the classes of its
            elements.
Readings:   A text that stands at the same kind of spot on at least half of the other pages is the
            template's.
Cost:       One walk over the page; a look at one dictionary for each value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from lxml.etree import _Element

from annotation.algorithms.anchors.node_paths import PageNode
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from annotation.algorithms.suggestions.names import label_key, words_of
from annotation.algorithms.suggestions.value_types import amount_of, date_key, find_typed
from clustering.values.displayed import displayed

LONGEST_LABEL: Final = 40
LONGEST_SHORT: Final = 120
MOST_PLACES: Final = 30  # of one value
OUTER: Final = frozenset({"nav", "header", "footer", "aside", "form", "select", "button"})
_NAMING: Final = ("id", "itemprop", "data-testid", "data-test", "data-field", "name", "rel")
_ADDRESSES: Final = (("img", "src"), ("img", "data-src"), ("a", "href"), ("source", "srcset"))


class Spot(NamedTuple):
    """A value where it stands."""

    node: PageNode
    text: str  # the value as it is displayed there
    start: int | None = None  # of the value in its node; None where it is all of it
    end: int | None = None

    @property
    def key(self) -> tuple[_Element, int | None, str, int | None]:
        return self.node.element, self.node.number, self.node.name, self.start


@dataclass(frozen=True, slots=True)
class PagePrint:
    """What is kept of another page of the template, to compare with."""

    texts: frozenset[tuple[str, str]]  # kinds of spots with their texts
    labels: frozenset[str]
    declared: frozenset[str] = frozenset()


class PageIndex:
    """A page with its spots, in which values are looked for."""

    def __init__(self, tree: _Element, url: str = "", others: Sequence[PagePrint] = ()) -> None:
        self.tree = tree
        self.url = url
        self.others = others
        self.page: PageTexts = read_texts(tree)
        self.spots: list[Spot] = [
            self.spot_of(node.element, node.number)
            for node in self.page.nodes
            if not node.is_in_head
        ]
        self._kinds: dict[_Element, str] = {}
        self._names: dict[_Element, list[tuple[str, ...]]] = {}

    def spot_of(self, element: _Element, number: int | None = None) -> Spot:
        """Return the spot of a node; an element that shows one text node and no more stands for it."""
        bounds = self.page.span(element, number)
        text = self.page.whole[bounds[0] : bounds[1]] if bounds else ""
        if number is not None:
            first, after = self.page.range_by_element.get(element, (0, 0))
            if after - first == 1:
                return Spot(PageNode(element), text)
        return Spot(PageNode(element, number), text)

    def part(self, spot: Spot, start: int, end: int) -> Spot:
        """Return a part of a spot's text."""
        text = spot.text[start:end]
        if text == spot.text:
            return spot
        return Spot(spot.node, text, start or (None if end == len(spot.text) else 0), end)

    @cached_property
    def index_by_spot(self) -> dict[tuple[_Element, int | None], int]:
        return {(spot.node.element, spot.node.number): n for n, spot in enumerate(self.spots)}

    @cached_property
    def elements(self) -> list[Spot]:
        """The elements that show several text nodes, short enough for a value; inner ones first."""
        found = []
        for element, (first, after) in self.page.range_by_element.items():
            length = self.page.nodes[after - 1].end - self.page.nodes[first].start
            if after - first > 1 and not self.page.nodes[first].is_in_head and length <= 5_000:
                found.append(self.spot_of(element))
        return found

    def kind_of(self, spot: Spot) -> str:
        """Return the path of a spot without positions, with the classes near it."""
        element = spot.node.element
        kind = self._kinds.get(element)
        if kind is None:
            chain = [element, *element.iterancestors()]
            kind = "/".join(
                f"{one.tag}.{one.get('class') or ''}" if n < 3 else str(one.tag)
                for n, one in enumerate(chain)
            )
            self._kinds[element] = kind
        return kind

    def is_template(self, spot: Spot) -> bool:
        """Say whether other pages show the same text there."""
        if not self.others:
            return False
        here = (self.kind_of(spot), spot.text[:LONGEST_SHORT])
        return 2 * sum(here in other.texts for other in self.others) >= len(self.others)

    @cached_property
    def is_template_by_index(self) -> list[bool]:
        return [self.is_template(spot) for spot in self.spots]

    def is_outer(self, spot: Spot) -> bool:
        """Say whether a spot stands in navigation or a frame of the page."""
        return any(one.tag in OUTER for one in spot.node.element.iterancestors())

    @cached_property
    def heading(self) -> Spot | None:
        """The heading that names what the page is about, None where none does."""
        return main_heading(self)

    def print(self) -> PagePrint:
        """Return what other pages of the template compare with."""
        texts = frozenset((self.kind_of(spot), spot.text[:LONGEST_SHORT]) for spot in self.spots)
        labels = frozenset(label_key(s.text) for s in self.spots if len(s.text) <= LONGEST_LABEL)
        openings = frozenset(
            label_key(s.text.partition(":")[0]) for s in self.spots if ":" in s.text[:LONGEST_LABEL]
        )
        return PagePrint(texts, labels | openings)

    @cached_property
    def own_print(self) -> PagePrint:
        return self.print()

    @staticmethod
    def label_of(text: str) -> str:
        """Return a short text as labels are compared; a longer one is none."""
        return label_key(text) if len(text) <= LONGEST_LABEL else ""

    def find(self, kind: str, value: str) -> list[Spot]:
        """Return where a value is displayed, in whatever form its type allows; exact forms first."""
        if kind in {"image", "url"} and (found := self._find_address(value)):
            return found
        key = _squeezed(value)
        exact = self._spots_by_text.get(key, []) if key else []
        if exact:
            return exact[:MOST_PLACES]
        if kind in {"price", "number", "rating"} and (amount := amount_of(value)):
            return self._spots_by_amount.get(amount, [])[:MOST_PLACES]
        if kind == "date" and (day := date_key(value)):
            return self._spots_by_day.get(day, [])[:MOST_PLACES]
        return self._find_part(value)

    def _find_part(self, value: str) -> list[Spot]:
        """Return the parts of texts between word boundaries that are the value."""
        if len(value) < 3:
            return []
        found = []
        for spot in self.spots:
            at = spot.text.lower().find(value.lower())
            if at >= 0 and not _joins(spot.text, at) and not _joins(spot.text, at + len(value)):
                found.append(self.part(spot, at, at + len(value)))
        if not found and len(value) > LONGEST_SHORT // 2:  # a description is often cut
            start = _squeezed(value)[:50]
            found = [
                s
                for s in (*self.spots, *self.elements)
                if _squeezed(s.text[:200]).startswith(start)
            ]
        return found[:MOST_PLACES]

    @cached_property
    def _spots_by_text(self) -> dict[str, list[Spot]]:
        found: dict[str, list[Spot]] = defaultdict(list)
        for spot in self.spots:
            found[_squeezed(spot.text)].append(spot)
        for spot in self.elements:
            key = _squeezed(spot.text)
            if key and not any(
                spot.node.element in other.node.element.iterancestors() for other in found[key]
            ):
                found[key].append(spot)
        return found

    @cached_property
    def _spots_by_amount(self) -> dict[str, list[Spot]]:
        found: dict[str, list[Spot]] = defaultdict(list)
        for spot in [*self.spots, *(s for s in self.elements if len(s.text) <= 20)]:
            if len(spot.text) > LONGEST_SHORT:
                continue
            for kind in ("price", "number"):
                places = find_typed(kind, spot.text)
                for start, end in places:
                    amount = amount_of(spot.text[start:end])
                    part = self.part(spot, start, end)
                    if amount and part.key not in {other.key for other in found[amount]}:
                        found[amount].append(part)
                if places:
                    break
        return found

    @cached_property
    def _spots_by_day(self) -> dict[tuple[int, ...], list[Spot]]:
        found: dict[tuple[int, ...], list[Spot]] = defaultdict(list)
        for spot in self.spots:
            for start, end in find_typed("date", spot.text):
                if day := date_key(spot.text[start:end]):
                    found[day].append(self.part(spot, start, end))
        return found

    def _find_address(self, value: str) -> list[Spot]:
        wanted = self.address(value)
        return self._spots_by_address.get(wanted, [])[:MOST_PLACES]

    @cached_property
    def _spots_by_address(self) -> dict[str, list[Spot]]:
        found: dict[str, list[Spot]] = defaultdict(list)
        for tag, name in _ADDRESSES:
            for element in self.tree.iter(tag):
                if value := displayed(element.get(name) or ""):
                    found[self.address(value)].append(Spot(PageNode(element, name=name), value))
        return found

    def address(self, value: str) -> str:
        """Return what two ways to write an address share: its host and path."""
        try:
            parts = urlsplit(urljoin(self.url, value.strip()))
        except ValueError:
            return value
        return f"{parts.netloc.removeprefix('www.')}{parts.path}?{parts.query}"

    def names_of(self, spot: Spot) -> list[tuple[str, ...]]:
        """Return the words of the class, the id and the like at a spot, the nearest first."""
        element = spot.node.element
        found = self._names.get(element)
        if found is None:
            parent = element.getparent()
            around = [element] if parent is None else [element, parent]
            found = self._names[element] = [words for one in around for words in _names_on(one)]
        return found


def _names_on(element: _Element) -> Iterator[tuple[str, ...]]:
    tokens = [*(element.get("class") or "").split(), *(element.get(name) or "" for name in _NAMING)]
    for token in tokens[:20]:
        if words := words_of(token[:80]):
            yield words


def main_heading(page: PageIndex) -> Spot | None:
    """Return the heading that names what the page is about: one that the page's title says, or the first.

    Headings that other pages show alike name the site.
    """
    title = _squeezed("".join(page.tree.findtext(".//title") or ""))
    candidates: list[tuple[float, int, Spot]] = []
    for order, spot in enumerate(_heading_spots(page)):
        if not spot.text or len(spot.text) > 3 * LONGEST_SHORT or page.is_template(spot):
            continue
        key = _squeezed(spot.text)
        level = next((int(one.tag[1]) for one in _around(spot) if one.tag in _HEADINGS), 5)
        said = 3.0 if len(key) > 2 and key in title else 0.0
        shape = {1: 2.0, 2: 1.0, 3: 0.5}.get(level, 0.0)
        candidates.append((said + shape - page.is_outer(spot) * 0.8 - order * 0.01, -order, spot))
    best = max(candidates, key=lambda one: one[:2], default=None)
    return best[2] if best and best[0] >= 1 else None


_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4"})


def _around(spot: Spot) -> list[_Element]:
    return [spot.node.element, *list(spot.node.element.iterancestors())[:2]]


def _heading_spots(page: PageIndex) -> Iterable[Spot]:
    """Yield headings; then short texts that begin the page's title, where a page has no heading elements."""
    seen = set()
    for element in page.tree.iter(*sorted(_HEADINGS)):
        spot = page.spot_of(element)
        if spot.text:
            seen.add(_squeezed(spot.text))
            alone = [s for s in page.spots if s.text == spot.text and element in _around(s)]
            yield alone[0] if alone else spot
    title = _squeezed("".join(page.tree.findtext(".//title") or ""))
    for spot in page.spots:
        key = _squeezed(spot.text)
        if (
            len(key) > 3
            and key not in seen
            and key in title
            and spot.node.element.tag not in {"a", "option"}
        ):
            seen.add(key)
            yield spot


def _squeezed(text: str) -> str:
    return "".join(text.lower().split())


def _joins(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()
