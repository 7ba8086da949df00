"""Rules learnt from an annotated page with the help of slots."""

from dataclasses import replace

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.matching import KnownFields, shipped_weights
from annotation.algorithms.fields.recognising import ConfirmedPage, recognise_fields
from rules.algorithms.drafting.confirmed_rules import learn_from_confirmed
from rules.algorithms.drafting.slot_rules import ClusterPage
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule
from tests.algorithms.annotation.fields.pages import (
    FIELDS,
    profile_of,
    site_of_cells,
    site_of_lists,
    truth,
)

ATTRIBUTES = [AttributeType(field) for field in FIELDS]
KNOWN = KnownFields(FIELDS, frozenset(), [profile_of("cells", site_of_cells(), truth(0))])
TREES = site_of_lists()
MARKS = {
    "name": [MarkedNode("/html/body/div/h1")],
    "price": [MarkedNode("/html/body/ul[2]/li[3]/span")],
    "maker": [MarkedNode("/html/body/ul[2]/li[1]/span")],
}
CONFIRMED = ConfirmedPage(0, truth(20)[0])
DRAFTS = recognise_fields(TREES, KNOWN, shipped_weights(), [CONFIRMED])


def pages_with(marks: dict[str, list[MarkedNode]]) -> list[ClusterPage]:
    pages = [ClusterPage(f"https://ropes.example/{n}", tree) for n, tree in enumerate(TREES)]
    annotated = AnnotatedPage(pages[0].url, TREES[0], marks)
    return [replace(pages[0], annotated=annotated), *pages[1:]]


def values_of(rule: ClusterRule, field: str) -> list[list[str]]:
    index = number_nodes(site_of_lists(60))
    columns = Columns(index)
    attribute = next(line for line in rule.attributes if line.attribute == field)
    return [values_on(columns, attribute, page) for page in index.page_bits]


def test_one_annotated_page_is_enough_for_all_fields() -> None:
    rule = learn_from_confirmed(pages_with(MARKS), DRAFTS, ATTRIBUTES)

    for field in FIELDS:
        assert values_of(rule, field) == [page[field] for page in truth(60)]


def test_a_field_that_nobody_marked_is_helped_by_its_slot() -> None:
    marks = {"name": MARKS["name"]}

    rule = learn_from_confirmed(pages_with(marks), DRAFTS, ATTRIBUTES)

    assert values_of(rule, "price") == [page["price"] for page in truth(60)]


def test_a_person_is_believed_against_a_slot() -> None:
    views = [MarkedNode("/html/body/ul[2]/li[2]/span")]

    rule = learn_from_confirmed(pages_with({**MARKS, "price": views}), DRAFTS, ATTRIBUTES)

    assert values_of(rule, "price")[0] == [f"{60 * 17}"]


def test_without_slots_it_is_the_rule_of_the_annotated_page() -> None:
    rule = learn_from_confirmed(pages_with(MARKS), [], ATTRIBUTES)

    assert values_of(rule, "maker") == [page["maker"] for page in truth(60)]
