"""Rules that could take for ever run where they are stopped, whoever wrote them."""

from __future__ import annotations

import time

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.services.children.limits import WALL_SECONDS
from clustering.services.pages.source_pages import SourcePage
from rules.algorithms.running.record_lines import Line, SiteRules
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import STOPPED
from rules.bundle import bundle
from rules.bundle.extraction import MAX_TAGS_HERE, extract
from tests.algorithms.rules.bundle.test_bundle import made_bundle

SHEET = (
    '<xsl:stylesheet version="1.0" '
    'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">'
    '<record><value name="name"><xsl:value-of '
    'select="{}"/></value></record></xsl:template></xsl:stylesheet>'
)
SQUARE = "count(//br[count(preceding-sibling::br) &gt; count(following-sibling::br)])"
CUBE = "count(//br[count(preceding-sibling::br[count(preceding-sibling::br) &gt; 1]) &gt; 5])"


def rule(xpath: str) -> RunnableRule:
    return RunnableRule("c", 1, SHEET.format(xpath), (AttributeType("name"),))


def test_a_learnt_rule_is_stopped_on_a_page_that_keeps_it_busy() -> None:
    page = RawPage("https://shop.example/", b"<html><body>" + b"<br>" * 100_000)
    started = time.monotonic()

    extracted = extract(page, rule(SQUARE))

    assert STOPPED == extracted.reason
    assert time.monotonic() - started < WALL_SECONDS


def test_a_large_page_gives_what_a_small_one_does() -> None:
    small = b"<html><body><h1>Rope</h1>"
    large = small + b"<p>text" * (MAX_TAGS_HERE + 1)

    first, other = (
        extract(RawPage("https://shop.example/", body), rule("//h1")) for body in (small, large)
    )

    assert first.records[0].values == other.records[0].values == {"name": "Rope"}


def test_a_rule_from_elsewhere_is_stopped_whatever_it_says_of_itself() -> None:
    page = RawPage("https://shop.example/", b"<html><body>" + b"<br>" * 8_000)
    assert page.body.count(b"<") < MAX_TAGS_HERE

    assert STOPPED == extract(page, rule(CUBE), in_child=True).reason


def test_rules_of_bundles_count_as_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[bool] = []

    def lines_of(_page: RawPage, _rules: SiteRules, *, in_child: bool = False) -> list[Line]:
        requested.append(in_child)
        return []

    monkeypatch.setattr(bundle, "lines_of", lines_of)
    made_bundle().lines_of_item(SourcePage("1", "https://shop.example/", b"<p>x"))

    assert [True] == requested
