"""The first step of an XPath that leaves nothing."""

from __future__ import annotations

import pytest

from rules.algorithms.running.explaining import explain_xpath, split_xpath
from tests.algorithms.annotation.suggestions.test_suggestion import tree_of

TREE = tree_of("<div class='a'><p>one</p><p class='b'>two</p></div>")


@pytest.mark.parametrize(
    ("xpath", "added", "words"),
    [
        (
            "//div[@class='a']/p[@class='c']/b",
            "[@class='c']",
            "[@class='c'] selects none of the 2 nodes before it",
        ),
        (
            "//div[@class='x']/p",
            "[@class='x']",
            "[@class='x'] selects none of the 1 node before it",
        ),
        ("//span/p", "//span", "the page has nothing that //span selects"),
        ("//p/@href", "/@href", "/@href selects none of the 2 nodes before it"),
        ("(//p)[3]", "(//p)[3]", "(//p)[3] selects none of the 2 nodes before it"),
        ("//p[text()[contains(., 'one]')]]", "[text()[contains(., 'one]')]]", None),
    ],
)
def test_the_step_is_named(xpath: str, added: str, words: str | None) -> None:
    explanation = explain_xpath(xpath, TREE)
    assert explanation.emptied is not None
    assert added == explanation.emptied.added
    assert words in {None, explanation.words}


def test_where_nothing_is_emptied_the_last_step_says_how_many() -> None:
    explanation = explain_xpath("//div/p", TREE)
    assert explanation.emptied is None
    assert [1, 2] == [step.n_nodes for step in explanation.steps]


def test_brackets_and_slashes_in_strings_are_no_steps() -> None:
    assert ["//a", '//a[@b="/x]["]', '//a[@b="/x]["]/c'] == split_xpath('//a[@b="/x]["]/c')
    assert ["//a", "//a[b/c[1]]", "//a[b/c[1]][2]"] == split_xpath("//a[b/c[1]][2]")


def test_what_cannot_be_read_is_told() -> None:
    assert "cannot be read" in explain_xpath("//p[", TREE).problem
    assert "longer than" in explain_xpath("//a" * 10_000, TREE).words
