"""Tree edit distance of equation 1, and groups by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.grouping import ClusteringInputs, Grouping, RawPage, TooManyPages
from clustering.algorithms.published.tree_distance import (
    MAX_PAGES,
    Outlines,
    assign,
    cluster_pages,
    observe,
    tree_distance,
)

Tree = tuple[str, tuple[Any, ...]]

TREES: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(st.sampled_from("abc"), st.just(())),
    lambda trees: st.tuples(st.sampled_from("abc"), st.lists(trees, max_size=4).map(tuple)),
    max_leaves=8,
)


def outline(tree: Tree, depth: int = 0) -> str:
    tag, children = tree
    return "\n".join([f"{depth} {tag}", *(outline(child, depth + 1) for child in children)])


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree[1]))


def plain_distance(a: Tree, b: Tree) -> int:
    """Return the distance as Selkow defines it, without any short cut."""
    rows = [[0] * (len(b[1]) + 1) for _ in range(len(a[1]) + 1)]
    for i in range(len(a[1]) + 1):
        for j in range(len(b[1]) + 1):
            choices = []
            if i:
                choices.append(rows[i - 1][j] + size(a[1][i - 1]))
            if j:
                choices.append(rows[i][j - 1] + size(b[1][j - 1]))
            if i and j:
                choices.append(rows[i - 1][j - 1] + plain_distance(a[1][i - 1], b[1][j - 1]))
            rows[i][j] = min(choices, default=0)
    return (a[0] != b[0]) + rows[-1][-1]


def page(n: int, inner: str) -> RawPage:
    return RawPage(f"http://a.example/{n}", f"<html><body>{inner}</body></html>".encode())


def grouped(pages: list[RawPage], **options: float) -> Grouping:
    observations = [observe(each) for each in pages]
    return cluster_pages([each.url for each in pages], observations, ClusteringInputs(), **options)


class TestPaper:
    def test_equation_1_divides_by_the_larger_tree(self) -> None:
        small, large = "0 html\n1 body", "0 html\n1 body\n2 p\n2 p"

        assert 2 / 4 == tree_distance(small, large) == tree_distance(large, small)

    def test_a_tag_is_replaced_by_one_edit(self) -> None:
        assert 1 / 2 == tree_distance("0 html\n1 body", "0 html\n1 frameset")

    def test_a_subtree_goes_with_all_its_nodes(self) -> None:
        assert 3 / 5 == tree_distance("0 html\n1 body\n2 ul\n3 li\n3 li", "0 html\n1 body")

    def test_pages_of_one_template_are_together_and_others_are_not(self) -> None:
        products = [
            page(n, "<h1>x</h1><p>y</p><p>z</p><ul><li>a<li>b</ul>" + "<p>x" * (n % 2))
            for n in range(6)
        ]
        articles = [
            page(n, "<article><h2>x</h2><section><i>y</i></section></article>")
            for n in range(6, 10)
        ]
        grouping = grouped([*products, *articles])

        assert [(0, 1, 2, 3, 4, 5), (6, 7, 8, 9)] == [group.members for group in grouping.groups]


@given(TREES, TREES)
def test_the_distance_is_that_of_the_plain_definition(a: Tree, b: Tree) -> None:
    expected = plain_distance(a, b) / max(size(a), size(b))

    assert expected == tree_distance(outline(a), outline(b))


@given(TREES, TREES, st.sampled_from([0.0, 0.3, 0.5, 0.8]))
def test_what_is_told_apart_by_common_nodes_is_not_similar(
    a: Tree, b: Tree, threshold: float
) -> None:
    first, second = outline(a), outline(b)
    is_similar = 1 - tree_distance(first, second) > threshold

    assert is_similar == Outlines().are_similar(first, second, threshold)


def test_a_later_page_joins_the_group_it_is_most_like() -> None:
    pages = [page(n, "<h1>x</h1>" + "<p>y</p>" * 8) for n in range(3)]
    pages += [page(n, "<ul>" + "<li>y</li>" * 8 + "</ul>") for n in range(3, 6)]
    grouping = grouped(pages)

    assert grouping.groups[1].name == assign(grouping.model, observe(pages[4]), "")
    assert grouping.labels(6)[0] == assign(
        grouping.model, observe(page(9, "<h1>x</h1>" + "<p>y</p>" * 9)), ""
    )
    assert assign(grouping.model, observe(page(9, "<table><tr><td>x</table>")), "") is None
    assert assign(grouping.model, "", "") is None


def test_pages_that_belong_together_in_a_chain_are_recognised() -> None:
    pages = [page(n, "<p>x</p>" * n) for n in range(4, 60)]
    grouping = grouped(pages)

    assert 1 == len(grouping.groups)
    assert {grouping.groups[0].name} == {
        assign(grouping.model, observe(each), each.url) for each in pages
    }


def test_a_page_without_elements_is_in_no_group() -> None:
    assert (1,) == grouped([page(0, "x"), RawPage("http://a.example/", b"")]).unassigned


def test_more_pages_than_can_be_compared_are_refused() -> None:
    with pytest.raises(TooManyPages, match="at most 2,000"):
        cluster_pages([""] * (MAX_PAGES + 1), ["0 p"] * (MAX_PAGES + 1), ClusteringInputs())


@pytest.mark.parametrize(
    "body",
    [
        b"<p>" * 20_000,
        b"<div>" * 5_000,
        b"<b><i>" * 3_000,
        b"".join(b"<h%d>" % (n % 6 + 1) for n in range(9_000)),
    ],
)
def test_hostile_pages_end_well(body: bytes) -> None:
    pages = [
        RawPage("http://a.example/1", body),
        RawPage("http://a.example/2", body + b"<hr>" * 99),
    ]

    assert grouped(pages).groups
