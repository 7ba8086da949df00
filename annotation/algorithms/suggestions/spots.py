"""A page as suggestions look at it: its spots, what other pages show too, and where values stand.

Notation:   A spot is a text node, or an element with more than one of them, or an attribute; a
            value may be a part of it. The kind of a spot is its path without positions, with the
            classes of its elements.
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
from annotation.algorithms.anchors.page_index import PageIndex
from annotation.algorithms.anchors.page_texts import is_within_word
from annotation.algorithms.suggestions.names import label_key, words_of
from clustering.values.displayed import displayed
from clustering.values.recognising import amount_key, date_key, find_typed

MAX_LABEL_CHARS: Final = 40
MAX_SHORT_CHARS: Final = 120  # of a text that is compared with those of other pages
MAX_ELEMENT_CHARS: Final = 5_000  # of an element that may be a value
MAX_AMOUNT_CHARS: Final = 20  # of an element whose texts together are an amount
MAX_SPOTS: Final = 30  # of one value
MAX_NAMES: Final = 20  # of one element
MIN_PART_CHARS: Final = 3  # of a value that is looked for within texts
N_CLASSES: Final = 3  # elements whose classes are part of a kind
OUTER_TAGS: Final = frozenset({"nav", "header", "footer", "aside", "form", "select", "button"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4"})
_NAMING_ATTRIBUTES: Final = (
    "id",
    "itemprop",
    "data-testid",
    "data-test",
    "data-field",
    "name",
    "rel",
)
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


class SpotIndex(PageIndex):
    """A page with its spots, in which values are looked for."""

    def __init__(
        self,
        tree: _Element,
        url: str = "",
        other_prints: Sequence[PagePrint] = (),
        key_path_elements: Sequence[Sequence[_Element]] = (),
    ) -> None:
        super().__init__(tree)
        # Of each key path that the page has, the best first.
        self.key_path_elements = key_path_elements
        self.url = url
        self.other_prints = other_prints
        self.spots = [self.spot_of(node.element, node.number) for node in self.nodes]
        self._kinds: dict[_Element, str] = {}
        self._names: dict[_Element, list[tuple[str, ...]]] = {}

    def spot_of(self, element: _Element, number: int | None = None) -> Spot:
        """Return the spot of a node; an element that shows only that text node stands for it."""
        span = self.texts.span(element, number)
        text = self.texts.whole[span[0] : span[1]] if span else ""
        if number is not None:
            first, after = self.texts.range_by_element.get(element, (0, 0))
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
    def element_spots(self) -> list[Spot]:
        """The elements that show several text nodes, short enough for a value; inner ones first."""
        return [
            self.spot_of(shown.element)
            for shown in self.elements
            if shown.end - shown.start <= MAX_ELEMENT_CHARS
        ]

    def kind_of(self, spot: Spot) -> str:
        """Return the path of a spot without positions, with the classes near it."""
        element = spot.node.element
        kind = self._kinds.get(element)
        if kind is None:
            steps = []
            for depth, ancestor in enumerate([element, *element.iterancestors()]):
                tag = str(ancestor.tag)
                steps.append(f"{tag}.{ancestor.get('class') or ''}" if depth < N_CLASSES else tag)
            kind = self._kinds[element] = "/".join(steps)
        return kind

    def is_template(self, spot: Spot) -> bool:
        """Return whether other pages show the same text there."""
        if not self.other_prints:
            return False
        here = (self.kind_of(spot), spot.text[:MAX_SHORT_CHARS])
        return 2 * sum(here in other.texts for other in self.other_prints) >= len(self.other_prints)

    @cached_property
    def is_template_by_index(self) -> list[bool]:
        return [self.is_template(spot) for spot in self.spots]

    def is_outer(self, spot: Spot) -> bool:
        """Return whether a spot stands in navigation or a frame of the page."""
        return any(ancestor.tag in OUTER_TAGS for ancestor in spot.node.element.iterancestors())

    @cached_property
    def heading(self) -> Spot | None:
        """The heading that names what the page is about, None where none does."""
        return main_heading(self)

    @cached_property
    def index_of_heading(self) -> int:
        """The index of the heading among the spots; 0 where there is none."""
        if self.heading is None:
            return 0
        node = self.heading.node
        return self.index_by_spot.get((node.element, node.number), 0)

    @cached_property
    def page_print(self) -> PagePrint:
        """What other pages of the template compare with."""
        texts = set()
        labels = set()
        for spot in self.spots:
            texts.add((self.kind_of(spot), spot.text[:MAX_SHORT_CHARS]))
            if len(spot.text) <= MAX_LABEL_CHARS:
                labels.add(label_key(spot.text))
            if ":" in spot.text[:MAX_LABEL_CHARS]:
                labels.add(label_key(spot.text.partition(":")[0]))
        return PagePrint(frozenset(texts), frozenset(labels))

    @staticmethod
    def label_of(text: str) -> str:
        """Return a short text as labels are compared; a longer one is none."""
        return label_key(text) if len(text) <= MAX_LABEL_CHARS else ""

    def find(self, value_type: str, value: str) -> list[Spot]:
        """Return where a value is displayed, in any form its type allows; exact forms first."""
        if value_type in {"image", "url"}:
            spots = self._spots_by_address.get(self.address(value), [])
            if spots:
                return spots[:MAX_SPOTS]
        key = _squeezed(value)
        if key and self._spots_by_text.get(key):
            return self._spots_by_text[key][:MAX_SPOTS]
        if value_type in {"price", "number", "rating"}:
            amount = amount_key(value)
            if amount:
                return self._spots_by_amount.get(amount, [])[:MAX_SPOTS]
        if value_type == "date":
            day = date_key(value)
            if day:
                return self._spots_by_day.get(day, [])[:MAX_SPOTS]
        return self._find_part(value)

    def _find_part(self, value: str) -> list[Spot]:
        """Return the parts of texts between word boundaries that are the value.

        Of a long value its beginning is enough: a description is often cut.
        """
        if len(value) < MIN_PART_CHARS:
            return []
        parts = []
        for spot in self.spots:
            start = spot.text.lower().find(value.lower())
            end = start + len(value)
            if start < 0 or is_within_word(spot.text, start) or is_within_word(spot.text, end):
                continue
            parts.append(self.part(spot, start, end))
        if not parts and len(value) > MAX_SHORT_CHARS // 2:
            opening = _squeezed(value)[:50]
            every = (*self.spots, *self.element_spots)
            parts = [s for s in every if _squeezed(s.text[:200]).startswith(opening)]
        return parts[:MAX_SPOTS]

    @cached_property
    def _spots_by_text(self) -> dict[str, list[Spot]]:
        spots: defaultdict[str, list[Spot]] = defaultdict(list)
        for spot in self.spots:
            spots[_squeezed(spot.text)].append(spot)
        for spot in self.element_spots:
            key = _squeezed(spot.text)
            element = spot.node.element
            is_around = any(element in inner.node.element.iterancestors() for inner in spots[key])
            if key and not is_around:
                spots[key].append(spot)
        return spots

    @cached_property
    def _spots_by_amount(self) -> dict[str, list[Spot]]:
        spots: defaultdict[str, list[Spot]] = defaultdict(list)
        short_elements = [s for s in self.element_spots if len(s.text) <= MAX_AMOUNT_CHARS]
        for spot in [*self.spots, *short_elements]:
            if len(spot.text) > MAX_SHORT_CHARS:
                continue
            stretches = find_typed("price", spot.text) or find_typed("number", spot.text)
            for start, end in stretches:
                amount = amount_key(spot.text[start:end])
                part = self.part(spot, start, end)
                if amount and part.key not in {other.key for other in spots[amount]}:
                    spots[amount].append(part)
        return spots

    @cached_property
    def _spots_by_day(self) -> dict[tuple[int, ...], list[Spot]]:
        spots: defaultdict[tuple[int, ...], list[Spot]] = defaultdict(list)
        for spot in self.spots:
            for start, end in find_typed("date", spot.text):
                day = date_key(spot.text[start:end])
                if day:
                    spots[day].append(self.part(spot, start, end))
        return spots

    @cached_property
    def _spots_by_address(self) -> dict[str, list[Spot]]:
        spots: defaultdict[str, list[Spot]] = defaultdict(list)
        for tag, name in _ADDRESSES:
            for element in self.tree.iter(tag):
                value = displayed(element.get(name) or "")
                if value:
                    spots[self.address(value)].append(Spot(PageNode(element, name=name), value))
        return spots

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
        names = self._names.get(element)
        if names is None:
            parent = element.getparent()
            names = [*_names_on(element), *(_names_on(parent) if parent is not None else ())]
            self._names[element] = names
        return names


def _names_on(element: _Element) -> Iterator[tuple[str, ...]]:
    tokens = (element.get("class") or "").split()
    tokens += [element.get(name) or "" for name in _NAMING_ATTRIBUTES]
    for token in tokens[:MAX_NAMES]:
        words = words_of(token[:80])
        if words:
            yield words


def main_heading(page: SpotIndex) -> Spot | None:
    """Return the heading that names the page's subject: one that the title says, or the first.

    Headings that other pages show alike name the site.
    """
    title = _squeezed("".join(page.tree.findtext(".//title") or ""))
    best: Spot | None = None
    best_score = 0.0
    for order, spot in enumerate(_heading_spots(page)):
        if not spot.text or len(spot.text) > 3 * MAX_SHORT_CHARS or page.is_template(spot):
            continue
        key = _squeezed(spot.text)
        level = next(
            (int(element.tag[1]) for element in _around(spot) if element.tag in _HEADINGS), 5
        )
        score = 3.0 if len(key) > 2 and key in title else 0.0
        score += {1: 2.0, 2: 1.0, 3: 0.5}.get(level, 0.0)
        score -= page.is_outer(spot) * 0.8
        score -= order * 0.01
        if best is None or score > best_score:
            best, best_score = spot, score
    return best if best_score >= 1 else None


def _around(spot: Spot) -> list[_Element]:
    return [spot.node.element, *list(spot.node.element.iterancestors())[:2]]


def _heading_spots(page: SpotIndex) -> Iterable[Spot]:
    """Yield headings, then other texts that stand in the page's title, but no links and options."""
    seen = set()
    spots_within: defaultdict[_Element, list[Spot]] = defaultdict(list)
    for spot in page.spots:
        for element in _around(spot):
            if element.tag in _HEADINGS:
                spots_within[element].append(spot)
    for element in page.tree.iter(*sorted(_HEADINGS)):
        spot = page.spot_of(element)
        if spot.text:
            seen.add(_squeezed(spot.text))
            yield next((each for each in spots_within[element] if each.text == spot.text), spot)
    title = _squeezed("".join(page.tree.findtext(".//title") or ""))
    for spot in page.spots:
        key = _squeezed(spot.text)
        is_in_title = len(key) > 3 and key not in seen and key in title
        if is_in_title and spot.node.element.tag not in {"a", "option"}:
            seen.add(key)
            yield spot


def _squeezed(text: str) -> str:
    return "".join(text.lower().split())
