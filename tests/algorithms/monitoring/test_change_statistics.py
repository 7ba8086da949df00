"""How often sites change, by the drop of their coverage."""

from __future__ import annotations

from monitoring.algorithms.change_statistics import change_table, count_changes


class TestPaper:
    def test_a_site_that_changes_counts_by_how_far_its_coverage_falls(self) -> None:
        shares = {
            "still": [0.9, 0.91, 0.9],
            "once": [0.9, 0.65, 0.66],
            "twice": [1.0, 0.4, 1.0, 0.4],
        }
        table = change_table(shares)

        assert [(0, [1, 1, 2, 2, 2]), (1, [1, 1, 0, 0, 0]), (2, [1, 1, 1, 1, 1])] == list(
            table.rows
        )
        assert [3, 3, 2, 2, 2] == list(table.totals)

    def test_a_higher_threshold_never_finds_more(self) -> None:
        shares = [0.95, 0.8, 0.99, 0.5, 0.6, 0.2, 0.9]
        results = [count_changes(shares, threshold / 10) for threshold in range(1, 10)]

        assert sorted(results, reverse=True) == results


def test_a_change_that_stays_counts_once() -> None:
    assert 1 == count_changes([0.9, 0.3, 0.3, 0.29, 0.3], 0.1)


def test_a_slow_decline_counts_when_it_adds_up() -> None:
    assert 1 == count_changes([0.9, 0.86, 0.82, 0.78], 0.1)


def test_nothing_known_is_no_change() -> None:
    assert ([(0, [0] * 5)], 0) == (list(change_table({}).rows), change_table({}).n_sites)
