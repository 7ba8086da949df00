"""Which cluster's rule serves a page."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import (
    MAX_GROUP_CHARS,
    Click,
    ClusteringInputs,
    RawPage,
    SiteLink,
    group_key,
)
from clustering.algorithms.published.shingles import shingle_vector
from rules.algorithms.running import matching
from rules.algorithms.running.matching import (
    BY_MODEL,
    BY_SIGNATURE,
    ClusterProfile,
    Clusters,
    GroupModel,
    clusters_from_json,
    clusters_to_json,
    match_page,
)


def page(kind: str, number: int) -> RawPage:
    inner = {
        "product": "<b><a href='/product/1'>First</a></b>"
        f"<h1>Product {number}</h1><table><tr><th>Price</th><td>{number} EUR</td></tr></table>" * 3,
        "article": "<i><a href='/article/1'>First</a></i>"
        f"<h2>Article {number}</h2><p>Text {number}</p><ul><li>{number}<li>b</ul>" * 3,
    }[kind]
    return RawPage(
        f"http://s.example/{kind}/{number}",
        f"<html><body><div>{inner}</div></body></html>".encode(),
    )


PAGES = [page(kind, number) for number in range(6) for kind in ("product", "article")]


HOME = "http://s.example/"
# A list of products and one of articles, both on the home page.
LINKS = [
    SiteLink(HOME, f"/html/body/{'ul' if '/product/' in one.url else 'ol'}/li[{number}]/a", one.url)
    for number, one in enumerate(PAGES)
]


def signature_of(page: RawPage) -> str:
    return f"{shingle_vector(page.body):016x}"


def profiles(**changes: str) -> tuple[ClusterProfile, ...]:
    return (
        ClusterProfile(
            "products", "http://s.example/product/(.*)", signature_of(page("product", 1)), 6.0
        ),
        ClusterProfile(
            "articles", "http://s.example/article/(.*)", signature_of(page("article", 1)), 5.0
        ),
    )


def grouping(algorithm: str, **parameters: object) -> GroupModel:
    clusterer = CLUSTERERS[algorithm].with_values(parameters)
    tree_by_url = {page.url: page.tree for page in PAGES}
    inputs = ClusteringInputs(
        links=LINKS,
        clicks=[Click(f"{page.url.split('/')[-2]} {page.url[-1]}", page.url) for page in PAGES],
        read=tree_by_url.get,
    )
    observations = [clusterer.observe(page) if clusterer.observe else None for page in PAGES]
    grouping = clusterer.cluster_pages([page.url for page in PAGES], observations, inputs)
    clusters = {}
    for group in grouping.groups:
        is_product = "/product/" in PAGES[group.members[0]].url
        clusters[group_key(group.name)] = ["products" if is_product else "articles"]
    return GroupModel(algorithm, grouping.model, clusters, parameters)


class TestPaper:
    """Section IV-A: first the address, then the signature, then the importance."""

    def clusters(self, *some: ClusterProfile) -> Clusters:
        return Clusters(some or profiles(), variant=BY_SIGNATURE)

    def test_address_and_signature_together_choose(self) -> None:
        assert match_page(page("product", 9), self.clusters()).cluster == "products"
        assert match_page(page("article", 9), self.clusters()).cluster == "articles"

    def test_an_address_that_fits_no_pattern_matches_nothing(self) -> None:
        match = match_page(RawPage("http://s.example/x", page("product", 1).body), self.clusters())

        assert (None, matching.NO_URL_PATTERN) == (match.cluster, match.reason)

    def test_a_page_of_another_structure_matches_nothing(self) -> None:
        match = match_page(
            RawPage("http://s.example/product/1", page("article", 1).body), self.clusters()
        )

        assert (None, matching.NO_SIGNATURE) == (match.cluster, match.reason)

    def test_a_page_without_tags_matches_nothing(self) -> None:
        match = match_page(RawPage("http://s.example/product/1", b"text"), self.clusters())

        assert (None, matching.NO_TAGS) == (match.cluster, match.reason)

    def test_among_several_the_most_important_is_chosen(self) -> None:
        first, _ = profiles()
        twin = replace(first, name="twin", importance=7.0)

        assert match_page(page("product", 3), self.clusters(first, twin)).cluster == "twin"

    def test_wild_bytes_match_anything(self) -> None:
        first, _ = profiles()
        masked = replace(first, signature="**" + first.signature[2:-2] + "**")

        assert match_page(page("product", 3), self.clusters(masked)).cluster == "products"


@pytest.mark.parametrize("algorithm", sorted(CLUSTERERS))
def test_the_model_of_the_clustering_decides(algorithm: str) -> None:
    clusters = Clusters(profiles(), grouping(algorithm))

    assert ["products", "articles"] == [
        match_page(page(kind, 9), clusters).cluster for kind in ("product", "article")
    ]
    assert match_page(page("product", 9), clusters).variant == BY_MODEL


def test_the_first_link_to_a_page_decides_where_pages_are_grouped_by_links() -> None:
    clusters = Clusters(profiles(), grouping("uxclust"))
    unlike = RawPage("http://s.example/new", b"<html><body><video></video></body></html>")
    linked = replace(unlike, inbound_xpath="/html/body/ul/li[2]/a")

    assert clusters.goes_by_links
    assert match_page(linked, clusters).cluster == "products"
    assert matching.NO_PROFILE == match_page(unlike, clusters).reason
    assert not Clusters(profiles(), grouping("auto")).goes_by_links
    assert not replace(clusters, variant=BY_SIGNATURE).goes_by_links


def test_a_group_of_a_long_name_is_found_by_its_key() -> None:
    model = grouping("masked_path_shingles")

    assert any(len(name) > MAX_GROUP_CHARS for name in model.model["groups"])
    assert match_page(page("product", 9), Clusters(profiles(), model)).cluster == "products"


def test_iv_a_breaks_the_tie_of_a_group_with_several_clusters() -> None:
    model = grouping("auto")
    both = replace(
        model,
        clusters_by_group={name: ["products", "articles"] for name in model.clusters_by_group},
    )

    assert match_page(page("article", 9), Clusters(profiles(), both)).cluster == "articles"
    unknown = tuple(replace(profile, signature="") for profile in profiles())
    assert match_page(page("article", 9), Clusters(unknown, both)).cluster == "products"


def test_a_split_cluster_hands_its_pages_on() -> None:
    model = grouping("auto")
    part = ClusterProfile("cheap")
    every = {name: ["cheap"] for name in model.clusters_by_group}
    splits = {"products": replace(model, clusters_by_group=every)}
    clusters = Clusters((*profiles(), part), model, splits)

    assert match_page(page("product", 9), clusters).cluster == "cheap"
    assert match_page(page("article", 9), clusters).cluster == "articles"


def test_a_group_without_a_cluster_is_told() -> None:
    model = replace(grouping("auto"), clusters_by_group={})

    assert (
        matching.UNKNOWN_GROUP == match_page(page("product", 9), Clusters(profiles(), model)).reason
    )


def test_a_strange_page_is_like_no_group() -> None:
    strange = RawPage("http://other.example/", b"<html><body><form><input></form></body></html>")

    assert matching.NO_PROFILE == match_page(strange, Clusters(profiles(), grouping("auto"))).reason


def test_a_site_without_clusters_matches_nothing() -> None:
    assert matching.NO_CLUSTERS == match_page(page("product", 1), Clusters()).reason


def test_a_page_is_read_with_the_parameters_of_the_clustering() -> None:
    clusters = Clusters(profiles(), grouping("shingles", shingle_length=2))
    again = clusters_from_json(json.loads(json.dumps(clusters_to_json(clusters))))

    assert "products" == match_page(page("product", 1), clusters).cluster
    assert "products" == match_page(page("product", 1), again).cluster


def test_clusters_survive_json() -> None:
    clusters = Clusters(profiles(), grouping("auto"), {"products": grouping("shingles")})

    again = clusters_from_json(json.loads(json.dumps(clusters_to_json(clusters))))

    assert [match_page(page, clusters) for page in PAGES] == [
        match_page(page, again) for page in PAGES
    ]


@pytest.mark.parametrize(
    "change",
    [{"variant": "x"}, {"grouping": {"algorithm": "x", "model": {}, "clusters_by_group": {}}}],
)
def test_json_of_an_unknown_kind_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        clusters_from_json(clusters_to_json(Clusters(profiles())) | change)
