"""A page as suggestions look at it."""

from __future__ import annotations

import time

from annotation.algorithms.suggestions.spots import SpotIndex
from tests.algorithms.annotation.suggestions.test_suggestion import product, tree_of


def found(page: SpotIndex, kind: str, value: str) -> list[str]:
    return [spot.text for spot in page.find(kind, value)]


def test_values_are_found_in_the_form_in_which_they_are_displayed() -> None:
    page = SpotIndex(
        tree_of("<p>Our price: 1.299,00 EUR</p><p>Published on 3 October 2024</p><i>In stock</i>")
    )
    assert ["1.299,00 EUR"] == found(page, "price", "1299.00")
    assert ["3 October 2024"] == found(page, "date", "2024-10-03T06:00:00Z")
    assert ["In stock"] == found(page, "text", "InStock")


def test_images_are_found_by_their_address() -> None:
    page = SpotIndex(tree_of("<img src='/i/1.png'>"), "https://shop.example/p/1")
    assert ["/i/1.png"] == found(page, "image", "https://www.shop.example/i/1.png")


def test_a_text_over_several_nodes_is_found_as_its_element() -> None:
    page = SpotIndex(tree_of("<div><p><b>Trail</b> Runner</p></div>"))
    assert ["p"] == [str(spot.node.element.tag) for spot in page.find("text", "Trail Runner")]


def test_the_heading_is_what_the_title_says_and_other_pages_do_not() -> None:
    others = [SpotIndex(product(n)).page_print for n in (1, 2)]
    page = SpotIndex(product(4), "", others)
    assert page.heading is not None
    assert "Trail Runner 4" == page.heading.text
    site = "<title>Rope - Shop</title><h1>Shop</h1><h2>Rope</h2>"
    alike = SpotIndex(tree_of(site.replace("Rope", "Cord"))).page_print
    heading = SpotIndex(tree_of(site), "", [alike]).heading
    assert heading is not None
    assert "Rope" == heading.text


def test_a_page_without_headings_has_none() -> None:
    assert SpotIndex(tree_of("<p>text</p>")).heading is None


def test_the_template_is_what_half_of_the_other_pages_show_too() -> None:
    others = [SpotIndex(product(n)).page_print for n in (1, 2)]
    page = SpotIndex(product(4), "", others)
    by_text = {spot.text: page.is_template(spot) for spot in page.spots}
    assert by_text["Colour"]
    assert not by_text["Trail Runner 4"]


def test_thousands_of_headings_are_looked_at_once_each() -> None:
    headings = "".join(f"<h1>Heading {n}</h1>" for n in range(8_000))
    page = SpotIndex(tree_of(headings))

    began = time.process_time()
    assert page.heading is not None
    assert "Heading 0" == page.heading.text
    assert time.process_time() - began < 5
