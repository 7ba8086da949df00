"""Learn how far a record goes on behind the element that begins it, and collect its elements.

Readings:   Elements behind the first one are like those of the annotated records: of their tags. Where a tag
            is also that of an element between or behind the records, its classes must tell the two apart;
            where they do not, a record has no more elements than the longest annotated one.
Cost:       Linear in the records and the siblings between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element

from rules.algorithms.learning.targets import AnnotatedPage
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Boundary
from rules.algorithms.rule.xpaths import any_of
from rules.algorithms.stylesheet.fast_paths import element_test

MOST_ELEMENTS: Final = 400  # of a record
MOST_BEHIND: Final = 10  # elements behind a record that are no part of it
MOST_CLASSES: Final = 3


@dataclass(slots=True)
class _Seen:
    """The elements of a tag in records behind the first, and those of it that belong to none."""

    own: list[_Element] = field(default_factory=list)
    strangers: list[_Element] = field(default_factory=list)


def with_run(
    boundary: Boundary | None, pages: Iterable[AnnotatedPage], *, has_text: bool = False
) -> Boundary | None:
    """Return a boundary with what is known of the elements behind the first, from the annotated pages."""
    if boundary is None:
        return None
    records = [_elements_of(page, record) for page in pages for record in page.records]
    longest = max(map(len, records), default=1)
    if longest <= 1:
        return replace(boundary, n_siblings=1, has_text=has_text)
    seen = _seen_in([record for record in records if record])
    kinds = [(_kind(tag, one), one) for tag, one in seen.items() if one.own]
    is_told = all(not one.strangers or len(kind) > 1 for kind, one in kinds)
    return Boundary(
        boundary.first,
        MOST_ELEMENTS if is_told else longest,
        tuple(kind for kind, _ in kinds),
        has_text,
    )


def run_of(first: _Element, boundary: Boundary) -> list[_Element]:
    """Return the elements of the record that an element begins."""
    run = [first]
    if boundary.n_siblings == 1:
        return run
    is_first = etree.XPath(f"boolean({element_test(boundary.first.features)})", regexp=False)
    kinds = (
        any_of(element_test(kind) for kind in boundary.further) if boundary.further else "true()"
    )
    is_own = etree.XPath(f"boolean({kinds})", regexp=False)
    for element in first.itersiblings("*"):
        if len(run) >= boundary.n_siblings or is_first(element) or not is_own(element):
            break
        run.append(element)
    return run


def _elements_of(page: AnnotatedPage, record: Sequence[Any]) -> list[_Element]:
    """Return the elements of a record; none where one of them is not on the page."""
    found: list[_Element] = []
    for node in record:
        selected: Any = page.tree.xpath(node) if isinstance(node, str) else [node]
        if not selected:
            return []
        found.append(selected[0])
    return found


def _seen_in(records: Sequence[Sequence[_Element]]) -> dict[str, _Seen]:
    seen: dict[str, _Seen] = {}
    taken = {element for record in records for element in record}
    for record in records:
        for element in record[1:]:
            seen.setdefault(str(element.tag), _Seen()).own.append(element)
        for number, element in enumerate(record[-1].itersiblings("*")):
            if element in taken or number == MOST_BEHIND:
                break
            seen.setdefault(str(element.tag), _Seen()).strangers.append(element)
    return seen


def _kind(tag: str, seen: _Seen) -> tuple[Feature, ...]:
    """Return what elements of a tag are like, as far as it takes to tell them from strangers."""
    by_tag = Feature("tag", 0, (tag,))
    if not seen.strangers:
        return (by_tag,)
    of_strangers = {word for one in seen.strangers for word in _words(one)}
    shared = set.intersection(*(set(_words(one)) for one in seen.own)) - of_strangers
    if shared:
        return (by_tag, Feature("token", 0, (min(shared),)))
    classes = {str(one.get("class") or "") for one in seen.own}
    others = {str(one.get("class") or "") for one in seen.strangers}
    if "" not in classes and len(classes) <= MOST_CLASSES and not classes & others:
        return (by_tag, Feature("class", 0, tuple(sorted(classes))))
    return (by_tag,)


def _words(element: _Element) -> list[str]:
    return str(element.get("class") or "").split()
