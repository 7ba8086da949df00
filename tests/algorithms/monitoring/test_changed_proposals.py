"""Proposals of what values became that all changed."""

from __future__ import annotations

from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.changed_proposals import ChangedProposals, propose_changed
from monitoring.algorithms.changed_values import shipped_weights
from monitoring.algorithms.repair import KnownPage, ProposedPage, propose_annotations
from monitoring.algorithms.value_places import ValueIndex

N = 16
NAME, PRICE = AttributeType("name", is_constant=True), AttributeType("price", "price")
WITHOUT_PRICE = {3, 4, 5}


def known_page(number: int) -> KnownPage:
    """Return a page whose price is a third dearer than the stored one; three have none."""
    price = 300 + 137 * (7 * number % N)
    golden = {"name": f"Rope {number}", "price": f"${price}", "list_price": f"${price}"}
    cost = f"<p><b>Cost</b> <u>${4 * price // 3}</u></p>"
    if number in WITHOUT_PRICE:
        golden = {"name": golden["name"]}
        cost = ""
    fee = f"<p><b>Fee</b> <i>${5 + number % 4}</i></p>"
    tree = html.document_fromstring(f"<h1>Rope {number}</h1>{fee}{cost}")
    return KnownPage(f"http://shop.example/{number}", ValueIndex(tree), golden)


def proposals(*attributes: AttributeType) -> tuple[list[ProposedPage], ChangedProposals]:
    """Return what is found again, and the proposals with what these attributes became."""
    known = [known_page(number) for number in range(N)]
    found = propose_annotations(known, [NAME, PRICE])
    return found, propose_changed(known, found, attributes, shipped_weights())


def test_what_prices_became_is_proposed_where_there_was_one() -> None:
    found, changed = proposals(PRICE)

    assert {"price"} == set(changed.certainty_by_name)
    for number, (before, page) in enumerate(zip(found, changed.pages, strict=True)):
        assert before.values["name"] == page.values["name"]
        if number in WITHOUT_PRICE:
            assert "price" in page.absent
            assert "price" not in page.values
        else:
            (value,) = page.values["price"]
            assert f"${4 * (300 + 137 * (7 * number % N)) // 3}" == value.place.text
            assert value.place.xpath.endswith("/u/text()[1]")
            assert value.score == changed.certainty_by_name["price"]


def test_of_two_attributes_with_the_same_values_one_has_the_slot() -> None:
    _, changed = proposals(PRICE, AttributeType("list_price", "price"))

    (name,) = changed.certainty_by_name
    assert {frozenset({"name"}), frozenset({"name", name})} == {
        frozenset(page.values) for page in changed.pages
    }
