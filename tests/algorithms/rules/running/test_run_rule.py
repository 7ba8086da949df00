"""From a page's bytes to records: values, raw, normalised, missing, failed, confidence, places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import MAX_BYTES, parse_page
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, AttributeRule, Boundary, ClusterRule
from rules.algorithms.running.confidence import trust_after
from rules.algorithms.running.records import Extracted, ExtractedRecord, RunnableRule
from rules.algorithms.running.run_rule import (
    NO_TREE,
    STYLESHEET_FAILED,
    TOO_LARGE,
    StylesheetFailed,
    compile_stylesheet,
    page_paths,
)
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.bundle.extraction import extract

URL = "http://s.example/p/1"
PAGE = b"""<html lang=de><body><h1>Oak\xc2\xa0desk</h1><b>Price:</b> <i>25,50 \xe2\x82\xac</i><b>On:</b><i>05/03/2024</i>
<a href="../big">x</a><p class=tag>wood</p><p class=tag>heavy</p></body></html>"""
LIST = b"<ul><li><a href=1>A</a><i>1</i></li><li><a href=2>B</a></li></ul>"


def by(target: str, *features: Feature) -> Alternative:
    return Alternative("xpath", target, features)


WAYS = {
    "name": by("text()", Feature("tag", 1, ("h1",))),
    "price": by("text()", Feature("label", 0, ("Price",))),
    "date": by("text()", Feature("before", 0, ("On",))),
    "link": by("@href", Feature("tag", 0, ("a",))),
    "tags": by("text()", Feature("class", 1, ("tag",))),
    "item": by("text()", Feature("tag", 1, ("a",))),
    "number": by("text()", Feature("tag", 1, ("i",))),
    "none": by("text()", Feature("id", 1, ("none",))),
}


def rule(
    *attributes: AttributeType,
    boundary: Boundary | None = None,
    trust: dict[str, float] | None = None,
) -> RunnableRule:
    learnt = ClusterRule(
        tuple(
            AttributeRule(
                attribute.name, is_multi=attribute.is_multi, alternatives=(WAYS[attribute.name],)
            )
            for attribute in attributes
        ),
        boundary,
    )
    return RunnableRule("products", 3, stylesheet_of(learnt), attributes, trust or {})


def record(*attributes: AttributeType, **trust: float) -> ExtractedRecord:
    (only,) = extract(
        RawPage(URL, PAGE, "text/html; charset=utf-8"), rule(*attributes, trust=trust)
    ).records
    return only


def test_values_are_displayed_and_raw_is_what_stands_there() -> None:
    result = record(AttributeType("name"))

    assert ({"name": "Oak desk"}, {"name": "Oak\xa0desk"}) == (result.values, result.raw)
    assert ([], {}, {}) == (result.missing, result.failed, result.normalized)


def test_types_are_normalised_in_the_light_of_the_page() -> None:
    result = record(
        AttributeType("price", "price"), AttributeType("date", "date"), AttributeType("link", "url")
    )

    assert {
        "price": {"amount": "25.50", "currency": "EUR"},
        "date": "2024-03-05",
        "link": "http://s.example/big",
    } == result.normalized
    assert "../big" == result.values["link"]


def test_a_value_that_cannot_be_read_as_its_type_is_a_problem() -> None:
    unreadable = record(AttributeType("name", "date"))

    assert {"name": "'Oak desk' cannot be read as a date"} == unreadable.problems
    assert ({"name": "Oak desk"}, [], {}) == (
        unreadable.values,
        unreadable.missing,
        unreadable.normalized,
    )
    assert {} == record(AttributeType("name"), AttributeType("price", "price")).problems


def test_of_several_values_the_first_unreadable_is_named() -> None:
    unreadable = record(AttributeType("tags", "number", is_multi=True))

    assert {"tags": "'wood' cannot be read as a number, nor can 1 more"} == unreadable.problems


def test_values_are_read_as_in_the_country_of_the_site() -> None:
    page = RawPage("http://s.example.dk/1", b"<h1>x</h1><b>Price:</b> <i>kr. 25,50</i>")
    types = (AttributeType("price", "price"),)
    (of_host,) = extract(page, rule(*types)).records
    (of_site,) = extract(page, replace(rule(*types), country="SE")).records

    assert {"price": {"amount": "25.50", "currency": "DKK"}} == of_host.normalized
    assert {"price": {"amount": "25.50", "currency": "SEK"}} == of_site.normalized


def test_a_value_is_a_list_exactly_where_the_attribute_is_multi() -> None:
    assert {"tags": ["wood", "heavy"]} == record(AttributeType("tags", is_multi=True)).values
    assert {"tags": "wood"} == record(AttributeType("tags")).values


def test_a_regex_selects_or_refuses() -> None:
    assert {"price": "25,50"} == record(AttributeType("price", regex=r"([\d,]+) €")).values
    refused = record(AttributeType("price", regex="USD"))

    assert ({}, ["price"], {"price": "25,50 €"}) == (refused.values, refused.missing, refused.raw)
    assert "the regex USD refuses '25,50 €'" == refused.failed["price"]


def test_only_what_is_mandatory_fails_by_being_absent() -> None:
    optional, mandatory = (
        record(AttributeType("none")),
        record(AttributeType("none", is_mandatory=True)),
    )

    assert (["none"], {}) == (optional.missing, optional.failed)
    assert "mandatory, but the rule selects no node on this page" == mandatory.failed["none"]


def test_confidence_is_lowered_by_judged_values_that_were_wrong() -> None:
    fitted = record(AttributeType("name")).confidence["name"]

    assert 0.9 < fitted
    assert record(AttributeType("name"), name=trust_after(1, 1)).confidence["name"] < fitted


def test_places_select_their_raw_values_in_a_fresh_tree() -> None:
    attributes = (
        AttributeType("name"),
        AttributeType("price"),
        AttributeType("link"),
        AttributeType("tags", is_multi=True),
    )
    (extraction,) = extract(RawPage(URL, PAGE), rule(*attributes), nodes=True).records
    tree = parse_page(PAGE).tree
    assert tree is not None

    for name, raw in extraction.raw.items():
        paths, texts = extraction.nodes[name], [raw] if isinstance(raw, str) else raw
        assert texts == [
            tree.xpath(path)[0] for path in ([paths] if isinstance(paths, str) else paths)
        ]


class TestLists:
    def found(self, *attributes: AttributeType) -> Extracted:
        boundary = Boundary(by("element", Feature("tag", 0, ("li",))))
        return extract(RawPage(URL, LIST), rule(*attributes, boundary=boundary), nodes=True)

    def test_each_record_has_its_index_and_its_own_fields(self) -> None:
        first, other = self.found(AttributeType("item"), AttributeType("number")).records

        assert ({"item": "A", "number": "1"}, {"item": "B"}) == (first.values, other.values)
        assert (0, 1, ["number"]) == (first.index, other.index, other.missing)
        assert ["/html/body/ul/li[2]"] == other.record_nodes

    def test_constants_are_the_key_else_the_link_to_the_details(self) -> None:
        assert ["A", "B"] == [
            record.key for record in self.found(AttributeType("item", is_constant=True)).records
        ]
        assert ["1", "/p/2"] == [
            record.key for record in self.found(AttributeType("number", is_constant=True)).records
        ]


@pytest.mark.parametrize(
    ("body", "stylesheet", "reason"),
    [
        (b"", "", NO_TREE),
        (b"x" * (MAX_BYTES + 1), stylesheet_of(ClusterRule(())), TOO_LARGE),
        (b"<p>x", "<x", STYLESHEET_FAILED),
        (
            b"<p>x",
            '<html xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xsl:version="1.0"/>',
            STYLESHEET_FAILED,
        ),
    ],
)
def test_what_gives_no_record_says_why(body: bytes, stylesheet: str, reason: str) -> None:
    extraction = extract(RawPage(URL, body), RunnableRule("c", 1, stylesheet, ()))

    assert ([], reason) == (extraction.records, extraction.reason)
    assert extraction.detail


def test_a_truncated_page_is_named_as_such() -> None:
    assert (
        "truncated" == extract(RawPage(URL, b"<div>" * 3000), rule(AttributeType("name"))).problem
    )


def test_a_stylesheet_reads_no_file() -> None:
    text = stylesheet_of(ClusterRule(())).replace(
        "<record>", "<record><xsl:copy-of select=\"document('/etc/hostname')\"/>"
    )
    with pytest.raises(StylesheetFailed, match="cannot be read"):
        compile_stylesheet("<x")

    assert (
        STYLESHEET_FAILED == extract(RawPage(URL, b"<p>x"), RunnableRule("c", 1, text, ())).reason
    )


class TestPathsOfNodes:
    tree: Any = parse_page(
        b"<html><body><!-- c --><p>a<b>b</b>c</p><p title='t'>d</p></body></html>"
    ).tree

    def test_a_counted_path_becomes_the_path_of_its_element(self) -> None:
        counted = ["/*[1]/*[1]/*[1]/text()[2]", "/*[1]/*[1]/*[2]/@title", "/*[1]/*[1]"]

        assert ["/html/body/p[1]/text()[2]", "/html/body/p[2]/@title", "/html/body"] == list(
            page_paths(self.tree, counted).values()
        )

    def test_a_path_that_leads_nowhere_is_left_out(self) -> None:
        assert {} == page_paths(self.tree, ["", "x", "/*[2]", "/*[1]/*[9]", "//a"])
