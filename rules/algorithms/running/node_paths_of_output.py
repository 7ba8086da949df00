"""Turn the places that a stylesheet tells into XPaths as people write them.

A stylesheet tells a place by counting: `/*[1]/*[2]/text()[1]`. Here it becomes `/html/body/text()[1]`, which
selects the same node of the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml.etree import _Element

from clustering.dom.paths import element_paths

_PLACE = re.compile(r"((?:/\*\[\d+\])+)(/text\(\)\[\d+\]|/@[^/\[\]]+)?")
_NUMBER = re.compile(r"\d+")


def page_paths(tree: _Element, places: Iterable[str]) -> dict[str, str]:
    """Return the XPath of each place; a place that the tree lacks is left out."""
    elements: dict[str, _Element] = {}
    wanted: list[tuple[str, str, str]] = []
    for place in dict.fromkeys(places):
        found = _PLACE.fullmatch(place)
        if found is None:
            continue
        element = elements.get(found[1])
        if element is None:
            element = _element_at(tree, found[1])
        if element is not None:
            elements[found[1]] = element
            wanted.append((place, found[1], found[2] or ""))
    path_by_steps = dict(zip(elements, element_paths(list(elements.values())), strict=True))
    return {place: path_by_steps[steps] + rest for place, steps, rest in wanted}


def _element_at(tree: _Element, steps: str) -> _Element | None:
    element = tree.getroottree().getroot()
    first, *others = map(int, _NUMBER.findall(steps))
    if first != 1:
        return None
    for number in others:
        children = [child for child in element if isinstance(child.tag, str)]
        if not 1 <= number <= len(children):
            return None
        element = children[number - 1]
    return element
