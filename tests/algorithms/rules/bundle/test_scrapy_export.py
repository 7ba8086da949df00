"""Spiders and page objects as text."""

from __future__ import annotations

import ast

import pytest

from rules.bundle.scrapy_export import page_text, spider_text


@pytest.mark.parametrize(
    "site", ["shop", 'my shop\'s "site"', "3d-prints", '"""\nimport os', "日本"]
)
def test_both_are_python_whatever_the_site_is_called(site: str) -> None:
    for text in (
        spider_text(site, "http://s.example:80/x"),
        page_text(site, "http://s.example:80/x"),
    ):
        tree = ast.parse(text)
        assert ["s.example"] == [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and node.value == "s.example"
        ]
        assert "os" not in {
            name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for name in node.names
        }
