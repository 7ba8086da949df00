"""Path shingles: KeyClus without key paths."""

from __future__ import annotations

import pickle
import random

import pytest

from clustering.algorithms.grouping import ClusteringInputs, RawPage
from clustering.algorithms.path_sets import min_hash
from clustering.algorithms.published.attributed_paths import observe_tree
from clustering.algorithms.published.keyclus import PathProfile, two_step_shingle
from clustering.algorithms.published.path_shingles import (
    assign,
    attributed_path_set,
    cluster_pages,
    observe,
)

PAGES = [
    b"<html><body id=a><h1 class=x>t</h1><p>a</p></body></html>",
    b"<html><body id=a><h1 class=x>t</h1><p>a</p><p>b</p></body></html>",
    b"<html><body id=a><ul class=l><li>t</ul><div class=y></div></body></html>",
]


def page(body: bytes) -> RawPage:
    return RawPage("https://a.example/", body)


class TestPaper:
    @pytest.mark.parametrize("k", [1, 3, 8])
    @pytest.mark.parametrize("body", PAGES)
    def test_path_shingles_are_keyclus_without_key_paths(self, body: bytes, k: int) -> None:
        tree = page(body).tree
        for seed in range(5):
            shingle = two_step_shingle(observe_tree(tree), PathProfile({}, [], k, seed))

            assert shingle == min_hash(attributed_path_set(tree), k, seed)

    def test_repetitions_of_a_path_do_not_count(self) -> None:
        grouping = cluster_pages(
            ["a", "b", "c"], [observe(page(body)) for body in PAGES], ClusteringInputs(), k=8
        )

        assert [group.members for group in grouping.groups] == [(0, 1), (2,)]

    def test_another_seed_takes_other_paths(self) -> None:
        paths = observe(page(PAGES[0]))

        assert len({min_hash(paths, 1, seed) for seed in range(30)}) > 1


def test_the_order_of_pages_does_not_matter() -> None:
    observations = [observe(page(body)) for body in PAGES * 4]
    order = list(range(12))
    random.Random(3).shuffle(order)
    here = cluster_pages([""] * 12, observations, ClusteringInputs()).labels(12)

    assert [here[i] for i in order] == cluster_pages(
        [""] * 12, [observations[i] for i in order], ClusteringInputs()
    ).labels(12)


def test_a_later_page_joins_the_group_of_its_shingle() -> None:
    grouping = cluster_pages(["a"], [observe(page(PAGES[0]))], ClusteringInputs(), k=8)

    assert grouping.groups[0].name == assign(grouping.model, observe(page(PAGES[1])), "")
    assert assign(grouping.model, observe(page(PAGES[2])), "") is None
    assert assign(grouping.model, observe(page(b"")), "") is None


def test_hostile_sites_end_well() -> None:
    different = [observe(page(b"<p class=c%d>" % i)) for i in range(5_000)]
    huge = observe(page(b"<p " + b"a" * 1_000_000 + b">"))

    assert cluster_pages([], [], ClusteringInputs()).groups == []
    assert cluster_pages([""], [observe(page(b""))], ClusteringInputs()).unassigned == (0,)
    assert len(cluster_pages([""] * 5_000, different, ClusteringInputs(), k=8).groups) == 5_000
    assert len(cluster_pages([""] * 3, [huge] * 3, ClusteringInputs()).groups) == 1


def test_an_observation_can_be_sent_to_another_process() -> None:
    paths = observe(page(PAGES[0]))

    assert paths.tolist() == pickle.loads(pickle.dumps(paths)).tolist()
