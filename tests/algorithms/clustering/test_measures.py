"""Measures of a clustering against the truth."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, completeness_score, homogeneity_score
from sklearn.metrics.cluster import pair_confusion_matrix

from clustering.algorithms.measures import (
    NothingInCommon,
    compare,
    confusion,
    entropy,
    f_star,
    pair_counts,
    pair_measures,
    purity,
    schema_f,
    schema_quality,
)

GROUPINGS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)


def pages(groups: str) -> dict[str, str | None]:
    """Name pages a, b, c … with the group that stands at their place; a dot is none."""
    return {
        chr(ord("a") + index): None if group == "." else group for index, group in enumerate(groups)
    }


def types(groups: str) -> dict[str, str]:
    return {page: str(group) for page, group in pages(groups).items()}


class TestPaper:
    def test_equal_groupings_have_rand_one_whatever_their_names(self) -> None:
        assert compare(pages("1122"), types("xxyy")).adjusted_rand == 1

    def test_the_rand_index_worked_by_hand(self) -> None:
        # Together in both: ab. In the truth only: cd. In the clusters only: bc is not, ac and
        # bc are.
        table = confusion("xxyy", "1112")

        assert pair_counts(table) == (1, 1, 2, 2)
        assert compare(pages("1112"), types("xxyy")).adjusted_rand == pytest.approx(
            2 * (2 - 2) / (2 * 3 + 3 * 4)
        )

    def test_f_star_weights_the_best_f_of_each_type_by_its_size(self) -> None:
        # x (3 pages) is best in cluster 1: P = 2/2, R = 2/3; y (1 page) in cluster 2: P = 1/2, R
        # = 1.
        assert f_star(confusion("xxxy", "1122")) == pytest.approx(3 / 4 * 0.8 + 1 / 4 * 2 / 3)

    def test_entropy_is_weighted_by_cluster_size_with_natural_logarithm(self) -> None:
        assert entropy(confusion("xxxy", "1122")) == pytest.approx(2 / 4 * log(2))

    def test_purity_is_the_share_of_the_largest_type(self) -> None:
        assert purity(confusion("xxxy", "1122")) == 3 / 4

    def test_precision_looks_at_the_cluster_and_recall_at_the_type(self) -> None:
        assert pair_measures(confusion("xxyy", "1111")) == (2 / 6, 1.0)
        assert pair_measures(confusion("xxxx", "1122")) == (1.0, 2 / 6)

    def test_q_is_the_harmonic_mean_of_both_directions(self) -> None:
        reference = [{"p1", "p2"}, {"p3"}]
        computed = [[{"p1", "p2"}, {"p1"}]]
        similar = (1 + 2 / 3) / 2

        F, RevF, Q = schema_quality(reference, computed)

        assert (F, RevF) == pytest.approx((similar / 2, similar))
        assert pytest.approx(2 * F * RevF / (F + RevF)) == Q

    def test_a_class_of_all_paths_is_not_a_good_model(self) -> None:
        reference = [{"p1"}, {"p2"}, {"p3"}]
        exact = schema_quality(reference, [[{"p1"}], [{"p2"}], [{"p3"}]])
        lumped = schema_quality(reference, [[{"p1"}, {"p2"}, {"p3"}]])

        assert list(exact) == [1, 1, 1]
        assert lumped[2] < 0.5


@given(GROUPINGS)
def test_agrees_with_scikit_learn(groupings: tuple[list[int], list[int]]) -> None:
    truth, computed = groupings
    names = [str(index) for index in range(len(truth))]
    measures = compare(
        {name: str(group) for name, group in zip(names, computed, strict=True)},
        {name: str(group) for name, group in zip(names, truth, strict=True)},
    )
    d2, c2, b2, a2 = pair_confusion_matrix(truth, computed).ravel()

    assert measures.adjusted_rand == pytest.approx(adjusted_rand_score(truth, computed))
    assert measures.homogeneity == pytest.approx(homogeneity_score(truth, computed), abs=1e-9)
    assert measures.completeness == pytest.approx(completeness_score(truth, computed), abs=1e-9)
    assert pair_counts(confusion(truth, computed)) == (a2 // 2, b2 // 2, c2 // 2, d2 // 2)


def test_a_page_in_no_cluster_counts_alone_but_is_no_cluster() -> None:
    measures = compare(pages("11.."), types("xxxx"))

    assert (measures.n_clusters, measures.n_pages, measures.pair_recall) == (1, 4, 1 / 6)


def test_only_pages_in_both_count() -> None:
    assert compare(pages("11"), types("xxyy")).n_pages == 2


def test_no_common_page_is_an_error() -> None:
    with pytest.raises(NothingInCommon):
        compare({"a": "1"}, {"b": "x"})


def test_two_pages_without_links_have_equal_schemas() -> None:
    assert schema_f(set(), set()) == 1
