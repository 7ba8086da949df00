"""What holds for every algorithm in the table."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from clustering.algorithms.clusterers import CLUSTERERS, sentence_of
from clustering.algorithms.grouping import Clusterer, ClusteringInputs, Grouping, RawPage, SiteLink
from clustering.algorithms.parameters import Parameter, Value
from clustering.algorithms.published.derived_log import derive_clicks

HOME = "http://shop.example/"
PRODUCT = (
    "<html><body><h1>{n}</h1><div class=price><b>${n}</b></div><ul><li>{n}<li>b</ul></body></html>"
)
ARTICLE = "<html><body><article><h2>{n}</h2><p>{n}<p>c<p>d</article><table><tr><td>{n}</table></body></html>"


def name_of(number: int) -> str:
    return f"boots {chr(96 + number)}x"


def shop() -> list[RawPage]:
    """A home page that links to twelve products and, elsewhere, to twelve articles."""
    products = [
        RawPage(f"{HOME}p/{n}", PRODUCT.format(n=name_of(n + 1)).encode()) for n in range(12)
    ]
    articles = [
        RawPage(f"{HOME}a/{n}", ARTICLE.format(n=name_of(n + 13)).encode()) for n in range(12)
    ]
    to_products = "".join(
        f"<li><a href='{page.url}'>boots {page.url[-2:]}</a>" for page in products
    )
    to_articles = "".join(
        f"<p><a href='{page.url}'>news {page.url[-2:]}</a></p>" for page in articles
    )
    home = RawPage(
        HOME, f"<html><body><ul>{to_products}</ul><div>{to_articles}</div></body></html>".encode()
    )
    return [home, *products, *articles]


def evidence_of(pages: list[RawPage]) -> ClusteringInputs:
    links = [
        SiteLink(
            HOME,
            f"/html/body/ul/li[{n}]/a" if "/p/" in page.url else f"/html/body/div/p[{n}]/a",
            page.url,
            name_of(n),
        )
        for n, page in enumerate(pages[1:], 1)
    ]
    tree_by_url = {page.url: page.tree for page in pages}
    return ClusteringInputs(
        links=links, clicks=derive_clicks(links), has_derived_clicks=True, read=tree_by_url.get
    )


def grouped(clusterer: Clusterer, pages: list[RawPage], evidence: ClusteringInputs) -> Grouping:
    observations = [clusterer.observe(page) if clusterer.observe else None for page in pages]
    return clusterer.cluster_pages([page.url for page in pages], observations, evidence)


@pytest.mark.parametrize("clusterer", CLUSTERERS.values(), ids=lambda clusterer: clusterer.name)
class TestEach:
    def test_no_page_is_in_two_groups_and_none_is_lost(self, clusterer: Clusterer) -> None:
        pages = shop()
        grouping = grouped(clusterer, pages, evidence_of(pages))
        assigned = [page for group in grouping.groups for page in group.members] + list(
            grouping.unassigned
        )

        assert list(range(len(pages))) == sorted(assigned)

    def test_the_model_is_json(self, clusterer: Clusterer) -> None:
        pages = shop()
        model = grouped(clusterer, pages, evidence_of(pages)).model

        assert model == json.loads(json.dumps(model))

    def test_the_order_of_pages_does_not_matter(self, clusterer: Clusterer) -> None:
        pages = shop()
        evidence = evidence_of(pages)
        shuffled = random.Random(3).sample(pages, len(pages))
        here = grouped(clusterer, pages, evidence).labels(len(pages))
        there = grouped(clusterer, shuffled, evidence).labels(len(pages))

        assert sorted(zip((page.url for page in pages), map(str, here), strict=True)) == sorted(
            zip((page.url for page in shuffled), map(str, there), strict=True)
        )

    def test_a_site_without_pages_has_no_groups(self, clusterer: Clusterer) -> None:
        links = [SiteLink(HOME, "/html/body/a", f"{HOME}p/1", "boots")]
        evidence = ClusteringInputs(
            links=links, clicks=derive_clicks(links), read=lambda _url: None
        )

        assert list(clusterer.cluster_pages([], [], evidence).groups) == []

    def test_a_later_page_comes_to_the_group_of_its_kind(self, clusterer: Clusterer) -> None:
        pages = shop()
        evidence = evidence_of(pages)
        grouping = grouped(clusterer, pages, evidence)
        xpath_by_url = {link.target: link.xpath for link in evidence.links}
        later = [replace(page, inbound_xpath=xpath_by_url[page.url]) for page in pages[1:]]

        assert grouping.labels(len(pages))[1:] == [
            clusterer.find_group(grouping.model, page) for page in later
        ]

    def test_it_says_on_what_evidence_it_decided(self, clusterer: Clusterer) -> None:
        pages = shop()

        assert grouped(clusterer, pages, evidence_of(pages)).why


@pytest.mark.parametrize("name", ["uxclust", "uxclust_without_positions"])
def test_a_page_to_which_no_link_is_known_goes_by_what_it_looks_like(name: str) -> None:
    clusterer, pages = CLUSTERERS[name], shop()
    grouping = grouped(clusterer, pages, evidence_of(pages))

    assert clusterer.goes_by_links
    assert grouping.labels(len(pages))[1:] == [
        clusterer.find_group(grouping.model, page) for page in pages[1:]
    ]


@pytest.mark.parametrize(
    ("clusterer", "parameter"),
    [
        pytest.param(clusterer, parameter, id=f"{clusterer.name}-{parameter.name}")
        for clusterer in CLUSTERERS.values()
        for parameter in clusterer.parameters
    ],
)
class TestEachParameter:
    def test_its_default_is_what_the_algorithm_does_by_itself(
        self, clusterer: Clusterer, parameter: Parameter
    ) -> None:
        pages = shop()
        evidence = evidence_of(pages)
        selection = clusterer.with_values({parameter.name: parameter.default})

        assert grouped(clusterer, pages, evidence) == grouped(selection, pages, evidence)

    def test_other_values_are_taken(self, clusterer: Clusterer, parameter: Parameter) -> None:
        pages = shop()
        evidence = evidence_of(pages)
        values: dict[str, Sequence[Value]] = {
            "switch": [True, False],
            "choice": parameter.choices,
            "number": [parameter.least, parameter.most],
            "whole number": [parameter.least, parameter.most],
        }
        for value in values[parameter.kind]:
            selection = clusterer.with_values({parameter.name: value})
            grouping = grouped(selection, pages, evidence)
            observations = [
                selection.observe(page) if selection.observe else None for page in pages
            ]
            for page, observation in zip(pages, observations, strict=True):
                selection.assign(grouping.model, observation, page.url)

    def test_its_sentence_is_one(self, clusterer: Clusterer, parameter: Parameter) -> None:
        assert parameter.sentence.endswith(".")
        assert parameter.check(parameter.default) == parameter.default


def test_names_are_those_of_the_commands() -> None:
    named = {
        "shingles",
        "keyclus",
        "uxclust",
        "site_model",
        "path_shingles",
        "masked_path_shingles",
    }

    assert named | {"pq_grams", "common_paths"} <= set(CLUSTERERS)


@pytest.mark.parametrize("name", sorted(CLUSTERERS))
def test_every_algorithm_says_in_a_sentence_what_it_does(name: str) -> None:
    sentence = sentence_of(name)

    assert sentence.endswith(".")
    assert sentence.startswith(("Group", "Explore"))


def test_no_two_algorithms_say_the_same() -> None:
    assert len(CLUSTERERS) == len({sentence_of(name) for name in CLUSTERERS})
