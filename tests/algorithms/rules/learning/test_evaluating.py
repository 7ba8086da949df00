from lxml import html

from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import nodes_on, values_on
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import (
    NAIVE_BAYES,
    POSITIONAL,
    XPATH,
    Alternative,
    AttributeRule,
    Selection,
    Weight,
)

PAGE = '<p class="by">By Ann</p><ul><li>red</li><li width="1">blue</li></ul><img src="/a.png">'
COLUMNS = Columns(number_nodes([html.document_fromstring(PAGE)]))
PAGE_BITS = COLUMNS.index.page_bits[0]
LI = Feature("tag", 1, ("li",))
LINE = Alternative(XPATH, "text()", (Feature("token", 1, ("by",)),), Selection(prefix="By"))


def values(*alternatives: Alternative, regex: str = "", is_multi: bool = False) -> list[str]:
    rule = AttributeRule("a", is_multi=is_multi, alternatives=alternatives, regex=regex)
    return values_on(COLUMNS, rule, PAGE_BITS)


def test_the_part_of_the_text_is_the_value() -> None:
    assert ["Ann"] == values(LINE)


def test_the_first_alternative_that_selects_something_serves() -> None:
    nothing = Alternative(XPATH, "text()", (Feature("id", 1, ("none",)),))
    assert ["Ann"] == values(nothing, LINE)
    assert [] == values(nothing)
    rule = AttributeRule("a", alternatives=(nothing, LINE))
    assert LINE is nodes_on(COLUMNS, rule, PAGE_BITS)[0].alternative


def test_a_single_value_is_the_first_of_several_nodes() -> None:
    items = Alternative(XPATH, "text()", (LI,))
    assert ["red"] == values(items)
    assert ["red", "blue"] == values(items, is_multi=True)


def test_a_position_takes_one_node() -> None:
    assert ["blue"] == values(Alternative(POSITIONAL, "text()", (LI,), position=-1))
    assert [] == values(Alternative(POSITIONAL, "text()", (LI,), position=3))


def test_a_classifier_takes_the_node_of_the_highest_score() -> None:
    weight = Weight(Feature("has", 1, name="width"), "2.0000", "-1.0000")
    assert ["blue"] == values(
        Alternative(NAIVE_BAYES, "text()", (LI,), bias="-0.5000", weights=(weight,))
    )
    assert [] == values(
        Alternative(NAIVE_BAYES, "text()", (LI,), bias="-2.5000", weights=(weight,))
    )


def test_an_attribute_is_read() -> None:
    assert ["/a.png"] == values(Alternative(XPATH, "@src", (Feature("tag", 0, ("img",)),)))


def test_the_regex_selects_and_refuses() -> None:
    assert ["A"] == values(LINE, regex="^[A-Z]")
    assert [] == values(LINE, regex=r"\d")
