from typing import Any

import pytest
from lxml import etree, html

from rules.algorithms.rule.feature import TESTS, Feature
from rules.algorithms.rule.rule import Alternative

PAGE = html.document_fromstring(
    "<div id='d'><p class='a price'>Our Price: $25.99</p><span>Price:</span><b width='3'>30</b>"
    "<dl><dt>By</dt><dd>Ann</dd><dd>Bob</dd></dl><i>5 reviews</i></div>"
)

CASES = [
    (Feature("tag", 0, ("b",)), ["30"]),
    (Feature("id", 1, ("d",)), ["Our Price: $25.99", "Price:", "30", "ByAnnBob", "5 reviews"]),
    (Feature("class", 0, ("a price",)), ["Our Price: $25.99"]),
    (Feature("class", 0, ("price",)), []),
    (Feature("token", 0, ("price",)), ["Our Price: $25.99"]),
    (Feature("attribute", 0, ("3",), name="width"), ["30"]),
    (Feature("has", 0, name="width"), ["30"]),
    (Feature("tag", 0, ("dl",), axis="ancestor"), ["By", "Ann", "Bob"]),
    (Feature("tag", 0, ("span",), axis="preceding-sibling", distance=1), ["30"]),
    (Feature("tag", 0, ("b",), axis="following-sibling", distance=1), ["Price:"]),
    (Feature("label", 0, ("Price",)), ["30"]),
    (Feature("label", 0, ("Our Price",)), ["Our Price: $25.99"]),
    (Feature("before", 0, ("By",)), ["Ann"]),
    (Feature("after", 0, ("Ann",)), ["By"]),
    (Feature("sibling_text", 0, ("By",)), ["Ann"]),
    (Feature("heading", 0, ("By",), name="dd"), ["Ann", "Bob"]),
    (Feature("first_text", 0, ("By",)), ["ByAnnBob", "By"]),
    (Feature("starts", 0, ("Our Price:",)), ["Our Price: $25.99"]),
    (Feature("contains", 0, ("reviews",)), ["5 reviews"]),
    (Feature("ends", 0, ("reviews",)), ["5 reviews"]),
    (Feature("before_ends", 0, ("Price:",)), ["30"]),
    (Feature("shape", 0, ("00",)), ["30"]),
    (Feature("after_starts", 0, ("5",)), ["ByAnnBob", "Bob"]),
    (Feature("first", 1), ["Our Price: $25.99", "Price:", "30", "ByAnnBob", "5 reviews"]),
    (Feature("last", 0), ["Bob", "5 reviews"]),
    (Feature("position", 0, distance=3), ["30", "Bob"]),
]


@pytest.mark.parametrize(("feature", "expected"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_each_kind_selects_its_nodes(feature: Feature, expected: list[str]) -> None:
    nodes: Any = PAGE.xpath(Alternative("xpath", "element", (feature,)).xpath)
    texts = ["".join(node.itertext()) for node in nodes if node.tag not in {"html", "body", "div"}]
    assert expected == texts


def test_each_kind_has_a_case() -> None:
    assert set(TESTS) == {feature.kind for feature, _ in CASES}


def test_any_value_of_a_disjunction_will_do() -> None:
    etree.XPath(Feature("label", 0, ("Director", "Directors")).test)
    either = Alternative("xpath", "text()", (Feature("ends", 0, ("review", "reviews")),))
    assert ["5 reviews"] == PAGE.xpath(either.xpath)
