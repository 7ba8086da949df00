"""The stylesheet says what the rule's XPaths say, in lxml and in xsltproc."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree

from benchmarks.parity.tree_as_xml import tree_as_xml
from clustering.dom.page import parse_page
from rules.algorithms.by_hand.sandbox import read_stylesheet
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, AttributeRule, Boundary, ClusterRule, Selection
from rules.algorithms.running.run_rule import page_paths, read_result, run_stylesheet, transform
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from tests.algorithms import generated_rules as made

PAGE = """<html><body><h1 class="title">Oak <b>desk</b> <i>XL</i></h1>
<table><tr><th>Price:</th> <td> 25 EUR </td></tr><tr><th>Tags</th><td>wood, heavy</td></tr></table>
<ul><li><a href="/a">A</a> <s>1 EUR</s></li><li><a href="/b">B</a></li></ul></body></html>"""
WHOLE = Selection()
generated = settings(
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def tree_of(page: str) -> etree._Element:
    tree: etree._Element | None = parse_page(page.encode()).tree
    assert tree is not None
    return tree


def run(rule: ClusterRule, page: str) -> list[dict[str, list[str]]]:
    records = run_stylesheet(stylesheet_of(rule), tree_of(page))
    return [
        {name: [value.text for value in values] for name, values in record.values.items()}
        for record in records
    ]


def way(*features: Feature, target: str = "text()", selection: Selection = WHOLE) -> Alternative:
    return Alternative("xpath", target, features, selection)


TITLE = way(Feature("tag", 0, ("h1",)), target="element")
PRICE = way(Feature("label", 0, ("Price",)))
TAGS = way(Feature("before", 0, ("Tags",)), selection=Selection(separator=","))
LINK = way(Feature("tag", 0, ("a",)), target="@href")


@settings(generated, max_examples=120)
@given(made.pages_with_rules())
def test_stylesheet_and_definition_agree(case: tuple[str, ClusterRule]) -> None:
    page, rule = case

    assert made.defined_values(rule, tree_of(page)) == run(rule, page)


@settings(generated, max_examples=60)
@given(made.pages_with_rules())
def test_every_place_selects_its_value_in_a_fresh_tree(case: tuple[str, ClusterRule]) -> None:
    page, rule = case
    records = run_stylesheet(stylesheet_of(rule), tree_of(page), nodes=True)
    values = [value for record in records for some in record.values.values() for value in some]
    places = page_paths(tree_of(page), [value.node for value in values])
    fresh: Any = tree_of(page)
    for value in values:
        (node,) = fresh.xpath(places[value.node])
        text = made.text_of(node)
        words = text.replace("\xa0", " ").replace("\u200b", "").replace(",", " ").split()
        assert set(value.text.split()) <= set(words) or value.text in text


@settings(generated, max_examples=15)
@given(made.pages_with_rules())
def test_a_made_stylesheet_passes_the_sandbox(case: tuple[str, ClusterRule]) -> None:
    read_stylesheet(stylesheet_of(case[1]).encode())


@pytest.mark.skipif(shutil.which("xsltproc") is None, reason="needs xsltproc")
@settings(generated, max_examples=15)
@given(made.pages_with_rules())
def test_xsltproc_emits_the_same(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, ClusterRule]
) -> None:
    page, rule = case
    folder = tmp_path_factory.mktemp("xsltproc")
    by_lxml = transform(stylesheet_of(rule), tree_of(page)).getroot()

    assert values_in(by_lxml) == values_in(by_xsltproc(folder, stylesheet_of(rule), tree_of(page)))


def by_xsltproc(folder: Path, stylesheet: str, tree: etree._Element) -> etree._Element:
    (folder / "rule.xsl").write_text(stylesheet, encoding="utf-8")
    (folder / "page.xml").write_bytes(tree_as_xml(tree))
    done = subprocess.run(
        ["xsltproc", folder / "rule.xsl", folder / "page.xml"], capture_output=True, check=True
    )
    return etree.fromstring(done.stdout)


def values_in(root: etree._Element | None) -> list[dict[str, list[str]]]:
    return [
        {name: [entry.text for entry in some] for name, some in record.values.items()}
        for record in read_result(root)
    ]


class TestOutput:
    def test_it_is_exactly_a_record_of_values(self) -> None:
        rule = ClusterRule(
            (AttributeRule("price", alternatives=(PRICE,)), AttributeRule("no", alternatives=()))
        )

        assert '<record><value name="price"> 25 EUR </value></record>' == written(rule)

    def test_a_boundary_puts_records_around_several(self) -> None:
        rule = ClusterRule(
            (AttributeRule("link", alternatives=(LINK,)),),
            Boundary(way(Feature("tag", 0, ("li",)), target="element")),
        )

        first, other = (f'<record><value name="link">/{name}</value></record>' for name in "ab")
        assert f"<records>{first}{other}</records>" == written(rule)

    def test_provenance_is_told_on_demand_only(self) -> None:
        rule = ClusterRule((AttributeRule("price", alternatives=(PRICE,), losers=(TITLE, PRICE)),))
        ((value,),) = run_stylesheet(stylesheet_of(rule), tree_of(PAGE), nodes=True)[
            0
        ].values.values()

        assert "/*[1]/*[1]/*[2]/*[1]/*[2]/text()[1]" == value.node
        assert (1, 1, 2, 1) == (value.way, value.n_nodes, value.n_rivals, value.n_agree)


def written(rule: ClusterRule) -> str:
    compiled = etree.XSLT(etree.fromstring(stylesheet_of(rule).encode()))
    return etree.tostring(compiled(tree_of(PAGE)).getroot(), encoding="unicode")


def test_the_words_of_an_element_stay_apart() -> None:
    assert [{"name": ["Oak desk XL"]}] == run(
        ClusterRule((AttributeRule("name", alternatives=(TITLE,)),)), PAGE
    )


def test_the_first_alternative_that_selects_serves() -> None:
    nothing = way(Feature("id", 0, ("x",)), target="element")
    rule = ClusterRule((AttributeRule("price", alternatives=(nothing, PRICE, TITLE)),))

    assert [{"price": [" 25 EUR "]}] == run(rule, PAGE)


def test_several_values_in_one_text_are_split() -> None:
    rule = ClusterRule((AttributeRule("tags", is_multi=True, alternatives=(TAGS,)),))

    assert [{"tags": ["wood", "heavy"]}] == run(rule, PAGE)


def test_comments_say_what_was_learnt_from_what() -> None:
    text = stylesheet_of(
        ClusterRule(
            (AttributeRule("price", alternatives=(PRICE,)),),
            learnt_from=("http://s/--1",),
            n_unannotated=17,
        ),
        title="Cluster products.",
    )

    assert "Cluster products." in text
    assert "http://s/- -1" in text
    assert "17" in text
    assert etree.fromstring(text.encode()) is not None
