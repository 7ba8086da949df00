"""Pages of sites no algorithm was developed on; values carry their attribute's name until read.

A value stands between marks in the text or attribute that shows it; an element that is a value as a
whole has the attribute `data-truth`. Both are taken out before anything else sees the page.
"""

# ruff: noqa: SIM905 - words stand in one line
from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from lxml.etree import _Element

from benchmarks.rule_learning import LabelledCluster
from clustering.dom.page import parse_page
from rules.algorithms.learning.targets import MarkedNode
from rules.algorithms.rule.xpaths import shown

BEGIN, MIDDLE, END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"{BEGIN}(.*?){MIDDLE}(.*?){END}", re.DOTALL)
WORDS = """
amber basil cedar delta ember fable grove harbor island jasper kettle linen meadow nectar olive
pepper quartz river saffron timber umber velvet willow yarrow zephyr anchor breeze candle drift echo
""".split()
NAMES = """
Ada Bela Cleo Dora Emil Fred Gita Hugo Iris Jan Kira Lena Milo Nora Otto Paul Rosa Sven Tara Uma
""".split()
FAMILIES = """
Adler Brandt Costa Dvorak Egger Fischer Gomez Huber Ivanov Jensen Kovac Lindt Moser Novak
""".split()
TOWNS = """
Arlen Bexhill Corvo Dunmore Eastry Farnham Gorleston Hexham Ilminster Keswick Ludlow Malton
""".split()
MONTHS = (
    "January February March April May June July August September October November December".split()
)


class Maker:
    """The chance that a page is made from."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def words(self, least: int, most: int) -> str:
        return " ".join(self.chance.choice(WORDS) for _ in range(self.chance.randint(least, most)))

    def title(self, least: int = 2, most: int = 4) -> str:
        return self.words(least, most).title()

    def sentence(self) -> str:
        return self.words(6, 14).capitalize() + "."

    def person(self) -> str:
        return f"{self.chance.choice(NAMES)} {self.chance.choice(FAMILIES)}"

    def is_so(self, share: float) -> bool:
        return self.chance.random() < share

    def number(self, least: int, most: int) -> int:
        return self.chance.randint(least, most)

    def some(self, of: Sequence[str], least: int, most: int) -> list[str]:
        return self.chance.sample(list(of), self.number(least, most))


def v(name: str, text: object) -> str:
    """Return a text marked as a value."""
    return f"{BEGIN}{name}{MIDDLE}{text}{END}"


def json_ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value, ensure_ascii=False)}</script>'


def cluster_of(
    name: str, make: Callable[[Maker, int], str], *, multi: Sequence[str] = (), n: int = 60
) -> LabelledCluster:
    """Return a cluster of `n` pages with its truth and what an editor would mark."""
    cluster = LabelledCluster(name, {}, {}, {}, frozenset(multi))
    for number in range(n):
        page = f"{name}/{number}"
        tree = parse_page(make(Maker(page), number).encode()).tree
        if tree is None:
            raise ValueError(f"{page} cannot be read")
        marks: dict[str, list[MarkedNode]] = defaultdict(list)
        truth: dict[str, list[str]] = defaultdict(list)
        for attribute, node, value in list(_take_marks(tree)):
            marks[attribute].append(node)
            truth[attribute].append(shown(value))
        cluster.trees[page], cluster.marks[page], cluster.truth[page] = (
            tree,
            dict(marks),
            dict(truth),
        )
    return cluster


def _take_marks(tree: _Element) -> Iterator[tuple[str, MarkedNode, str]]:
    """Yield attribute, node and value of each mark, and leave the page without any."""
    root = tree.getroottree()
    for element in tree.iter():
        is_real = isinstance(element.tag, str)
        if is_real and (name := element.get("data-truth")):
            del element.attrib["data-truth"]
            value = _MARKED.sub(lambda found: found[2], "".join(map(str, element.itertext())))
            yield name, MarkedNode(element), value
        for key, shown_value in _attributes(element) if is_real else ():
            clean = _MARKED.sub(lambda found: found[2], shown_value)
            for attribute, text in _MARKED.findall(shown_value):
                yield attribute, MarkedNode(f"{root.getpath(element)}/@{key}", text), text
            element.set(key, clean)
        for part in ("text", "tail"):
            if BEGIN in (text := getattr(element, part) or ""):
                setattr(element, part, _MARKED.sub(lambda found: found[2], text))
                xpath = _xpath_of(element, part)
                for attribute, value in _MARKED.findall(text):
                    yield attribute, MarkedNode(xpath, value), value


def _attributes(element: _Element) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in element.items()]


def _xpath_of(element: _Element, part: str) -> str:
    owner = element if part == "text" else element.getparent()
    if owner is None:
        raise ValueError("a root has no tail")
    texts = owner.xpath("text()")
    place = next(
        n
        for n, text in enumerate(texts, 1)  # type: ignore[arg-type]
        if (text.is_text if part == "text" else text.is_tail and text.getparent() is element)  # type: ignore[union-attr]
    )
    return f"{owner.getroottree().getpath(owner)}/text()[{place}]"
