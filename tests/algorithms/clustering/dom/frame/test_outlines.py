"""Outlines of pages: they show what a page is made of and carry nothing that it says."""

from __future__ import annotations

import re
import time

import pytest
from lxml import etree

from clustering.dom.frame.outlines import FILLS, HEIGHT, MAX_BOXES, WIDTH, draw_outline
from clustering.dom.page import MAX_BYTES, PageTooLarge

SAFE = re.compile(r"[a-z0-9 =\"#./<>:-]*", re.IGNORECASE)


def drawn(html: str) -> list[dict[str, str]]:
    """Return the boxes on the sheet as fill and place."""
    sheet, *boxes = etree.fromstring(draw_outline(html.encode()))
    assert (str(WIDTH), str(HEIGHT)) == (sheet.get("width"), sheet.get("height"))
    return [{str(name): str(value) for name, value in box.attrib.items()} for box in boxes]


def fills(html: str) -> list[str]:
    kind_by_fill = {fill: kind for kind, fill in FILLS.items()}
    return [kind_by_fill[box["fill"]] for box in drawn(html)]


def test_each_kind_of_thing_has_its_box() -> None:
    assert ["heading", "text", "picture", "control"] == fills(
        "<h1>Trail Runner</h1><p>Light.</p><img src=a.png><input>"
    )


def test_a_table_is_rows_of_cells() -> None:
    assert ["cell"] * 4 == fills("<table><tr><th>Size<td>42</tr><tr><th>Drop<td>8 mm</tr></table>")


def test_cards_with_pictures_are_a_grid() -> None:
    boxes = drawn("<ul>" + "<li><img src=a.png><a href=b>Boots</a></li>" * 4 + "</ul>")

    pictures = [box for box in boxes if box["fill"] == FILLS["picture"]]

    assert (4, 1) == (len({box["x"] for box in pictures}), len({box["y"] for box in pictures}))


def test_what_all_pages_have_around_them_takes_one_line() -> None:
    menu = "<nav><ul>" + "<li><a href=a>Tents</a></li>" * 40 + "</ul></nav>"

    boxes = drawn(f"{menu}<h1>Trail Runner</h1>")

    assert 1 == len({box["y"] for box in boxes if box["fill"] == FILLS["frame"]})
    assert FILLS["heading"] in {box["fill"] for box in boxes}


def test_two_pages_of_a_template_look_alike_and_another_does_not() -> None:
    detail = "<main><h1>{}</h1><img src=a.png><p>{}</p></main>"
    first, other = detail.format("Boots", "Dry feet."), detail.format("Tents", "Dry all.")
    table = "<main><h1>Boots</h1><table><tr><td>1<td>2</tr></table></main>"

    assert fills(first) == fills(other) != fills(table)


def test_everything_stays_on_the_sheet() -> None:
    for box in drawn("<h2>News</h2><p>" + "word " * 5_000 + "</p>" + "<img src=a><p>text" * 500):
        assert float(box["x"]) + float(box["width"]) <= WIDTH
        assert float(box["y"]) + float(box["height"]) <= HEIGHT


@pytest.mark.parametrize(
    "html",
    [
        '<svg onload="alert(1)"><script>alert(1)</script></svg><p>x</p>',
        '"/><script>alert(1)</script><img src=x onerror=alert(1)>',
        "<p class='\"><script>'>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
        "<h1>]]><foreignObject></h1><a href='javascript:alert(1)'>go</a>",
    ],
)
def test_nothing_that_a_page_says_gets_into_the_drawing(html: str) -> None:
    outline = draw_outline(html.encode())

    assert SAFE.fullmatch(outline)
    assert {"svg", "rect"} == {
        etree.QName(element).localname for element in etree.fromstring(outline).iter()
    }
    assert "alert" not in outline


@pytest.mark.parametrize("html", ["", "   ", "<html></html>", "<!-- nothing -->"])
def test_a_page_of_nothing_is_a_blank_sheet(html: str) -> None:
    assert [] == drawn(html)


@pytest.mark.parametrize(
    "html",
    ["<div>" * 5_000 + "x", "<p>" + "x" * 2_000_000, "<i>x</i>" * 200_000, "<a><b>" * 50_000],
    ids=["deep", "one text", "many elements", "misnested"],
)
def test_hostile_pages_end_soon_and_small(html: str) -> None:
    begun = time.process_time()

    outline = draw_outline(html.encode())

    assert outline.count("<rect") <= MAX_BOXES + 1
    assert time.process_time() - begun < 3


def test_a_page_larger_than_is_parsed_is_refused() -> None:
    with pytest.raises(PageTooLarge):
        draw_outline(b"x" * (MAX_BYTES + 1))
