"""U-REST as published: subtrees, clusters, the most record-like one."""

import pytest

from clustering.algorithms.published.urest import (
    LinearMargin,
    cluster_subtrees,
    decompose,
    extract_records,
    largest_coverage,
    load_weights,
    phi_features,
    psi_features,
    triplets,
)
from clustering.dom.page import parse_page
from tests.algorithms.clustering.records.test_page_model import model

SHOP = (
    b"<div id=nav><a href=/1>Home</a> <a href=/2>Shop</a> <a href=/3>Help</a></div><div id=list>"
    + b"".join(
        b"<div><h3><a href=/%d>Thing number %d</a></h3><p>It is made of <b>steel</b> and lasts.</p><i>%d.00</i></div>"
        % (n, n, n)
        for n in range(1, 9)
    )
    + b"</div>"
)
PHI = LinearMargin((1.0, 0.5, 0.5), -1.6)


def clusters_of(body: bytes) -> list[list[str]]:
    page = model(body)
    return [
        [page.tags[one] for one in cluster] for cluster in cluster_subtrees(decompose(page), PHI)
    ]


class TestPaper:
    def test_the_root_and_leaves_without_content_are_no_points(self) -> None:
        page = model(b"<body><p>x</p><br><img src=a></body>")
        points = [page.tags[element] for point in decompose(page) for element in point.elements]

        assert sorted(points) == ["body", "p"]

    def test_the_tri_gram_model_has_root_child_and_next_child(self) -> None:
        page = model(b"<ul><li>a<li>b<li>c</ul>")

        assert triplets(page, page.tags.index("ul")) == {("ul", "li", "li"): 2}

    def test_repetitions_become_clusters(self) -> None:
        assert ["div"] * 8 in clusters_of(SHOP)
        assert ["h3"] * 8 in clusters_of(SHOP)

    def test_the_records_are_returned_and_not_their_fields_or_the_navigation(self) -> None:
        tree = parse_page(SHOP).tree
        assert tree is not None

        assert ["div"] * 8 == [element.tag for element in extract_records(tree)]

    def test_records_are_more_contiguous_than_their_fields(self) -> None:
        page = model(SHOP)
        records = page.children[page.tags.index("div", page.tags.index("div") + 1)]
        titles = [number for number, tag in enumerate(page.tags) if tag == "h3"]

        assert psi_features(page, records)[0] == 1 > psi_features(page, titles)[0]

    def test_the_baseline_is_the_largest_cluster(self) -> None:
        page = model(SHOP)
        records = page.children[page.tags.index("div", page.tags.index("div") + 1)]

        assert largest_coverage(page, cluster_subtrees(decompose(page), PHI)) == records


def test_equal_trees_in_equal_places_are_most_alike() -> None:
    page = model(b"<p><b>x</b></p><p><b>x</b><i>y</i></p>")
    one, other = [point for point in decompose(page) if point.path[-1] == "p"]

    assert phi_features(one, one) == (1, 1, 1)
    assert phi_features(one, other)[0] == pytest.approx(2 / 3)


def test_a_page_where_nothing_repeats_has_no_records() -> None:
    tree = parse_page(b"<h1>x</h1>").tree
    assert tree is not None

    assert extract_records(tree) == []


def test_the_weights_that_ship_prefer_alike_trees() -> None:
    phi, _psi = load_weights()

    assert phi.margin((1, 1, 1)) > 0 > phi.margin((0.1, 0.2, 0))
