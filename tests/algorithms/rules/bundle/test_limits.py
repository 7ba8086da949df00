"""What people wrote runs in a child process that can be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lxml import etree

from clustering.algorithms.grouping import RawPage
from clustering.dom.page import parse_page
from rules.algorithms.by_hand.sandbox import StylesheetRefused
from rules.bundle.limits import FoundNode, LimitedRuns, RunStopped

PAGE = RawPage("", b"<html><body><p>a<b>b</b>c<!-- x -->d</p><img src='/i.png'></body></html>")
HEAD = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'


@pytest.fixture(scope="module")
def runs() -> Iterator[LimitedRuns]:
    with LimitedRuns(cpu_seconds=1, wall_seconds=60) as limited:
        yield limited


def test_an_xpath_finds_nodes_with_their_places(runs: LimitedRuns) -> None:
    (texts,) = runs.find_nodes("//p/text()", [PAGE])
    tree: Any = parse_page(PAGE.body).tree

    assert ["a", "c", "d"] == [text.text for text in texts]
    assert ["a", "c", "d"] == [tree.xpath(text.path)[0] for text in texts]
    assert [[FoundNode("/html/body/img/@src", "/i.png")], []] == runs.find_nodes(
        "//img/@src", [PAGE, RawPage("", b"")]
    )


def test_a_stylesheet_makes_records(runs: LimitedRuns) -> None:
    text = HEAD + (
        '<xsl:template match="/"><record><value name="a"><xsl:value-of select="//b"/></value>'
        "</record></xsl:template></xsl:stylesheet>"
    )
    (result,) = runs.transform(text.encode(), [PAGE])

    assert "b" == etree.fromstring(result).findtext("value")


def test_what_runs_for_ever_is_stopped_and_the_next_is_answered(runs: LimitedRuns) -> None:
    many = RawPage("", b"<b>" * 200 + b"x")
    with pytest.raises(RunStopped, match="longer than"):
        runs.find_nodes("count(//b[count(//b[count(//b[count(//b) > 1]) > 1]) > 1])", [many])

    assert [[FoundNode("/html/body/p/b", "b")]] == runs.find_nodes("//b", [PAGE])


def test_what_is_refused_does_not_run(runs: LimitedRuns) -> None:
    with pytest.raises(StylesheetRefused, match="not nodes"):
        runs.find_nodes("count(//b)", [PAGE])
    with pytest.raises(StylesheetRefused, match="another file"):
        runs.find_nodes("document('x')", [PAGE])
