"""Rules learnt from doubtful labels."""

from dataclasses import replace

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.noisy_labels import DoubtfulLabel
from clustering.algorithms.slots.finding import SlotFinder
from rules.algorithms.drafting.label_rules import (
    LabelledField,
    fields_of_labels,
    marks_of_labels,
    without_refuted,
)
from rules.algorithms.drafting.slot_rules import ClusterPage, learn_from_marks
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.node_index import number_nodes
from tests.algorithms.annotation.fields.pages import site_of_lists, truth

TREES = site_of_lists()
FINDER = SlotFinder(TREES)
SLOTS = FINDER.find()
PAGES = [ClusterPage(f"https://ropes.example/{n}", tree) for n, tree in enumerate(TREES)]
PRICE = AttributeType("price")
LABELS = {
    "price": {
        page: {
            text.number: DoubtfulLabel(1.0)
            for text in FINDER.texts[page]
            if text.text.text in values["price"]
        }
        for page, values in enumerate(truth(20))
    }
}


def test_what_is_labelled_becomes_a_rule_for_further_pages() -> None:
    fields = fields_of_labels(SLOTS, LABELS, [PRICE])
    rule = learn_from_marks(PAGES, marks_of_labels(len(PAGES), fields), [PRICE])

    (attribute,) = without_refuted(rule, PAGES, fields).attributes

    index = number_nodes(site_of_lists(70))
    columns = Columns(index)
    shown = [values_on(columns, attribute, page) for page in index.page_bits]
    assert shown == [page["price"] for page in truth(70)]


def test_a_rule_that_does_not_show_what_is_labelled_is_not_used() -> None:
    fields = fields_of_labels(SLOTS, LABELS, [PRICE])
    rule = learn_from_marks(PAGES, marks_of_labels(len(PAGES), fields), [PRICE])
    others = {
        page: dict.fromkeys(value_by_number, "another")
        for page, value_by_number in fields[0].values.items()
    }
    contradicting: LabelledField = replace(fields[0], values=others)

    (attribute,) = without_refuted(rule, PAGES, [contradicting]).attributes

    assert attribute.alternatives == ()
    assert "0 of 8 pages" in attribute.reason


def test_a_part_of_a_text_is_marked_as_a_part() -> None:
    labels = {
        "price": {
            page: {number: DoubtfulLabel(0.7, part="$") for number in of_page}
            for page, of_page in LABELS["price"].items()
        }
    }
    fields = fields_of_labels(SLOTS, labels, [PRICE])

    assert [mark.text for mark in marks_of_labels(len(PAGES), fields)[0]["price"]] == ["$"]


def test_a_field_without_labels_is_left_out() -> None:
    assert fields_of_labels(SLOTS, LABELS, [AttributeType("maker")]) == []
