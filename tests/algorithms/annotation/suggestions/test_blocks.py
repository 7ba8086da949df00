"""Values by the shape of the block around them."""

from __future__ import annotations

import pytest

from annotation.algorithms.suggestions.blocks import (
    find_address_part,
    find_crumb,
    find_lead,
    find_linked,
    find_stock,
)
from annotation.algorithms.suggestions.page_index import PageIndex
from tests.algorithms.annotation.suggestions.test_suggestions import tree_of

ADDRESSES = (
    "<p><b>Address:</b> <span>444 Church Lane</span><br><span>Malton</span>, ME <span>04629</span></p>",
    "<dl><dt>Address</dt><dd>444 Church Lane, Malton, ME 04629</dd></dl>",
    "<p>444 Church Lane<br>Malton, ME 04629</p>",
)


@pytest.mark.parametrize("html", ADDRESSES)
def test_the_parts_of_an_address(html: str) -> None:
    page = PageIndex(tree_of(html))
    parts = {
        name: next(find_address_part(page, name))
        for name in ("streetAddress", "city", "postalCode")
    }
    assert ["444 Church Lane", "Malton", "04629"] == [
        found.spots[0].text for found in parts.values()
    ]


def test_crumbs_and_the_category_at_their_end() -> None:
    html = "<p><a href=/>Home</a> › <a href=/r>Ropes</a> › <a href=/r/l>Long</a> › This</p><h1>This</h1>"
    page = PageIndex(tree_of(html))
    assert ["Long"] == [
        spot.text for spot in next(find_crumb(page, "category", is_multi=False)).spots
    ]
    crumbs = next(find_crumb(page, "breadcrumbs", is_multi=True))
    assert ["Home", "Ropes", "Long"] == [spot.text for spot in crumbs.spots]


def test_links_are_named_by_their_addresses() -> None:
    html = "<p><a href='/tag/oak'>oak</a> <a href='/tag/elm'>elm</a> <a href='/about'>about</a></p>"
    page = PageIndex(tree_of(html))
    assert ["oak", "elm"] == [
        spot.text for spot in next(find_linked(page, "tags", is_multi=True)).spots
    ]
    assert [] == list(find_linked(page, "price", is_multi=False))


def test_the_lead_is_the_first_long_text_after_the_heading() -> None:
    text = "A rope that keeps what it promises, even when the fingers are cold and the wind is up."
    page = PageIndex(
        tree_of(f"<title>Rope</title><p>{text} Not this.</p><h1>Rope</h1><p>short</p><p>{text}</p>")
    )
    assert [text] == [spot.text for spot in next(find_lead(page, "description")).spots]


def test_what_is_in_stock() -> None:
    page = PageIndex(tree_of("<p>Rope</p><p>Out of stock</p>"))
    assert ["Out of stock"] == [spot.text for spot in next(find_stock(page, "availability")).spots]
    assert [] == list(find_stock(page, "name"))
