"""Rules learnt from slots that are taken for fields."""

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.matching import KnownFields, shipped_weights
from annotation.algorithms.fields.recognising import recognise_fields
from rules.algorithms.drafting.slot_rules import ClusterPage, learn_from_slots
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import extract_tree
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
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
DRAFTS = recognise_fields(TREES, KNOWN, shipped_weights())
PAGES = [ClusterPage(f"https://ropes.example/{n}", tree) for n, tree in enumerate(TREES)]


def extracted(rule: ClusterRule, shift: int) -> list[dict[str, object]]:
    """Return what a rule extracts from pages of the same template that it never saw."""
    runnable = RunnableRule("ropes", 1, stylesheet_of(rule, title="Ropes"), ATTRIBUTES)
    return [
        dict(extract_tree(tree, "https://ropes.example/", runnable).records[0].values)
        for tree in site_of_lists(shift)
    ]


def test_the_rule_extracts_the_fields_from_further_pages() -> None:
    rule = learn_from_slots(PAGES, DRAFTS, ATTRIBUTES)

    expected = [{field: page[field][0] for field in FIELDS} for page in truth(100)]
    assert extracted(rule, 100) == expected


def test_what_a_person_marked_stays() -> None:
    views = MarkedNode("/html/body/ul[2]/li[2]/span")
    pages = [
        ClusterPage(page.url, page.tree, AnnotatedPage(page.url, page.tree, {"price": [views]}))
        for page in PAGES
    ]

    rule = learn_from_slots(pages, DRAFTS, ATTRIBUTES)

    assert extracted(rule, 100)[0]["price"] == f"{100 * 17}"


def test_a_field_without_a_slot_has_no_alternative() -> None:
    drafts = [draft for draft in DRAFTS if draft.field != "price"]

    rule = learn_from_slots(PAGES, drafts, ATTRIBUTES)

    no_rule = [line.attribute for line in rule.attributes if not line.alternatives]
    assert no_rule == ["price"]
