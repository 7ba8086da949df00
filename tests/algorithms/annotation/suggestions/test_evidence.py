"""Evidence that a spot is an attribute's value."""

from __future__ import annotations

import pytest

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.evidence import (
    Evidence,
    KnownValue,
    find_address_part,
    find_crumb,
    find_lead,
    find_linked,
    find_stock,
    gather,
)
from annotation.algorithms.suggestions.spots import SpotIndex
from tests.algorithms.annotation.suggestions.test_suggestion import tree_of

ADDRESSES = (
    (
        "<p><b>Address:</b> <span>444 Church Lane</span><br><span>Malton</span>, "
        "ME <span>04629</span></p>"
    ),
    "<dl><dt>Address</dt><dd>444 Church Lane, Malton, ME 04629</dd></dl>",
    "<p>444 Church Lane<br>Malton, ME 04629</p>",
)


def evidence(html: str, wanted: AttributeType, *known: KnownValue) -> dict[str, Evidence]:
    """Return the best evidence of each source."""
    tree = tree_of(html)
    result = gather(SpotIndex(tree, "https://shop.example/"), read_declared(tree), wanted, known)
    best: dict[str, Evidence] = {}
    for one in sorted(result, key=lambda each: -each.weight):
        best.setdefault(one.source, one)
    return best


def test_a_declaration_that_is_not_displayed_is_suggested_itself() -> None:
    pieces = evidence(
        "<meta name='description' content='A rope of hemp'><p>Rope</p>",
        AttributeType("description"),
    )
    assert ("content", "A rope of hemp") == (
        pieces["meta"].spots[0].node.name,
        pieces["meta"].spots[0].text,
    )


def test_microdata_points_at_its_own_element() -> None:
    html = "<div itemscope><p>9</p><p itemprop='sku'>9</p></div>"
    pieces = evidence(html, AttributeType("sku"))
    assert "sku" == pieces["microdata"].spots[0].node.element.get("itemprop")


def test_a_class_that_is_a_name_of_the_attribute_counts() -> None:
    pieces = evidence("<p class='sku'>S-1</p><p class='old'>S-2</p>", AttributeType("sku"))
    assert "S-1" == pieces["labels"].spots[0].text


def test_properties_are_compared_without_underscores() -> None:
    html = "<div itemscope><p itemprop='prepTime'>5 min</p></div>"
    assert "microdata" in evidence(html, AttributeType("prep_time"))


def test_the_image_beside_the_heading() -> None:
    html = (
        "<title>Rope</title><header><img src=logo.png></header><h1>Rope</h1><img src=a.png "
        "alt=Rope><img src=b.png>"
    )
    assert "a.png" == evidence(html, AttributeType("mainImage", "image"))["pattern"].spots[0].text


def test_the_longest_text_is_the_body() -> None:
    text = "<p>" + "Nobody in the ministry wanted to comment on the figures. " * 3 + "</p>"
    pieces = evidence(
        f"<h1>Ropes</h1><aside>{text * 4}</aside><div id=b>{text * 2}</div>",
        AttributeType("articleBody", "html"),
    )
    assert "b" == pieces["pattern"].spots[0].node.element.get("id")


def test_known_values_of_a_list() -> None:
    pieces = evidence(
        "<i>oak</i><i>elm</i><i>ash</i>",
        AttributeType("trees", is_multi=True),
        KnownValue("oak", ""),
        KnownValue("ash", ""),
    )
    assert ["oak", "ash"] == [spot.text for spot in pieces["known value"].spots]


@pytest.mark.parametrize("html", ADDRESSES)
def test_the_parts_of_an_address(html: str) -> None:
    page = SpotIndex(tree_of(html))
    parts = {
        name: next(find_address_part(page, AttributeType(name)))
        for name in ("streetAddress", "city", "postalCode")
    }
    assert ["444 Church Lane", "Malton", "04629"] == [part.spots[0].text for part in parts.values()]


def test_crumbs_and_the_category_at_their_end() -> None:
    html = (
        "<p><a href=/>Home</a> › <a href=/r>Ropes</a> › <a href=/r/l>Long</a> › "
        "This</p><h1>This</h1>"
    )
    page = SpotIndex(tree_of(html))
    assert ["Long"] == [
        spot.text for spot in next(find_crumb(page, AttributeType("category"))).spots
    ]
    crumbs = next(find_crumb(page, AttributeType("breadcrumbs", is_multi=True)))
    assert ["Home", "Ropes", "Long"] == [spot.text for spot in crumbs.spots]


@pytest.mark.parametrize(
    ("html", "crumbs"),
    [
        (
            "<div><a>Log in</a> <a>Basket</a></div><p><a>Home</a> > <a>Shop</a> > Rope",
            ["Home", "Shop"],
        ),
        ("<p><a>Home</a> › <a>Shop</a></p><a>Next</a>", ["Home", "Shop"]),
        ("<h1>Rope</h1><p><a>Imprint</a> | <a>Contact</a> | <a>Privacy</a>", []),
    ],
    ids=["links before it", "a link behind it", "a footer at the end"],
)
def test_what_stands_around_a_trail_is_no_crumb(html: str, crumbs: list[str]) -> None:
    attribute = AttributeType("breadcrumbs", is_multi=True)
    found = next(find_crumb(SpotIndex(tree_of(html)), attribute), None)

    assert crumbs == ([] if found is None else [spot.text for spot in found.spots])


def test_links_are_named_by_their_addresses() -> None:
    html = "<p><a href='/tag/oak'>oak</a> <a href='/tag/elm'>elm</a> <a href='/about'>about</a></p>"
    page = SpotIndex(tree_of(html))
    assert ["oak", "elm"] == [
        spot.text for spot in next(find_linked(page, AttributeType("tags", is_multi=True))).spots
    ]
    assert [] == list(find_linked(page, AttributeType("price")))


def test_the_lead_is_the_first_long_text_after_the_heading() -> None:
    text = "A rope that keeps what it promises, even when the fingers are cold and the wind is up."
    page = SpotIndex(
        tree_of(f"<title>Rope</title><p>{text} Not this.</p><h1>Rope</h1><p>short</p><p>{text}</p>")
    )
    assert [text] == [
        spot.text for spot in next(find_lead(page, AttributeType("description"))).spots
    ]


def test_what_is_in_stock() -> None:
    page = SpotIndex(tree_of("<p>Rope</p><p>Out of stock</p>"))
    assert ["Out of stock"] == [
        spot.text for spot in next(find_stock(page, AttributeType("availability"))).spots
    ]
    assert [] == list(find_stock(page, AttributeType("name")))
