"""Rules that could take for ever run where they are stopped, whoever wrote them."""

from __future__ import annotations

import time

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import MAX_BYTES
from clustering.services.children.limits import WALL_SECONDS
from clustering.services.pages.source_pages import SourcePage
from rules.algorithms.running.record_lines import Line, SiteRules
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import STOPPED, TOO_LARGE
from rules.bundle import bundle, extraction
from rules.bundle.extraction import (
    MAX_BYTES_HERE,
    MAX_TAGS_HERE,
    extract,
    find_cluster,
    lines_of,
)
from tests.algorithms.rules.bundle.test_bundle import made_bundle
from tests.algorithms.rules.running import test_run_rule as cast
from tests.apps.clustering.children import burdens

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


def test_a_large_page_is_in_the_cluster_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [
        RawPage("http://s.example/p/1", cast.PAGE),
        RawPage("http://s.example/p/2", b"<form><input></form>"),
    ]
    clusters = made_bundle().rules.clusters
    here = [find_cluster(page, clusters) for page in pages]

    monkeypatch.setattr(extraction, "MAX_BYTES_HERE", 10)

    assert here == [find_cluster(page, clusters) for page in pages]
    assert ["products", None] == [match.cluster for match in here]


def test_a_page_whose_cluster_takes_too_much_to_tell_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extraction, "match_in_child", burdens.heavy_whatever)
    small, large = (
        SourcePage("1", "http://s.example/p/1", cast.PAGE + b" " * n) for n in (0, MAX_BYTES_HERE)
    )

    read, stopped = made_bundle().extract([small, large])

    assert "Oak desk" == read.values["name"]
    assert (STOPPED, None) == (stopped.reason, stopped.cluster)
    assert "more than 5 seconds of a processor" in stopped.why


def test_a_page_that_nothing_parses_has_no_cluster() -> None:
    page = RawPage("http://s.example/p/1", b" " * (MAX_BYTES + 1))

    (line,) = lines_of(page, made_bundle().rules)

    assert (TOO_LARGE, None) == (line.reason, line.cluster)


def test_rules_of_bundles_count_as_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[bool] = []

    def lines_of(_page: RawPage, _rules: SiteRules, *, in_child: bool = False) -> list[Line]:
        requested.append(in_child)
        return []

    monkeypatch.setattr(bundle, "lines_of", lines_of)
    made_bundle().lines_of_item(SourcePage("1", "https://shop.example/", b"<p>x"))

    assert [True] == requested
