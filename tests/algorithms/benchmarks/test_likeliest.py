"""What the likeliest pair is worth, learned from joins on sites that nobody had seen."""

from __future__ import annotations

import random

from benchmarks.joins.likeliest import SeenJoin, learn_likeliest


def seen_joins(worth_of_fewness: float) -> list[SeenJoin]:
    """Return joins that are right where log-odds and few groups speak for it."""
    chance = random.Random(3)
    joins = []
    for number in range(400):
        log_odds, n_groups = chance.uniform(-4, 4), chance.randint(2, 20)
        margin = log_odds + worth_of_fewness * (1 / n_groups - 0.1) + chance.gauss(0, 1)
        joins.append(SeenJoin(f"site {number % 7}", log_odds, n_groups, margin > 0, 1.0))
    return joins


def test_fewer_groups_make_the_likeliest_worth_more() -> None:
    likeliest = learn_likeliest(seen_joins(8.0), [])

    assert min(likeliest.of_fewness, likeliest.of_log_odds) > 0
    assert likeliest.log_odds(-0.5, 2) > 0 > likeliest.log_odds(0, 20)


def test_where_groups_say_nothing_the_log_odds_decide() -> None:
    likeliest = learn_likeliest(seen_joins(0.0), [])

    assert likeliest.log_odds(1, 20) > 0 > likeliest.log_odds(-1, 2)
