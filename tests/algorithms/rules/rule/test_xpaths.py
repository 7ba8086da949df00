import pytest
from lxml import html

from rules.algorithms.rule.feature import Feature, print_path, print_position
from rules.algorithms.rule.rule import ELEMENT_TARGET, TEXT_TARGET
from rules.algorithms.rule.xpaths import (
    HAS_TEXT,
    ends_with,
    label_form,
    label_of,
    literal,
    shown,
    shown_form,
)


class TestPaper:
    """Table II, section III-C.1: the XPaths that were learnt on five sites."""

    def test_price(self) -> None:
        features = [Feature("class", 1, ("listprice",))]
        assert "//*[@class='listprice']/*" == print_path(ELEMENT_TARGET, features)

    def test_forum_title(self) -> None:
        features = [Feature("tag", 2, ("td",)), Feature("class", 2, ("navbar",))]
        assert f"//td[@class='navbar']/*/{HAS_TEXT}" == print_path(TEXT_TARGET, features)

    def test_image(self) -> None:
        features = [
            Feature("class", 2, ("detailImage", "detailMain hackborder")),
            Feature("tag", 0, ("img",)),
        ]
        expected = "//*[@class='detailImage' or @class='detailMain hackborder']/*/img"
        assert expected == print_path(ELEMENT_TARGET, features)

    def test_rating_image(self) -> None:
        features = [Feature("tag", 1, ("td",)), Feature("tag", 0, ("img",))]
        assert "//td/img" == print_path(ELEMENT_TARGET, features)

    def test_address(self) -> None:
        assert "//*[@class='adr']" == print_path(ELEMENT_TARGET, [Feature("class", 0, ("adr",))])

    def test_features_of_three_levels_are_merged(self) -> None:
        """The example of "Combining XPaths for features"; the third star leads to the node."""
        features = [
            Feature("tag", 3, ("div",)),
            Feature("class", 3, ("c1", "c2"), axis="preceding-sibling", distance=2),
            Feature("id", 1, ("i1",)),
        ]
        expected = "//div[preceding-sibling::*[2][@class='c1' or @class='c2']]/*/*[@id='i1']/*"
        assert expected == print_path(ELEMENT_TARGET, features)


def test_an_attribute_is_the_last_step() -> None:
    assert "//img/@src" == print_path("@src", [Feature("tag", 0, ("img",))])


@pytest.mark.parametrize(
    ("position", "expected"), [(2, "(//a)[2]"), (-1, "(//a)[last()]"), (-3, "(//a)[last()-2]")]
)
def test_positions_count_from_both_ends(position: int, expected: str) -> None:
    assert expected == print_position("//a", position)


@pytest.mark.parametrize("text", ["plain", "it's", 'say "so"', 'it\'s "so"', "'", ""])
def test_a_literal_is_read_back(text: str) -> None:
    tree = html.document_fromstring("<p>x</p>")
    assert text == tree.xpath(f"string({literal(text)})")


TEXTS = [
    " 25\xa0EUR\n",
    "a\u200bb",
    "Price :",
    "x:y",
    "\xa0",
    "  two   blanks ",
    "\ufeffBOM",
    "full\uff1awidth",
    "a\tb",
]


@pytest.mark.parametrize("text", TEXTS)
def test_python_and_xpath_show_the_same(text: str) -> None:
    tree = html.document_fromstring("<p>x</p>")
    next(tree.iter("p")).text = text
    assert shown(text) == tree.xpath(f"string({shown_form('//p')})")
    assert label_of(text) == tree.xpath(f"string({label_form('//p')})")


def test_ends_with_is_written_with_substring() -> None:
    tree = html.document_fromstring("<p>5 reviews</p><p>reviews of 5</p>")
    assert ["5 reviews"] == tree.xpath(f"//p[{ends_with('.', 'reviews')}]/text()")
