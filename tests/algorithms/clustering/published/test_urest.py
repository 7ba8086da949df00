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
        [page.tags[each] for each in cluster] for cluster in cluster_subtrees(decompose(page), PHI)
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
    first, other = [point for point in decompose(page) if point.path[-1] == "p"]

    assert phi_features(first, first) == (1, 1, 1)
    assert phi_features(first, other)[0] == pytest.approx(2 / 3)


def test_a_page_where_nothing_repeats_has_no_records() -> None:
    tree = parse_page(b"<h1>x</h1>").tree
    assert tree is not None

    assert extract_records(tree) == []


def test_the_weights_that_ship_prefer_alike_trees() -> None:
    phi, _psi = load_weights()

    assert phi.margin((1, 1, 1)) > 0 > phi.margin((0.1, 0.2, 0))


class TestVariation:
    def variation_of(self, body: bytes, tag: str) -> float:
        page = model(body)
        return psi_features(page, [page.tags.index(tag)])[2]

    def test_is_that_of_the_fields_of_a_record(self) -> None:
        record = b"<section><h3>a</h3><p>b <b>c</b></p><i>d</i></section>"
        assert 1.0 == self.variation_of(record, "section")

    def test_is_none_of_a_leaf_and_of_equal_items(self) -> None:
        assert 0.0 == self.variation_of(b"<section>only words</section>", "section")
        assert 0.0 == self.variation_of(b"<ul><li>a<li>b<li>c</ul>", "ul")

    def test_looks_through_elements_around_all_parts(self) -> None:
        wrapped = b"<section><div><div><h3>a</h3><p>b</p></div></div></section>"
        assert 1.0 == self.variation_of(wrapped, "section")

    def test_is_higher_for_records_than_for_what_is_in_them(self) -> None:
        page = model(SHOP)
        records = [n for n, tag in enumerate(page.tags) if tag == "h3"]
        parents = [page.parents[n] for n in records]
        assert psi_features(page, parents)[2] > psi_features(page, records)[2]


def test_text_within_an_earlier_subtree_is_not_counted_again() -> None:
    page = model(b"<div><p>aaaa</p><p>bbbb</p></div><div>cc</div>")
    first, second = page.tags.index("div"), page.tags.index("p")
    cluster = [first, second, page.tags.index("p", second + 1)]
    assert 0.8 == psi_features(page, cluster)[1]
