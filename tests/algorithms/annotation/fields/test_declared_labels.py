"""Labels from what pages declare."""

from lxml import html
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.declared_labels import label_declared
from annotation.algorithms.suggestions.evidence import KnownValue
from clustering.algorithms.slots.finding import SlotFinder

PRICE = AttributeType("price", "price")
NAME = AttributeType("name")


def product(n: int) -> _Element:
    declared = (
        '<script type="application/ld+json">{"@type": "Product", "name": "Rope %d",'
        ' "offers": {"@type": "Offer", "price": "%d.50", "priceCurrency": "EUR"}}</script>'
    )
    return html.document_fromstring(
        f"<html><head>{declared % (n, n)}</head><body><h1>Rope {n}</h1>"
        f"<p>Only <b>{n}.50 EUR</b> today</p><p>Weight {n * 100} g</p></body></html>"
    )


TREES = [product(n) for n in range(3, 8)]
TEXTS = SlotFinder(TREES).texts


def labelled(attribute: AttributeType, page: int) -> list[tuple[str, str]]:
    labels = label_declared(TREES, TEXTS, [attribute])[attribute.name][page]
    return [(TEXTS[page][number].text.text, label.part) for number, label in labels.items()]


def test_a_declared_value_is_labelled_where_it_is_displayed() -> None:
    assert labelled(NAME, 0) == [("Rope 3", "")]
    assert labelled(PRICE, 1) == [("4.50 EUR", "")]


def test_a_page_without_declarations_has_no_labels() -> None:
    trees = [html.document_fromstring("<h1>Rope</h1>")]

    assert label_declared(trees, SlotFinder(trees).texts, [NAME]) == {"name": {0: {}}}


def test_what_is_known_from_elsewhere_is_labelled_with_its_doubt() -> None:
    known = [{"weight": [KnownValue("Weight 300 g", "is known", 0.6)]}, {}, {}, {}, {}]

    labels = label_declared(TREES, TEXTS, [AttributeType("weight")], known)["weight"]

    assert [label.weight for label in labels[0].values()] == [0.6]
    assert labels[1] == {}
