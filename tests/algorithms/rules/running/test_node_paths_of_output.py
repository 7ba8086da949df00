"""Places that a stylesheet tells, as XPaths."""

from __future__ import annotations

from typing import Any

from clustering.dom.page import parse_page
from rules.algorithms.running.node_paths_of_output import page_paths

TREE: Any = parse_page(
    b"<html><body><!-- c --><p>a<b>b</b>c</p><p title='t'>d</p></body></html>"
).tree


def test_a_place_becomes_the_path_of_its_element() -> None:
    places = ["/*[1]/*[1]/*[1]/text()[2]", "/*[1]/*[1]/*[2]/@title", "/*[1]/*[1]"]

    assert ["/html/body/p[1]/text()[2]", "/html/body/p[2]/@title", "/html/body"] == list(
        page_paths(TREE, places).values()
    )


def test_a_place_that_is_none_is_left_out() -> None:
    assert {} == page_paths(TREE, ["", "x", "/*[2]", "/*[1]/*[9]", "//a"])
