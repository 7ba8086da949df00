"""Which elements show nothing to a reader."""

import pytest

from annotation.algorithms.anchors.page_texts import read_texts
from clustering.dom.page import parse_page
from clustering.dom.visible import BLOCKS, HEADINGS, INVISIBLE_TAGS


def text_of(body: str) -> str:
    tree = parse_page(body.encode()).tree
    assert tree is not None
    return read_texts(tree).whole


@pytest.mark.parametrize("tag", sorted(INVISIBLE_TAGS))
def test_an_invisible_element_shows_no_text(tag: str) -> None:
    assert "ab" == text_of(f"<p>a<{tag}>x</{tag}>b")


@pytest.mark.parametrize("tag", ["p", "h1", "li"])
def test_there_is_a_blank_around_a_block(tag: str) -> None:
    assert tag in BLOCKS
    assert "a x b" == text_of(f"<div>a<{tag}>x</{tag}>b</div>")


def test_headings_are_blocks_and_visible() -> None:
    assert HEADINGS < BLOCKS
    assert HEADINGS.isdisjoint(INVISIBLE_TAGS)
