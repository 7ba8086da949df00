"""Two people agree where what they mean stands at the same place of the page."""

from __future__ import annotations

import pytest

from annotation.algorithms.anchors.agreement import compare_marks
from annotation.algorithms.anchors.anchoring import Anchor, anchor_node
from annotation.algorithms.anchors.node_paths import NoSuchNode
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from clustering.dom.page import parse_page

PAGE = (
    b"<html><head><meta name='p' content='25 EUR'></head><body><h1><b>Runner 4</b></h1>"
    b"<p>Price: <i>25 EUR</i> each</p><p>25 EUR</p></body></html>"
)


@pytest.fixture
def page() -> PageTexts:
    tree = parse_page(PAGE, "text/html").tree
    assert tree is not None
    return read_texts(tree)


def at(page: PageTexts, xpath: str, text: str = "") -> list[Anchor]:
    return [anchor_node(page, xpath, text)]


@pytest.mark.parametrize(
    ("first", "second", "agreement"),
    [
        (("/html/body/h1", ""), ("/html/body/h1/b/text()", ""), "same"),
        (("/html/body/h1", "Runner"), ("/html/body/h1/b", "Runner"), "same"),
        (("/html/body/h1", "Runner"), ("/html/body/h1", ""), "part"),
        (("/html/body/h1", "Runner"), ("/html/body/h1/b", "4"), "part"),
        (("/html/body/p[1]", ""), ("/html/body/p[1]/i", ""), "part"),
        (("/html/body/p[1]/i", ""), ("/html/body/p[2]", ""), "text"),
        (("/html/body/p[2]", ""), ("/html/head/meta/@content", ""), "text"),
        (("/html/body/h1", ""), ("/html/body/p[2]", ""), "other"),
        (("/html/head/meta/@content", ""), ("/html/head/meta/@content", ""), "same"),
    ],
)
def test_the_place_decides(
    page: PageTexts, first: tuple[str, str], second: tuple[str, str], agreement: str
) -> None:
    assert agreement == compare_marks(page, at(page, *first), at(page, *second))
    assert agreement == compare_marks(page, at(page, *second), at(page, *first))


def test_absence_agrees_with_absence_alone(page: PageTexts) -> None:
    assert "same" == compare_marks(page, [], [])
    assert "absence" == compare_marks(page, at(page, "/html/body/h1"), [])


def test_several_values_agree_in_any_order(page: PageTexts) -> None:
    first, other = at(page, "/html/body/h1"), at(page, "/html/body/p[2]")

    assert "same" == compare_marks(page, first + other, other + first)
    assert "other" == compare_marks(page, first + other, first)


def test_a_path_that_leads_nowhere_is_told(page: PageTexts) -> None:
    with pytest.raises(NoSuchNode):
        compare_marks(page, [Anchor("/html/body/h7", "x")], at(page, "/html/body/h1"))
