"""Where a page shows a value."""

from __future__ import annotations

import pytest
from lxml.html import document_fromstring

from monitoring.algorithms.value_places import ValueIndex

PAGE = """<html><head><title>Rope 7 - Shop</title><meta property="og:title" content="Rope 7"></head><body>
<h1>Rope 7</h1><img src="/img/7.svg?v=1" alt="Rope 7"><p class="price p-12">€1.299,00</p>
<table><tr><th>Code:</th><td>AS-7</td></tr><tr><th>Weight</th><td><b>70</b> g</td></tr></table>
<p>Rope 7 is good, says Rope 71</p><i>26,280</i></body></html>"""


def page() -> ValueIndex:
    return ValueIndex(document_fromstring(PAGE))


def xpaths(kind: str, value: str) -> list[str]:
    return [place.xpath for place in page().find(kind, value)]


def test_whole_nodes_come_before_parts_and_attributes() -> None:
    assert [
        "/html/body/h1/text()[1]",
        "/html/body/p[2]/text()[1]",
        "/html/head/meta/@content",
        "/html/body/img/@alt",
    ] == xpaths("text", "Rope 7")


def test_a_part_stands_between_word_boundaries() -> None:
    assert ["/html/body/p[2]/text()[1]"] == xpaths("text", "71")
    assert [] == xpaths("text", "ope")


def test_another_format_of_the_same_price_is_found() -> None:
    assert "/html/body/p[1]/text()[1]" in xpaths("price", "€1,299.00")


def test_a_value_over_several_nodes_is_an_element() -> None:
    assert ["/html/body/table/tr[2]/td"] == xpaths("text", "70 g")


def test_an_image_is_found_by_its_path() -> None:
    assert ["/html/body/img/@src"] == xpaths("image", "https://old.example/img/7.svg")


@pytest.mark.parametrize(("value", "n"), [("26,148", 1), ("20,000", 0), ("3", 0)])
def test_a_number_that_grew_is_found_near_what_it_was(value: str, n: int) -> None:
    assert n == len(page().find_near("number", value))


def test_the_label_is_the_text_before_and_the_shape_has_no_positions() -> None:
    (place,) = page().find("text", "AS-7")

    assert ("code", "td") == (place.label, place.tag)
    assert place.shape.startswith("/html/body/table/tr/td")
    assert place.is_whole


def test_digits_in_classes_do_not_make_a_shape() -> None:
    (place,) = page().find("price", "€1.299,00")

    assert "price p-" in place.shape
    assert "12" not in place.shape


def test_a_node_is_read_by_its_path() -> None:
    place = page().place_at("/html/body/table/tr[1]/td/text()[1]", "AS-7")

    assert place is not None
    assert "code" == place.label
    assert page().place_at("/html/body/ol", "x") is None
