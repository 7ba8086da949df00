"""Places of values that a stylesheet did not tell."""

from __future__ import annotations

from annotation.algorithms.anchors.page_texts import read_texts
from clustering.dom.page import parse_page
from rules.algorithms.running.text_places import nodes_showing

PAGE = b"<html><body><h1>Desk</h1><p>7 <b>EUR</b></p><ul><li>Desk</li></ul><img alt='Oak'></body></html>"


def test_each_value_is_where_its_text_first_stands_and_each_node_is_taken_once() -> None:
    tree = parse_page(PAGE).tree
    assert tree is not None
    page = read_texts(tree)

    assert ["/html/body/h1/text()[1]", "/html/body/ul/li/text()[1]"] == nodes_showing(
        page, ["Desk", "Desk", "Desk"]
    )
    assert ["/html/body/p", "/html/body/img/@alt"] == nodes_showing(
        page, ["7 EUR", "ghost", "", "Oak"]
    )
