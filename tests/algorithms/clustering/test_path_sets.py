"""Sets of hashed features: similarities, joining, min-hashing."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.path_sets import (
    MAX_EXAMPLES,
    Hashes,
    Similarity,
    all_paths,
    examples_of,
    hash_paths,
    hash_text,
    jaccard,
    join_similar,
    join_similar_fast,
    leaf_paths,
    min_hash,
    name_components,
    nearest_example,
    share_of_both,
    share_of_larger,
    similarity_of,
)
from clustering.dom.page import parse_page

SIMILARITIES = [jaccard, share_of_larger, share_of_both]
SETS = st.lists(st.frozensets(st.integers(0, 12), max_size=10), max_size=25).map(
    lambda sets: [elements(*s) for s in sets]
)


def elements(*values: int) -> Hashes:
    return np.array(sorted(values), dtype=np.uint64)


class TestPaper:
    @pytest.mark.parametrize(
        ("similarity", "expected"),
        [(jaccard, 2 / 5), (share_of_larger, 2 / 4), (share_of_both, 4 / 7)],
    )
    def test_two_common_of_three_and_four(self, similarity: Similarity, expected: float) -> None:
        assert expected == pytest.approx(
            similarity_of(elements(1, 2, 3), elements(2, 3, 4, 5), similarity)
        )

    def test_what_is_alike_in_a_chain_is_joined(self) -> None:
        chain = [elements(*range(start, start + 10)) for start in range(3)]

        assert join_similar(chain, jaccard, 0.8) == [0, 0, 0]
        assert similarity_of(chain[0], chain[2], jaccard) < 0.8

    def test_a_similarity_equal_to_the_threshold_is_not_enough(self) -> None:
        nine, ten = elements(*range(8)), elements(*range(10))

        assert join_similar([nine, ten], jaccard, 0.8) == [0, 1]
        assert join_similar([nine, ten], jaccard, 0.79) == [0, 0]

    def test_shingles_share_as_many_elements_as_the_sets_overlap(self) -> None:
        a, b = hash_paths(map(str, range(300))), hash_paths(map(str, range(100, 400)))
        firsts = [min_hash(a, 1, seed) == min_hash(b, 1, seed) for seed in range(600)]

        assert np.mean(firsts) == pytest.approx(0.5, abs=0.08)


@given(SETS, st.sampled_from(SIMILARITIES), st.sampled_from([0.2, 0.5, 0.8]))
def test_the_fast_form_joins_what_union_find_joins(
    sets: list[Hashes], similarity: Similarity, threshold: float
) -> None:
    assert join_similar(sets, similarity, threshold) == join_similar_fast(
        sets, similarity, threshold
    )


@given(SETS, st.randoms())
def test_names_do_not_depend_on_the_order(sets: list[Hashes], chance: random.Random) -> None:
    order = list(range(len(sets)))
    chance.shuffle(order)
    here = name_components(sets, join_similar_fast(sets, jaccard, 0.5))
    shuffled = [sets[i] for i in order]
    there = name_components(shuffled, join_similar_fast(shuffled, jaccard, 0.5))

    assert [here[i] for i in order] == there


def test_empty_sets_are_like_nothing() -> None:
    sets = [elements(), elements(1), elements()]

    assert join_similar_fast(sets, jaccard, 0.0) == [0, 1, 2]
    assert [name is None for name in name_components(sets, [0, 1, 2])] == [True, False, True]


@given(st.frozensets(st.integers(0, 2**64 - 1), max_size=40), st.integers(1, 12), st.integers(0, 5))
def test_a_min_hash_has_k_elements_of_the_set(values: frozenset[int], k: int, seed: int) -> None:
    s = elements(*values)
    shingle = min_hash(s, k, seed)

    assert len(shingle) == min(k, len(values))
    assert set(shingle) <= values
    assert shingle == min_hash(s, k + 1, seed)[: len(shingle)]


def test_paths_are_tags_without_positions() -> None:
    tree = parse_page(b"<html><body><ul><li>a<li>b</ul><p><!-- c --></body></html>").tree
    leaves = ["/html/body/ul/li", "/html/body/p"]

    assert hash_paths(leaves).tolist() == leaf_paths(tree).tolist()
    assert (
        hash_paths([*leaves, "/html", "/html/body", "/html/body/ul"]).tolist()
        == all_paths(tree).tolist()
    )


def test_without_a_tree_there_are_no_paths() -> None:
    assert (0, 0) == (len(leaf_paths(None)), len(all_paths(None)))


def test_hashes_are_exact_in_json() -> None:
    assert hash_text("/html/body") < 2**53


def test_a_later_set_joins_the_group_of_the_most_similar_example() -> None:
    sets = [elements(1, 2, 3, 4), elements(1, 2, 3, 5), elements(8, 9)]
    examples = examples_of(sets, ["a", "a", "b"], jaccard, 0.5)

    assert nearest_example(examples, elements(1, 2, 3), jaccard, 0.5) == "a"
    assert nearest_example(examples, elements(8, 9), jaccard, 0.5) == "b"
    assert nearest_example(examples, elements(1, 8), jaccard, 0.5) is None


def test_each_set_of_a_chain_is_like_an_example_of_its_group() -> None:
    chain = [elements(*range(start, start + 10)) for start in range(20)]
    examples = examples_of([*chain, *chain[:8]], ["a"] * 28, jaccard, 0.6)

    assert 5 <= len(examples["a"]) < 15
    assert {"a"} == {nearest_example(examples, s, jaccard, 0.6) for s in chain}


def test_a_group_of_pages_that_are_all_alike_has_few_examples() -> None:
    sets = [elements(*range(40), number) for number in range(50, 90)]

    assert 5 == len(examples_of(sets, ["a"] * 40, jaccard, 0.8)["a"])


def test_a_group_has_no_more_examples_than_a_model_can_hold() -> None:
    sets = [elements(number) for number in range(100)]

    assert MAX_EXAMPLES == len(examples_of(sets, ["a"] * 100, jaccard, 0.8)["a"])
