"""A feature of pairs of subtrees is judged on a page after learning from the others."""

from __future__ import annotations

import pytest

from benchmarks.urest_tables.single_features import FEATURES, PagePairs, judge


def page(*values: float, n_records: int) -> PagePairs:
    """Return pairs of which the first are records, with these values of every feature."""
    are_records = [number < n_records for number in range(len(values))]
    return PagePairs({name: list(values) for name in FEATURES}, are_records)


def test_a_feature_that_parts_the_pairs_is_right_on_each_page() -> None:
    pages = [page(0.9, 0.95, 0.1, 0.2, 0.15, n_records=2) for _ in range(3)]

    assert {(1.0, 1.0, 1.0)} == {tuple(figures) for figures in judge(pages).values()}


def test_a_pair_that_looks_like_records_costs_precision() -> None:
    learnt_from = [page(0.9, 0.95, 0.1, 0.2, n_records=2) for _ in range(2)]
    figures = judge([*learnt_from, page(0.9, 0.95, 0.92, 0.1, n_records=2)])["1-gram"]

    assert 1.0 == figures.recall
    assert pytest.approx((1 + 1 + 2 / 3) / 3) == figures.precision
