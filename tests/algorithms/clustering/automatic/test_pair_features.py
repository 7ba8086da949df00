"""The numbers that describe a pair of groups, against their plain formulas."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from clustering.algorithms.automatic.auto import FirstGroups, find_first_groups
from clustering.algorithms.automatic.evidence import FAMILIES, address_shape, title_words
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.automatic.pair_features import (
    COLUMNS,
    DIRECTIONS,
    AddressTree,
    FamilyProfiles,
)
from clustering.algorithms.automatic.profiles import shares_of
from clustering.algorithms.grouping import RawPage


def site(n: int = 40) -> FirstGroups:
    chance = random.Random(3)
    pages = []
    for number in range(n):
        kind = "abc"[number % 3]
        parts = "".join(
            f"<p class={kind}{part}>{chance.random()}</p>"
            for part in range(9)
            if chance.random() < 0.7
        )
        pages.append(
            (
                f"http://a.b/{kind}/{number}",
                f"<title>{kind} {number}</title><h1>{number}</h1>{parts}",
            )
        )
    urls = [url for url, _ in pages]
    return find_first_groups(urls, [observe(RawPage(url, html.encode())) for url, html in pages])


def test_every_column_has_a_direction_and_a_name_of_its_own() -> None:
    assert len(COLUMNS) == len(DIRECTIONS) == len(set(COLUMNS))


def test_the_columns_of_a_family_are_their_formulas() -> None:
    start = site()
    features, group = start.table.paths, np.arange(40) % 3
    profiles = FamilyProfiles(features, group)
    p, q = (shares_of(features.incidence, group)[:, number].astype(float) for number in (0, 1))
    w, (a, b, _) = features.weights, np.bincount(group)
    shared, either = (w * np.minimum(p, q)).sum(), (w * np.maximum(p, q)).sum()
    inner = (w * p * (1 - p)).sum() + (w * q * (1 - q)).sum()
    apart = (w * np.abs(p - q)).sum()
    r = (p * a + q * b) / (a + b)
    chance = 0.8 * np.sqrt(r * (1 - r) * (1 / a + 1 / b))
    beyond = (w * np.maximum(np.abs(p - q) - chance, 0)).sum()
    core = [(share * n + 0.5) / (n + 1) >= 0.85 for share, n in ((p, a), (q, b))]
    contrasts = [int((core[0] & (q <= 0.1)).sum()), int((core[1] & (p <= 0.1)).sum())]
    shares = [contrasts[0] / (core[0].sum() + 2), contrasts[1] / (core[1].sum() + 2)]

    expected = [
        1 - shared / either,
        beyond / either,
        apart / (apart + inner),
        1 - shared / min((w * p).sum(), (w * q).sum()),
        np.log1p(min(contrasts)),
        np.log1p(max(contrasts)),
        min(shares),
        max(shares),
    ]
    result = profiles.compare(0, np.array([1]))[0].tolist()
    assert expected == pytest.approx(result[: len(expected)], abs=1e-4)


def test_joined_groups_are_as_if_they_had_been_one() -> None:
    start = site()
    features, group = start.table.paths, np.arange(40) % 3
    joined = FamilyProfiles(features, group)
    joined.join(0, 2)
    at_once = FamilyProfiles(features, np.where(group == 2, 0, group))

    assert np.allclose(
        joined.compare(0, np.array([1])), at_once.compare(0, np.array([1])), atol=1e-4
    )


def test_a_family_that_neither_group_has_is_missing() -> None:
    start = site()
    declared = start.pairs.families[FAMILIES.index("declared")]

    assert np.isnan(declared.distances(0, np.array([1]))).all()


def test_a_pair_is_the_same_from_both_sides() -> None:
    pairs = site().pairs

    assert np.allclose(
        pairs.compare(0, np.array([1])), pairs.compare(1, np.array([0])), equal_nan=True, atol=1e-4
    )


def test_addresses_part_where_their_words_differ() -> None:
    patterns = ["a/p/*"] * 6 + ["a/q/*"] * 3
    tree = AddressTree(patterns, np.repeat([0, 1], [6, 3]))

    depth, below, words, _, rarer, telling, ends, longer = tree.compare(
        Counter({"a/p/*": 6}), Counter({"a/q/*": 3})
    )

    assert (0, 1.0, 0, 0) == (depth, below, ends, longer)
    assert np.log1p([2, 3]).tolist() == pytest.approx([words, rarer])
    assert telling == pytest.approx(1)


def test_folders_in_which_all_pages_stand_are_no_depth_in_common() -> None:
    for root in ("a", "a/b/c"):
        patterns = [f"{root}/p/x/*"] * 2 + [f"{root}/p/y/*"] * 2 + [f"{root}/q/*"] * 2
        tree = AddressTree(patterns, np.repeat([0, 1, 2], 2))

        depth, *_ = tree.compare(Counter({patterns[0]: 2}), Counter({patterns[2]: 2}))

        assert depth == 1


def test_a_page_without_words_has_no_title_words() -> None:
    assert [] == title_words(" – ")
    assert ["two", "words", "first two", "last words"] == title_words("Two words")


def test_the_shape_of_an_address_has_no_words_of_its_own() -> None:
    assert address_shape("http://a/shop/oak-17.html") == address_shape("http://a/shop/elm-3.html")
