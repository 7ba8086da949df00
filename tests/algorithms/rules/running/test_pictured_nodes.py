"""Nodes as the browser is told of them: numbered elements, and texts counted without blank ones."""

from __future__ import annotations

import pytest

from rules.algorithms.running.pictured_nodes import find_pictured_nodes

PAGE = b"<html><body><h1>Rope</h1><p>\n<b>Price:</b> 5 EUR <i>new</i> only today</p></body></html>"


@pytest.mark.parametrize(
    ("path", "node"),
    [
        pytest.param("/html/body/h1", (2, None), id="element"),
        pytest.param("/html/body/p/text()[2]", (3, 0), id="text after a blank one"),
        pytest.param("/html/body/p/text()[3]", (3, 1), id="text after that"),
        pytest.param("/html/body/p/b/@class", None, id="attribute that is not there"),
        pytest.param("/html/body/h2", None, id="no such element"),
        pytest.param("count(//*)", None, id="no path"),
    ],
)
def test_a_node_is_told_by_number_and_text(path: str, node: tuple[int, int | None] | None) -> None:
    assert [node] == find_pictured_nodes(PAGE, "text/html", paths=[path])


def test_an_empty_page_has_none() -> None:
    assert [None, None] == find_pictured_nodes(b"", "text/html", paths=["/html", "/html/body"])
