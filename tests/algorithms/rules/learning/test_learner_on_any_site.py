"""What holds for the rules of any site.

One more right annotation does no harm, and the order of the pages changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import compared, values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import AttributeRule, ClusterRule

SPECS = (
    AttributeType("name"),
    AttributeType("maker"),
    AttributeType("phone", is_multi=True),
    AttributeType("genre", is_multi=True),
)
WORDS = [
    "oak",
    "elm",
    "ash",
    "fir",
    "yew",
    "bay",
    "box",
    "fig",
    "may",
    "sloe",
    "plum",
    "pear",
    "lime",
    "hazel",
    "rowan",
    "alder",
]
N_ANNOTATED, N_OTHERS = 4, 6

Values = dict[str, list[str]]


class Page:
    """A page of a made-up site, with what it shows and an XPath for each place that shows it."""

    def __init__(self, chance: random.Random, number: int) -> None:
        word = chance.choice
        name, maker = f"{word(WORDS)} {word(WORDS)} {number}", f"{word(WORDS)} works"
        phones = [self._phone(chance) for _ in range(chance.randint(0, 3))]
        genres = chance.sample(WORDS, chance.randint(0, 3))
        rows = [("Year", str(chance.randint(1990, 2020))), ("Maker", maker), ("Size", "2 m")]
        if chance.random() < 0.3:
            del rows[0]
        table = "".join(f"<tr><td>{label}</td><td>{value}</td></tr>" for label, value in rows)
        lines = "<br>".join([f"{chance.randint(1, 99)} Elm Road", *phones, word(WORDS)])
        linked = [f"<a>{genre}</a>" if chance.random() < 0.7 else genre for genre in genres]
        crumb = f"<i>{name}</i>" if chance.random() < 0.5 else "<i>Shop</i>"
        box = f"<div class='box'><b>{maker}</b></div>" if chance.random() < 0.5 else ""
        self.text = (
            f"<div class='crumb'>{crumb}</div><h1>{name}</h1>{box}<table>{table}</table>"
            f"<p>{lines}</p><div class='g'>Genre: <span>{'</span><span>'.join(linked)}</span></div>"
        )
        self.url = f"https://site.example/{number}"
        self.truth: Values = {"name": [name], "maker": [maker], "phone": phones, "genre": genres}
        self.chance = chance

    @staticmethod
    def _phone(chance: random.Random) -> str:
        return (
            f"({chance.randint(200, 999)}) {chance.randint(200, 999)}-{chance.randint(1000, 9999)}"
        )

    def annotated(self) -> AnnotatedPage:
        """Return the page with each value marked at one of the places that show it."""
        tree = html.document_fromstring(self.text)
        marks = {
            attribute: [MarkedNode(self._a_place_of(value, tree)) for value in values]
            for attribute, values in self.truth.items()
            if values
        }
        absent = frozenset(name for name, values in self.truth.items() if not values)
        return AnnotatedPage(self.url, tree, marks, absent)

    def _a_place_of(self, value: str, tree: html.HtmlElement) -> str:
        places = f"//text()[normalize-space()='{value}']"
        n_places = int(float(str(tree.xpath(f"count({places})"))))
        return f"({places})[{self.chance.randint(1, n_places)}]"


def site_of(seed: int) -> tuple[list[Page], list[AnnotatedPage], list[html.HtmlElement]]:
    chance = random.Random(seed)
    pages = [Page(chance, number) for number in range(N_ANNOTATED)]
    others = [Page(chance, number).text for number in range(N_ANNOTATED, N_ANNOTATED + N_OTHERS)]
    annotated = [page.annotated() for page in pages]
    return pages, annotated, [html.document_fromstring(text) for text in others]


def learn(annotated: Sequence[AnnotatedPage], others: Sequence[html.HtmlElement]) -> ClusterRule:
    return learn_cluster(annotated, others, SPECS)


def page_f1(rule: AttributeRule, pages: Sequence[Page]) -> float:
    """Return the page-level F1 of an attribute's rule."""
    n_right = n_found = n_wanted = 0
    for page in pages:
        columns = Columns(number_nodes([html.document_fromstring(page.text)]))
        values = compared(values_on(columns, rule, columns.index.page_bits[0]))
        wanted = compared(page.truth[rule.attribute])
        n_found += bool(values)
        n_wanted += bool(wanted)
        n_right += bool(wanted) and values == wanted
    return 2 * n_right / (n_found + n_wanted) if n_found + n_wanted else 1.0


@given(st.integers(0, 10_000))
def test_a_further_right_annotation_does_no_harm(seed: int) -> None:
    pages, annotated, others = site_of(seed)
    for n in range(1, N_ANNOTATED):
        before = learn(annotated[:n], [*(page.tree for page in annotated[n:]), *others])
        after = learn(annotated[: n + 1], [*(page.tree for page in annotated[n + 1 :]), *others])
        for first, other in zip(before.attributes, after.attributes, strict=True):
            if first.alternatives:
                assert other.alternatives, other.reason
            assert page_f1(other, pages[: n + 1]) >= page_f1(first, pages[: n + 1])


@given(st.integers(0, 10_000), st.permutations(range(N_ANNOTATED)))
def test_the_order_of_the_annotated_pages_changes_nothing(seed: int, order: list[int]) -> None:
    _, annotated, others = site_of(seed)
    rule = learn(annotated, others)
    shuffled = learn([annotated[number] for number in order], others)
    for first, other in zip(rule.attributes, shuffled.attributes, strict=True):
        assert replace(first, failures=()) == replace(other, failures=())


@pytest.mark.parametrize("seed", range(20))
def test_what_an_annotated_page_shows_has_a_rule(seed: int) -> None:
    pages, annotated, others = site_of(seed)
    rule = learn(annotated[:1], others)
    for attribute in rule.attributes:
        if pages[0].truth[attribute.attribute]:
            assert attribute.alternatives, attribute.reason
