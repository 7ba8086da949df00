"""Pages from all parts of a site, where there are too many."""

from __future__ import annotations

import random
from collections import Counter

from monitoring.algorithms.strata import sample_strata


def pages(**sizes: int) -> dict[str, str]:
    """Return so many addresses of each stratum, with their stratum."""
    return {
        f"http://s.example/{stratum}/{number:05}": stratum
        for stratum, size in sizes.items()
        for number in range(size)
    }


def test_no_more_pages_than_fit_are_all_sampled() -> None:
    stratum_by_url = pages(a=5, b=2)

    assert sorted(stratum_by_url) == sample_strata(stratum_by_url, 7)


def test_a_cluster_far_on_in_the_alphabet_is_sampled_too() -> None:
    stratum_by_url = pages(articles=9_000, zebras=30)
    sampled = Counter(stratum_by_url[url] for url in sample_strata(stratum_by_url, 3_000))

    assert 30 == sampled["zebras"]
    assert 3_000 == sampled.total()


def test_the_larger_stratum_gives_more() -> None:
    stratum_by_url = pages(a=4_000, b=1_000)
    sampled = Counter(stratum_by_url[url] for url in sample_strata(stratum_by_url, 500))

    assert sampled["a"] > 1.5 * sampled["b"] > 0


def test_preferred_pages_come_first() -> None:
    stratum_by_url = pages(a=4_000, b=1_000)
    preferred = {"http://s.example/a/03999", "http://s.example/b/00999"}

    assert preferred <= set(sample_strata(stratum_by_url, 100, preferred=preferred))
    assert not preferred <= set(sample_strata(stratum_by_url, 100))


def test_the_order_of_pages_does_not_matter() -> None:
    stratum_by_url = pages(a=300, b=100, c=3)
    shuffled = list(stratum_by_url.items())
    random.Random(5).shuffle(shuffled)

    assert sample_strata(stratum_by_url, 90) == sample_strata(dict(shuffled), 90)
