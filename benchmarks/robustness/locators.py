"""Locators of one element, learnt from one page: the absolute XPath, and one like ROBULA+'s.

ROBULA+ (Leotta, Stocco, Ricca, Tonella, 2016) begins with `//*` and makes the XPath more special,
step by step, until it selects the element alone: name the tag, add the id, an attribute, two
attributes, the position, another level. Attributes that hold content or places are not used;
neither are texts, which here are the values that differ from page to page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import combinations

from lxml.html import HtmlElement

from rules.algorithms.rule.xpaths import literal

PREFERRED = ("name", "class", "title", "alt", "value")
REFUSED = frozenset(
    {
        "href",
        "src",
        "onclick",
        "onload",
        "tabindex",
        "width",
        "height",
        "style",
        "size",
        "maxlength",
        "content",
    }
)
MOST_TRIED = 1_500
MOST_ATTRIBUTES = 4


def absolute(element: HtmlElement) -> str:
    return str(element.getroottree().getpath(element))


def robula_plus(element: HtmlElement) -> str:
    """Return an XPath that selects the element alone; the absolute one if none is found in time."""
    chain = [element, *(one for one in element.iterancestors())]
    root = element.getroottree().getroot()
    waiting: deque[tuple[str, ...]] = deque([("*",)])
    tried = 0
    while waiting and tried < MOST_TRIED:
        steps = waiting.popleft()
        for special in _specialised(steps, chain):
            tried += 1
            nodes = root.xpath("//" + "/".join(special))
            if nodes == [element]:
                return "//" + "/".join(special)
            if element in nodes:
                waiting.append(special)
    return absolute(element)


def _specialised(steps: tuple[str, ...], chain: list[HtmlElement]) -> Iterator[tuple[str, ...]]:
    """Yield the XPath with one more thing said of its first step, in the order of ROBULA+."""
    head, rest = steps[0], steps[1:]
    element = chain[len(rest)]
    if head == "*":
        yield (str(element.tag), *rest)
    if "[" not in head:
        yield from ((head + test, *rest) for test in _attribute_tests(element))
        yield (f"{head}[{_position(element, head)}]", *rest)
    if len(steps) < len(chain):
        yield ("*", *steps)


def _attribute_tests(element: HtmlElement) -> Iterator[str]:
    named = {str(name): str(value) for name, value in element.attrib.items()}
    usable = [name for name in named if name not in REFUSED and name.replace("-", "").isalnum()]
    order = {name: place for place, name in enumerate(("id", *PREFERRED))}
    usable.sort(key=lambda name: (order.get(name, len(order)), name))
    tests = [f"@{name}={literal(named[name])}" for name in usable[:MOST_ATTRIBUTES]]
    yield from (f"[{test}]" for test in tests)
    yield from (f"[{first} and {other}]" for first, other in combinations(tests, 2))


def _position(element: HtmlElement, tag: str) -> int:
    """Return the place among the siblings that the step selects."""
    return 1 + sum(
        1 for sibling in element.itersiblings(preceding=True) if tag in {"*", sibling.tag}
    )
