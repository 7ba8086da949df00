"""Proposals of what values became that all changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.changed_proposals import ChangedProposals, propose_changed
from monitoring.algorithms.changed_values import shipped_weights
from monitoring.algorithms.repair import FoundValue, KnownPage, ProposedPage, propose_annotations
from monitoring.algorithms.value_places import ValueIndex

N = 16
NAME, PRICE = AttributeType("name", is_constant=True), AttributeType("price", "price")
WITHOUT_PRICE = {3, 4, 5}
NEVER_CERTAIN = replace(shipped_weights(), certainty=(-100.0, 0.0, 0.0))


def known_page(number: int, *, is_in_column: bool = False) -> KnownPage:
    """Return a page whose price is a third dearer than the stored one; three have none.

    One layout has it in a paragraph, the other one in a column.
    """
    price = 300 + 137 * (7 * number % N)
    golden = {"name": f"Rope {number}", "price": f"${price}", "list_price": f"${price}"}
    cost = f"<p><b>Cost</b> <u>${4 * price // 3}</u></p>"
    if is_in_column:
        cost = f"<aside>Today <i>${4 * price // 3}</i></aside>"
    if number in WITHOUT_PRICE:
        golden = {"name": golden["name"]}
        cost = ""
    fee = "" if is_in_column else f"<p><b>Fee</b> <i>${5 + number % 4}</i></p>"
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


def found_at(known: Sequence[KnownPage], element: str) -> list[ProposedPage]:
    """Return proposals of what an element shows, for prices that were."""
    pages = []
    for page in known:
        text = str(page.page.tree.xpath(f"string(//{element})"))
        place = page.page.place_at(f"/html/body/{element}/text()[1]", text)
        values = {"price": [FoundValue(place, 0.6, {})]} if place and "price" in page.golden else {}
        pages.append(ProposedPage(page.url, values, frozenset()))
    return pages


@pytest.mark.parametrize(("element", "stays"), [("p[2]/u", True), ("p[1]/i", False)])
def test_where_nothing_is_certain_what_was_found_stays_if_the_best_candidate_shows_it(
    element: str, *, stays: bool
) -> None:
    known = [known_page(number) for number in range(N)]
    found = found_at(known, element)
    changed = propose_changed(known, found, [PRICE], NEVER_CERTAIN)

    assert {} == changed.certainty_by_name
    assert found[0].values
    wanted = [page.values if stays else {} for page in found]
    assert wanted == [page.values for page in changed.pages]


def test_so_does_what_was_found_in_a_layout_that_it_does_not_show() -> None:
    known = [known_page(number, is_in_column=number % 2 == 0) for number in range(N)]
    in_paragraphs, in_columns = found_at(known, "p[2]/u"), found_at(known, "aside/i")
    found = [
        in_columns[number] if number % 2 == 0 else in_paragraphs[number] for number in range(N)
    ]
    changed = propose_changed(known, found, [PRICE], NEVER_CERTAIN)

    assert [page.values for page in found] == [page.values for page in changed.pages]


def test_few_pages_change_nothing_of_what_was_found() -> None:
    known = [known_page(number) for number in (0, 1, 2)]
    found = found_at(known, "p[1]/i")

    assert found == propose_changed(known, found, [PRICE], shipped_weights()).pages
