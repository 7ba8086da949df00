"""On the demo sites the definition, lxml, xsltproc and the run agree on all raw values."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import parse_page
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import transform
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.bundle.extraction import extract
from tests.algorithms.generated_rules import defined_values
from tests.algorithms.rules.stylesheet.test_stylesheet import by_xsltproc, values_in
from vertex.demo import sites
from vertex.demo.sites import DemoPage, DemoSite

N_ANNOTATED, N_SAMPLES, N_RUN = 2, 10, 12


def tree_of(page: DemoPage) -> Any:
    return parse_page(page.body, page.content_type).tree


def annotated(page: DemoPage) -> AnnotatedPage:
    values = {
        name: [
            MarkedNode(place, text)
            for text, place in zip(
                [value] if isinstance(value, str) else value, page.places[name], strict=True
            )
        ]
        for name, value in page.values.items()
        if value is not None
    }
    absent = frozenset(name for name, value in page.values.items() if value is None)
    return AnnotatedPage(page.path, tree_of(page), values, absent)


def learnt_on(site: DemoSite) -> tuple[ClusterRule, list[DemoPage]]:
    pages = [page for page in site.pages.values() if page.values and page.status == 200]
    ((kind, _),) = Counter(page.type for page in pages).most_common(1)
    pages = [page for page in pages if page.type == kind]
    specs = [
        AttributeType(attribute["name"], attribute["type"], is_multi=attribute.get("multi", False))
        for attribute in site.vertical["attributes"]
    ]
    samples = [tree_of(page) for page in pages[N_ANNOTATED : N_ANNOTATED + N_SAMPLES]]
    rule = learn_cluster([annotated(page) for page in pages[:N_ANNOTATED]], samples, specs)
    return rule, pages[-N_RUN:]


@pytest.mark.skipif(shutil.which("xsltproc") is None, reason="needs xsltproc")
@pytest.mark.parametrize("name", sites.NAMES)
def test_all_engines_agree(name: str, tmp_path: Path) -> None:
    rule, pages = learnt_on(sites.load(name))
    stylesheet = stylesheet_of(rule)
    types = tuple(
        AttributeType(attribute.attribute, attribute.type, is_multi=attribute.is_multi)
        for attribute in rule.attributes
    )
    n_values = 0
    for page in pages:
        defined = defined_values(rule, tree_of(page))
        (record,) = extract(
            RawPage("", page.body, page.content_type), RunnableRule("c", 1, stylesheet, types)
        ).records
        raw = {name: [text] if isinstance(text, str) else text for name, text in record.raw.items()}

        assert defined == [raw]
        assert defined == values_in(transform(stylesheet, tree_of(page)).getroot())
        assert defined == values_in(by_xsltproc(tmp_path, stylesheet, tree_of(page)))
        n_values += len(raw)

    assert n_values >= 4 * len(pages)
