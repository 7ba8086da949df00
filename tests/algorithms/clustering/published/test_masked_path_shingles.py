"""m/k path shingles."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.grouping import ClusteringInputs
from clustering.algorithms.path_sets import Hashes, min_hash
from clustering.algorithms.published.masked_path_shingles import (
    assign,
    choose_subsets,
    cluster_pages,
    subsets_of,
)

SETS = st.lists(
    st.frozensets(st.integers(0, 11), max_size=10).map(
        lambda s: np.array(sorted(s), dtype=np.uint64)
    ),
    max_size=20,
)


class TestPaper:
    def test_six_of_eight_paths_make_28_subsets(self) -> None:
        assert len(subsets_of(tuple(range(8)), 6)) == 28

    def test_pages_that_share_m_paths_are_together(self) -> None:
        # 1, 2 is in three shingles, every other pair in one.
        shingles = [(1, 2, 3), (1, 2, 4), (1, 2, 5)]

        assert set(choose_subsets(shingles, 2).values()) == {(1, 2)}

    def test_a_subset_counts_once_a_page(self) -> None:
        # Pair 3, 4 is in four pages, pair 1, 2 in three.
        shingles = [(1, 2, 3), (1, 2, 5), (1, 2, 6), (2, 3, 4), (2, 3, 4), (3, 4, 5), (3, 4, 5)]
        subset_by_shingle = choose_subsets(shingles, 2)

        assert subset_by_shingle[1, 2, 5] == (1, 2)
        assert subset_by_shingle[3, 4, 5] == subset_by_shingle[2, 3, 4] == (3, 4)

    def test_equally_common_subsets_are_taken_by_their_least(self) -> None:
        assert choose_subsets([(3, 1, 2)], 2)[3, 1, 2] == (1, 2)


@given(SETS, st.randoms())
def test_the_order_of_pages_does_not_matter(sets: list[Hashes], chance: random.Random) -> None:
    order = list(range(len(sets)))
    chance.shuffle(order)
    urls = [""] * len(sets)
    here = cluster_pages(urls, sets, ClusteringInputs()).labels(len(sets))
    there = cluster_pages(urls, [sets[i] for i in order], ClusteringInputs()).labels(len(sets))

    assert [here[i] for i in order] == there


@given(SETS)
def test_every_page_has_the_paths_of_its_group_in_its_shingle(sets: list[Hashes]) -> None:
    labels = cluster_pages([""] * len(sets), sets, ClusteringInputs()).labels(len(sets))

    for s, name in zip(sets, labels, strict=True):
        paths = {int(path, 16) for path in name.split("-")} if name else set()
        assert paths <= set(min_hash(s, 8, 0))
        assert (name is None) == (len(s) == 0)


@given(SETS)
def test_a_page_that_comes_again_joins_its_group(sets: list[Hashes]) -> None:
    grouping = cluster_pages([""] * len(sets), sets, ClusteringInputs())
    names = set(grouping.labels(len(sets)))

    assert all(assign(grouping.model, s, "") in names for s in sets)


def test_a_page_of_other_paths_joins_none() -> None:
    grouping = cluster_pages([""], [np.arange(8, dtype=np.uint64)], ClusteringInputs())

    assert assign(grouping.model, np.arange(20, 28, dtype=np.uint64), "") is None


def test_thousands_of_different_pages() -> None:
    sets = [np.arange(i * 10, i * 10 + 10, dtype=np.uint64) for i in range(3_000)]

    assert len(cluster_pages([""] * 3_000, sets, ClusteringInputs()).groups) == 3_000
