"""Entries of nested lists are found by their values, and values stay with their entries."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from rules.algorithms.learning.entries import entries_of
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.list_learner import learn_list
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import extract_tree, transform
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.bundle.extraction import extract
from tests.algorithms.rules.stylesheet.test_stylesheet import by_xsltproc

NAME, PRICE = "offers.name", "offers.price"
TYPES = [AttributeType(NAME, is_multi=True), AttributeType(PRICE, "price", is_multi=True)]
Offers = Sequence[tuple[str, str | None]]
MANY: list[Offers] = [
    [("Red", "5 €"), ("Blue", "6 €"), ("Green", None)],
    [("Ash", "15 €"), ("Oak", None), ("Elm", "17 €")],
    [("Only", "8 €")],
    [("First", None), ("Second", "9 €")],
]


def rows(offers: Offers) -> str:
    cells = "".join(
        f"<tr><td class=n>{name}<td>{f'<i>{price}</i>' if price else 'ask'}"
        for name, price in offers
    )
    return f"<table><tr><th>Offer<th>Price{cells}</table>"


def items(offers: Offers) -> str:
    return "".join(
        f"<li><b class=n>{name}</b>{f' for <i>{price}</i>' if price else ''}"
        for name, price in offers
    )


def runs(offers: Offers) -> str:
    return "".join(
        f"<h3 class=n>{name}</h3>{f'<p>now <i>{price}</i></p>' if price else ''}"
        for name, price in offers
    )


def page_of(block: str) -> str:
    return (
        f"<html><body><h1>Tent</h1><div class=o>{block}</div><p>Not <i>12 €</i></p></body></html>"
    )


def annotated(text: str, within: str = "//div[@class='o']") -> AnnotatedPage:
    tree: Any = html.document_fromstring(text)
    values = {
        NAME: [MarkedNode(node) for node in tree.xpath(f"{within}//*[@class='n']")],
        PRICE: [MarkedNode(node) for node in tree.xpath(f"{within}//i")],
    }
    return AnnotatedPage("https://shop.example/", tree, values)


@pytest.mark.parametrize("block", [rows, items, runs])
def test_the_entries_of_a_page(block: Callable[[Offers], str]) -> None:
    entries = entries_of(annotated(page_of(block(MANY[0]))), [NAME, PRICE])
    texts = [" ".join(str(element.xpath("string()")) for element in entry) for entry in entries]

    assert 3 == len(entries)
    assert ["Red" in texts[0], "Blue" in texts[1], "Green" in texts[2]] == [True] * 3
    assert ["5" in texts[0], "6" in texts[1]] == [True, True]


def test_a_single_entry_shows_no_end() -> None:
    assert [] == entries_of(annotated(page_of(rows(MANY[2]))), [NAME, PRICE])


def test_two_values_directly_in_one_element_are_no_entries() -> None:
    page = annotated(page_of("<p class=n>Red</p>"))
    both = [MarkedNode("//p[@class='n']"), MarkedNode("//p[@class='n']")]
    doubled = AnnotatedPage(page.url, page.tree, {NAME: both})

    assert [] == entries_of(doubled, [NAME])


@pytest.mark.skipif(shutil.which("xsltproc") is None, reason="needs xsltproc")
@pytest.mark.parametrize("block", [rows, items, runs])
def test_all_engines_keep_a_gap_in_its_place(
    block: Callable[[Offers], str], tmp_path: Path
) -> None:
    texts = [page_of(block(offers)) for offers in MANY]
    trees = [html.document_fromstring(text) for text in texts]
    rule = learn_cluster([annotated(texts[0])], trees[1:], TYPES)
    stylesheet = stylesheet_of(rule)
    runnable = RunnableRule("c", 1, stylesheet, TYPES)

    for text, offers in zip(texts, MANY, strict=True):
        tree = html.document_fromstring(text)
        (record,) = extract_tree(tree, "https://shop.example/", runnable, nodes=True).records
        assert [name for name, _ in offers] == record.values[NAME]
        assert [price for _, price in offers] == record.values[PRICE]
        assert [price is None for _, price in offers] == [
            amount is None
            for amount in record.normalized[PRICE]  # type: ignore[attr-defined]
        ]
        assert len(offers) == len(record.nodes[PRICE])

        page = RawPage("https://shop.example/", text.encode(), "text/html")
        assert extract(page, runnable).records[0].values == record.values
        by_lxml = transform(stylesheet, tree, votes=False).getroot()
        assert _items(by_xsltproc(tmp_path, stylesheet, tree)) == _items(by_lxml)


def _items(root: Any) -> list[tuple[str, str, str]]:
    return [
        (value.get("name"), value.get("item"), "".join(value.itertext()))
        for value in root.iter("value")
    ]


def test_a_list_in_the_records_of_a_list() -> None:
    records: list[Offers] = [
        [("S", "1 €"), ("M", None), ("L", "3 €")],
        [("XL", None)],
        [("A", "4 €"), ("B", "5 €")],
    ]
    blocks = "".join(f"<div class=r><ul>{items(offers)}</ul></div>" for offers in records)
    page = annotated(f"<html><body><div class=o>{blocks}</div></body></html>")
    tree: Any = page.tree
    bounded = AnnotatedPage(
        page.url,
        page.tree,
        page.values,
        records=[[r] for r in tree.xpath("//div[@class='r']")],
    )
    rule = learn_list(read_samples([bounded], []), TYPES)
    runnable = RunnableRule("c", 1, stylesheet_of(rule), TYPES)
    extracted = extract_tree(page.tree, "https://shop.example/", runnable).records

    assert [[name for name, _ in offers] for offers in records] == [
        record.values[NAME] for record in extracted
    ]
    assert [["1 €", None, "3 €"], None, ["4 €", "5 €"]] == [
        record.values.get(PRICE) for record in extracted
    ]


def test_what_cannot_be_told_apart_is_a_failure_of_the_rule() -> None:
    rule = learn_cluster([annotated(page_of(rows(MANY[2])))], [], TYPES)

    assert ["offers"] == [failure.attribute for failure in rule.failures]
    assert "annotate a page on which it has two or more" in str(rule.failures[0])
