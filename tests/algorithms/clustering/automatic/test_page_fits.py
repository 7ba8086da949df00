"""Whether pages fit their own group better than another, against the plain formula."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureSet, tabulate
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.automatic.page_fits import PageFits
from clustering.algorithms.automatic.profiles import counts_of
from clustering.algorithms.grouping import RawPage

N_PAGES = 60
TYPES = np.arange(N_PAGES) % 2


@pytest.fixture(scope="module")
def features() -> FeatureSet:
    """Return the paths of pages of two types, which have most parts in common."""
    chance = random.Random(3)
    observations = []
    for type_ in TYPES:
        shares = {f"common{n}": 0.5 for n in range(9)} | {f"of{type_}{n}": 0.8 for n in range(3)}
        parts = [
            f"<p class={name}>{chance.random()}"
            for name, share in shares.items()
            if chance.random() < share
        ]
        observations.append(observe(RawPage("http://a.b", "".join(parts).encode())))
    return tabulate(observations).paths


def page_fits(features: FeatureSet, group: NDArray[np.intp]) -> PageFits:
    n = np.ascontiguousarray(counts_of(features.incidence, group).T)
    return PageFits(features, group, n, np.bincount(group).astype(np.float32))


def share_told_apart(
    features: FeatureSet, group: NDArray[np.intp], ours: int, theirs: int
) -> float:
    """Return the share of the pages of one group that its other pages foretell better."""
    pages = features.incidence.toarray()

    def fit(page: NDArray[np.float32], others: NDArray[np.float32]) -> float:
        p = (others.sum(axis=0) + 0.5) / (len(others) + 1)
        return float((features.weights * np.log(np.where(page > 0, p, 1 - p))).sum())

    members = np.flatnonzero(group == ours)
    fits_own = [
        fit(pages[page], pages[members[members != page]]) > fit(pages[page], pages[group == theirs])
        for page in members
    ]
    return sum(fits_own) / len(fits_own)


def test_shares_are_those_of_the_plain_formula(features: FeatureSet) -> None:
    group = np.arange(N_PAGES) % 3

    here, there = page_fits(features, group).told_apart(0, np.array([1, 2]))

    assert here == pytest.approx([share_told_apart(features, group, 0, b) for b in (1, 2)])
    assert there == pytest.approx([share_told_apart(features, group, b, 0) for b in (1, 2)])


def test_types_are_told_apart_and_groups_by_lot_are_not(features: FeatureSet) -> None:
    by_lot = np.where(TYPES == 0, np.arange(N_PAGES) % 4 // 2, 2)  # two groups of one type

    here, there = page_fits(features, by_lot).told_apart(0, np.array([1, 2]))

    assert max(here[0], there[0]) < 0.7
    assert min(here[1], there[1]) > 0.9


def test_a_single_page_is_judged_by_the_other_group_alone(features: FeatureSet) -> None:
    group = np.minimum(np.arange(N_PAGES), 2)  # two groups of one page, and the others

    here, there = page_fits(features, group).told_apart(0, np.array([1, 2]))

    assert np.isnan(here[0])
    assert here[1] == there[1] == share_told_apart(features, group, 2, 0)


def test_joined_groups_are_as_if_they_had_been_one(features: FeatureSet) -> None:
    group = np.arange(N_PAGES) % 3
    joined = page_fits(features, group)
    joined.n[0] += joined.n[1]
    joined.sizes[0] += joined.sizes[1]

    joined.join(0, 1)

    whole = page_fits(features, np.where(group == 2, 1, 0))
    assert joined.told_apart(0, np.array([2]))[0] == whole.told_apart(0, np.array([1]))[0]
