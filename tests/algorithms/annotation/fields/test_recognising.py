"""Recognising the fields of a vertical on a new site."""

import pytest
from lxml.etree import _Element

from annotation.algorithms.fields.matching import KnownFields, shipped_weights
from annotation.algorithms.fields.profiles import SiteProfile
from annotation.algorithms.fields.recognising import ConfirmedPage, recognise_fields
from tests.algorithms.annotation.fields.pages import (
    FIELDS,
    profile_of,
    site_of_cells,
    site_of_lists,
    truth,
)

CELLS = profile_of("cells", site_of_cells(), truth(0))
LISTS = profile_of("lists", site_of_lists(), truth(20))


@pytest.mark.parametrize(
    ("known", "trees", "shift"),
    [(CELLS, site_of_lists(), 20), (LISTS, site_of_cells(), 0)],
)
def test_one_known_site_is_enough_for_another_template(
    known: SiteProfile, trees: list[_Element], shift: int
) -> None:
    fields = KnownFields(FIELDS, frozenset(), [known])

    drafts = recognise_fields(trees, fields, shipped_weights())

    values = {draft.field: [draft.slot.values(page)[:1] for page in range(8)] for draft in drafts}
    assert values == {field: [page[field] for page in truth(shift)] for field in FIELDS}


def test_nothing_is_recognised_where_nothing_is_known() -> None:
    nothing = KnownFields(FIELDS, frozenset(), [])

    assert recognise_fields(site_of_lists(), nothing, shipped_weights()) == []
    assert recognise_fields([], KnownFields(FIELDS, frozenset(), [CELLS]), shipped_weights()) == []


def test_a_slot_that_shows_another_value_on_a_confirmed_page_is_out() -> None:
    fields = KnownFields(FIELDS, frozenset(), [CELLS])
    trees, price = site_of_lists(), truth(20)[0]["price"]

    (likely,) = [
        draft
        for draft in recognise_fields(trees, fields, shipped_weights())
        if draft.field == "price"
    ]
    drafts = recognise_fields(
        trees, fields, shipped_weights(), [ConfirmedPage(0, {"price": [f"{20 * 17}"]})]
    )

    assert likely.slot.values(0)[:1] == price
    assert price not in [draft.slot.values(0)[:1] for draft in drafts if draft.field == "price"]


def test_a_field_that_a_confirmed_page_lacks_is_not_drafted() -> None:
    fields = KnownFields(FIELDS, frozenset(), [CELLS])

    drafts = recognise_fields(
        site_of_lists(), fields, shipped_weights(), [ConfirmedPage(0, {"price": []})]
    )

    price = [draft for draft in drafts if draft.field == "price"]
    assert [draft.slot.values(0) for draft in price] in ([], [[]])
