"""From a place on a shown page to an anchor, and back to what is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.algorithms.anchors.anchoring import ProposedNode, anchor_node, anchor_proposed
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.algorithms.anchors.picking import (
    Drawing,
    NoSuchPlace,
    NumberedPage,
    PickedPlace,
    anchor_place,
    anchor_text,
    drawing_of,
    raw_stretch,
    shown_place,
)
from clustering.dom.page import parse_page
from clustering.values.displayed import displayed

SHOP = """<html><head><title>Shop</title></head><body>
  <h1>Trail <i>Runner</i> 4</h1>
  <p>Our price:
     25,00 EUR each</p><p><b>a</b><b>b</b></p><img src="/x.png">
</body></html>"""
# 0 html 1 head 2 title 3 body 4 h1 5 i 6 p 7 p 8 b 9 b 10 img


def numbered(html: str = SHOP) -> NumberedPage:
    tree = parse_page(html.encode()).tree
    assert tree is not None
    return NumberedPage(read_texts(tree))


def test_elements_are_numbered_from_0_in_document_order() -> None:
    page = numbered()
    assert ["html", "head", "title", "body", "h1", "i", "p", "p", "b", "b", "img"] == [
        element.tag for element in page.elements
    ]
    assert list(range(11)) == [page.number_of(element) for element in page.elements]


def test_a_click_means_the_whole_element() -> None:
    anchor = anchor_place(numbered(), PickedPlace(4))
    assert ("/html/body/h1", "Trail Runner 4", None, None) == (
        anchor.xpath,
        anchor.quote,
        anchor.start,
        anchor.end,
    )


def test_a_drag_means_a_part_of_a_text_without_the_blanks_at_its_ends() -> None:
    page = numbered()
    raw = page.elements[6].text or ""
    start = raw.index(" 25")
    anchor = anchor_place(page, PickedPlace(6, 0, start, raw.index("each")))
    assert ("/html/body/p[1]/text()[1]", "25,00 EUR") == (anchor.xpath, anchor.quote)
    assert ("Our price: ", " each") == (anchor.prefix[-11:], anchor.suffix[:5])
    assert Drawing(6, (0, start + 1, start + 10)) == drawing_of(page, anchor)


def test_a_drag_over_several_nodes_is_a_run() -> None:
    page = numbered()
    anchor = anchor_place(page, PickedPlace(5, 0, 0, 2, 4, 1))
    assert ("Runner 4", "/html/body/h1/i/text()[1]", "/html/body/h1/text()[2]") == (
        anchor.quote,
        anchor.xpath,
        anchor.end_xpath,
    )
    assert Drawing(5, (0, 0, 2, 1), 4) == drawing_of(page, anchor)


def test_a_drag_over_all_of_an_element_is_the_element() -> None:
    assert "/html/body/p[2]/b[1]" == anchor_place(numbered(), PickedPlace(8, 0, 0, 1)).xpath


def test_a_part_of_what_an_element_displays_may_span_its_children() -> None:
    page = numbered()
    assert "Trail Run" == anchor_text(page.texts, page.element(4), 0, 9).quote
    with pytest.raises(AnchorProblem, match="no text is selected"):
        anchor_text(page.texts, page.element(4), 3, 99)


@pytest.mark.parametrize("place", [PickedPlace(11), PickedPlace(4, 7), PickedPlace(-1)])
def test_places_that_the_page_lacks_are_refused(place: PickedPlace) -> None:
    with pytest.raises(NoSuchPlace):
        anchor_place(numbered(), place)


def test_a_blank_stretch_is_refused() -> None:
    with pytest.raises(AnchorProblem, match="no text is selected"):
        anchor_place(numbered(), PickedPlace(3, 0, 0, 2))


class TestProposedMarks:
    def test_the_offsets_hold_where_the_text_stands_there(self) -> None:
        page = numbered().texts
        anchor = anchor_proposed(page, ProposedNode("/html/body/p[1]", "price", start=4, end=9))
        assert ("price", 4, 9) == (anchor.quote, anchor.start, anchor.end)

    def test_the_text_decides_where_they_do_not(self) -> None:
        page = numbered().texts
        assert (11, 20) == (
            (
                anchor := anchor_proposed(
                    page, ProposedNode("/html/body/p[1]", "25,00 EUR", start=0, end=9)
                )
            ).start,
            anchor.end,
        )

    def test_an_attribute_is_a_node_too(self) -> None:
        anchor = anchor_proposed(numbered().texts, ProposedNode("/html/body/img/@src", "/x.png"))
        assert "/x.png" == anchor.quote
        assert Drawing(10) == drawing_of(numbered(), anchor)

    def test_a_text_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(AnchorProblem):
            anchor_proposed(numbered().texts, ProposedNode("/html/body/h1", "Road Runner"))


def test_a_whole_element_is_drawn_as_one() -> None:
    page = numbered()
    assert Drawing(4) == drawing_of(page, anchor_node(page.texts, "//h1"))


@given(st.text(alphabet=" \n\u00a0\u200bab\U0001f600", max_size=30), st.data())
def test_a_stretch_of_the_displayed_text_is_found_in_the_source(
    raw: str, data: st.DataObject
) -> None:
    shown = displayed(raw)
    if not shown:
        return
    start = data.draw(st.integers(0, len(shown) - 1))
    end = data.draw(st.integers(start + 1, len(shown)))
    begin, after = raw_stretch(raw, start, end)
    assert displayed(raw[begin:after]) == shown[start:end].strip()
    assert start == shown_place(raw, begin)
