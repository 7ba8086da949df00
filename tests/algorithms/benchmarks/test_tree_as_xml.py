"""A page's tree as XML."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from benchmarks.parity.tree_as_xml import tree_as_xml
from clustering.dom.page import parse_page


@pytest.mark.parametrize(
    "page",
    [
        b'<html xmlns="http://www.w3.org/1999/xhtml"><p>a<b>b</b> c</p>',
        b'<p @click="x" fb:like="y" "z id="a">t</p>',
        b"<p>a<!-- b -- c --->d</p>",
        b"<p>a\x0bb</p>",
        b"<p>a&nbsp;&lt;b&amp;</p><script>a < b && c</script>",
    ],
)
def test_what_is_written_is_read_again_with_the_same_texts(page: bytes) -> None:
    tree: Any = parse_page(page).tree
    again = etree.fromstring(tree_as_xml(tree))

    assert [element.tag for element in tree.iter(etree.Element)] == [
        element.tag for element in again.iter(etree.Element)
    ]
    assert tree.xpath("string()").replace("\x0b", "\ufffd") == again.xpath("string()")
