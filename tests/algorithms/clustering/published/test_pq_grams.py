"""pq-grams of small trees worked by hand, and the two ways to group by them."""

from __future__ import annotations

import pickle
import random
from collections import Counter

import pytest
from lxml import html

from clustering.algorithms.grouping import ClusteringInputs, RawPage, TooManyPages
from clustering.algorithms.published.pq_grams import (
    BY_SHINGLES,
    MAX_ELEMENTS,
    MAX_PAGES,
    assign,
    cluster_by_shingles,
    cluster_by_threshold,
    observe,
    pq_gram_distance,
    pq_grams,
    profile_of,
)


def tree(written: str) -> html.HtmlElement:
    """Make a tree from a form such as `a(b,c(d))`."""
    parser = html.XHTMLParser()
    xml = ""
    stack: list[str] = []
    label = ""
    for sign in written + ",":
        if sign == "(":
            xml += f"<{label}>"
            stack.append(label)
            label = ""
        elif sign in ",)":
            xml += f"<{label}/>" if label else ""
            label = ""
            if sign == ")":
                xml += f"</{stack.pop()}>"
        else:
            label += sign
    return html.fromstring(xml, parser=parser)


def grams(written: str, p: int = 2, q: int = 3) -> Counter[str]:
    return Counter({"".join(gram): count for gram, count in pq_grams(tree(written), p, q).items()})


def distance(a: str, b: str) -> float:
    return pq_gram_distance(profile_of(pq_grams(tree(a))), profile_of(pq_grams(tree(b))))


class TestPaper:
    def test_pq_grams_of_a_root_with_two_children(self) -> None:
        # Anchor a: *a with the windows over * * b c * *; the leaves: ab and ac with three nulls.
        assert {"*a**b": 1, "*a*bc": 1, "*abc*": 1, "*ac**": 1, "ab***": 1, "ac***": 1} == grams(
            "a(b,c)"
        )

    def test_equal_subtrees_count_twice(self) -> None:
        assert grams("a(b,b)")["ab***"] == 2

    def test_a_leaf_alone_is_one_pq_gram(self) -> None:
        assert grams("a") == {"*a***": 1}

    def test_other_p_and_q(self) -> None:
        assert grams("a(b)", p=1, q=1) == {"ab": 1, "b*": 1}
        assert grams("a(b(c))", p=3, q=1) == {"**ab": 1, "*abc": 1, "abc*": 1}

    def test_a_tree_of_n_nodes_and_i_inner_ones_has_2l_plus_qi_minus_1_pq_grams(self) -> None:
        # The number of Augsten, Böhlen, Gamper for l leaves and i inner nodes.
        assert grams("a(a(e,b),b,c)").total() == 2 * 4 + 3 * 2 - 1

    def test_distance_where_one_leaf_differs(self) -> None:
        # 13 pq-grams each; c stands in three windows of the root and is a leaf: 9 are common.
        assert distance("a(a(e,b),b,c)", "a(a(e,b),b,x)") == pytest.approx(1 - 2 * 9 / 26)

    def test_distance_where_a_child_is_missing(self) -> None:
        # 6 and 4 pq-grams; common are *a**b and ab***.
        assert distance("a(b,c)", "a(b)") == pytest.approx(1 - 2 * 2 / 10)

    def test_distance_counts_repeated_pq_grams(self) -> None:
        # a(b,b): *a**b *a*bb *abb* *ab** 2 x ab***; a(b): *a**b *a*b* *ab** ab***: three in common.
        assert distance("a(b,b)", "a(b)") == pytest.approx(1 - 2 * 3 / 10)

    def test_equal_trees_are_at_no_distance(self) -> None:
        assert distance("a(b,b,c(b,b))", "a(b,b,c(b,b))") == 0

    def test_trees_without_common_labels_are_at_distance_one(self) -> None:
        assert distance("a(b)", "c(d)") == 1


def page(markup: str) -> RawPage:
    return RawPage("https://a.example/", f"<html><body>{markup}</body></html>".encode())


LIST = "<ul>" + "<li><a>x</a></li>" * 20 + "</ul>"
MARKUPS = [
    LIST,
    LIST.replace("</ul>", "<li><a>y</a></li></ul>"),
    "<h1>a</h1><p>b</p>",
    "<h1>c</h1><p>d</p>",
]


def test_pages_are_grouped_by_threshold_or_by_shingles() -> None:
    profiles = [observe(page(markup)) for markup in MARKUPS]
    urls = [str(number) for number in range(len(profiles))]

    for grouping in (
        cluster_by_threshold(urls, profiles, ClusteringInputs()),
        cluster_by_shingles(urls, profiles, ClusteringInputs(), k=2),
        BY_SHINGLES.cluster_pages(urls, profiles, ClusteringInputs()),
    ):
        assert sorted(tuple(group.members) for group in grouping.groups) == [(0, 1), (2, 3)]
        assert grouping.labels(4)[0] == assign(grouping.model, profiles[1], "")
        assert assign(grouping.model, observe(page("<video><track></video>")), "") is None


@pytest.mark.parametrize("way", ["threshold", "shingles"])
def test_the_order_of_pages_does_not_matter(way: str) -> None:
    profiles = [observe(page(markup * times)) for markup in MARKUPS for times in (1, 2, 3)]
    order = list(range(len(profiles)))
    random.Random(2).shuffle(order)
    cluster = cluster_by_threshold if way == "threshold" else cluster_by_shingles
    here = cluster([""] * 12, profiles, ClusteringInputs()).labels(12)

    assert [here[i] for i in order] == cluster(
        [""] * 12, [profiles[i] for i in order], ClusteringInputs()
    ).labels(12)


def test_the_seed_chooses_the_shingle() -> None:
    profiles = [observe(page(markup)) for markup in MARKUPS]
    names = {
        cluster_by_shingles([""] * 4, profiles, ClusteringInputs(seed=seed)).groups[0].name
        for seed in range(5)
    }

    assert len(names) == 5


@pytest.mark.parametrize(
    "body", [b"", b" ", b"\x00\xff", b"<p " + b"a" * 1_000_000, b"<b>" * 30_000]
)
def test_hostile_pages_are_observed(body: bytes) -> None:
    profile = observe(RawPage("https://a.example/", body))

    assert len(profile.grams) == len(profile.counts)
    assert profile.counts.sum() <= 5 * MAX_ELEMENTS


def test_of_a_large_page_the_beginning_is_looked_at() -> None:
    large, larger = (observe(page("<p><b>x</b></p>" * n)) for n in (15_000, 20_000))

    assert large.counts.sum() <= larger.counts.sum() < 20_000 * 7


def test_no_pages_and_empty_pages() -> None:
    empty = observe(RawPage("https://a.example/", b""))

    assert cluster_by_threshold([], [], ClusteringInputs()).groups == []
    assert cluster_by_threshold(["", ""], [empty, empty], ClusteringInputs()).unassigned == (0, 1)
    assert cluster_by_shingles(["", ""], [empty, empty], ClusteringInputs()).unassigned == (0, 1)


def test_too_many_pages_are_refused_by_threshold_only() -> None:
    profiles = [observe(page("<p>"))] * (MAX_PAGES + 1)
    urls = [""] * len(profiles)

    with pytest.raises(TooManyPages, match="shingles"):
        cluster_by_threshold(urls, profiles, ClusteringInputs())
    assert len(cluster_by_shingles(urls, profiles, ClusteringInputs()).groups) == 1


def test_an_observation_can_be_sent_to_another_process() -> None:
    profile = observe(page(LIST))

    assert profile.as_set().tolist() == pickle.loads(pickle.dumps(profile)).as_set().tolist()
