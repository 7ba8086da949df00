"""The nodes that two trees have in common."""

from functools import cache
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.published.tree_edit import (
    OrderedTree,
    edit_distance,
    n_matching,
    n_matching_in_order,
    tree_of,
)
from tests.algorithms.clustering.records.test_page_model import model

Nested = tuple[str, tuple["Nested", ...]]
NESTED = st.recursive(
    st.tuples(st.sampled_from("ab"), st.just(())),
    lambda below: st.tuples(st.sampled_from("ab"), st.lists(below, max_size=3).map(tuple)),
    max_leaves=5,
)


def tree(body: bytes) -> OrderedTree:
    page = model(body)
    return tree_of(page, page.tags.index("div"))


def in_postorder(nested: Nested) -> OrderedTree:
    labels: list[str] = []
    leftmost: list[int] = []

    def visit(node: Nested) -> None:
        first = len(labels)
        for below in node[1]:
            visit(below)
        labels.append(node[0])
        leftmost.append(first)

    visit(nested)
    return OrderedTree(tuple(labels), tuple(leftmost))


@cache
def forest_distance(first: tuple[Nested, ...], other: tuple[Nested, ...]) -> int:
    """Return the distance by its definition: delete, insert or match the last roots."""
    if not first and not other:
        return 0
    choices = []
    if first:
        choices.append(forest_distance(first[:-1] + first[-1][1], other) + 1)
    if other:
        choices.append(forest_distance(first, other[:-1] + other[-1][1]) + 1)
    if first and other and first[-1][0] == other[-1][0]:
        choices.append(
            forest_distance(first[-1][1], other[-1][1]) + forest_distance(first[:-1], other[:-1])
        )
    return min(choices)


class TestPaper:
    def test_the_score_is_the_count_of_matching_nodes(self) -> None:
        first = tree(b"<div><b>x</b><i>y</i></div>")
        other = tree(b"<div><b>x</b><u>z</u><i>y</i></div>")

        assert n_matching(first, other) == 3
        assert n_matching(first, first) == len(first)

    def test_order_is_kept(self) -> None:
        assert (
            n_matching(tree(b"<div><b>x</b><i>y</i></div>"), tree(b"<div><i>y</i><b>x</b></div>"))
            == 2
        )

    def test_tag_paths_are_compared_in_order(self) -> None:
        assert n_matching_in_order(["html", "body", "ul"], ["html", "body", "div", "ul"]) == 3


@given(NESTED, NESTED)
def test_the_distance_is_that_of_its_definition(first: Nested, other: Nested) -> None:
    assert forest_distance((first,), (other,)) == edit_distance(
        in_postorder(first), in_postorder(other)
    )


def test_of_a_large_tree_only_the_first_nodes_are_read() -> None:
    page = model(b"<div>" + b"<p>x</p>" * 50 + b"</div>")

    assert len(tree_of(page, page.tags.index("div"), 10)) == 10


def test_distances_are_symmetric() -> None:
    trees = [tree(b"<div><b>x</b></div>"), tree(b"<div><p><b>x</b></p></div>")]

    assert all(
        edit_distance(first, other) == edit_distance(other, first)
        for first, other in product(trees, trees)
    )
