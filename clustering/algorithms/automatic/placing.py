"""Assign later pages by the stored profiles of groups, in plain Python: it needs no arrays.

Notation:   The looks, their reaches and the shares at addresses are those of `profile_model`. A
            cell is the hash of a feature that a page has: a path or token path, a label, a label at
            its path, a path with the nearest label before it.
Readings:   The nearest look is the one of the least distance, to which ADDRESS_WEIGHT is added
            where none of the pages at the address is of its group, less where some are.
Cost:       Linear in the page's cells that the model knows. Most features have the same share in
            nearly all looks: of each that share counts once, and the looks that differ from it.
"""

from __future__ import annotations

import sys
from array import array
from base64 import b64decode
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from clustering.algorithms.automatic.page_walk import MAX_TEXTS, label_and_hash, walk_page
from clustering.algorithms.automatic.plain_addresses import plain_address
from clustering.algorithms.grouping import NOWHERE, Model, Placed, RawPage
from clustering.algorithms.url_patterns import pattern_among, prefixes_of

NAME: Final = "auto"  # of the algorithm
TITLE: Final = "All evidence"
ADDRESS_WEIGHT = 0.2
WHOLE_SHARE: Final = 255  # shares are kept in so many parts
WEIGHT_UNIT: Final = 2**30  # weights are added up as whole numbers, so that no order matters
MAX_MODELS: Final = 8  # that are kept unpacked

# Odd, so that nothing collides.
FIELD, PAIR = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
_64_BITS: Final = (1 << 64) - 1


class FeatureWeight(NamedTuple):
    """What a feature adds to what a page shares with the looks."""

    weight: int
    usual: int  # to what it shares with all looks
    # What it adds besides to what the page shares with looks that differ from the others.
    more_by_look: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Profiles:
    """The looks of a model, ready for pages."""

    groups: Sequence[str]  # of each look
    layouts: Sequence[str]
    reaches: Sequence[float]
    masses: Sequence[int]  # what all features of each look weigh
    weight_by_feature: Mapping[int, FeatureWeight]
    labels: frozenset[int]
    shares_at: Mapping[str, Sequence[float]]  # by address pattern: the share of each look's group
    prefixes: set[str]


def place_page(model: Model, page: RawPage) -> Placed:
    """Return the group and layout of a page's nearest look; nowhere beyond that look's reach."""
    if not model.get("groups"):
        return NOWHERE
    profiles = profiles_of(model)
    walk = walk_page(page.tree)
    texts = []
    for kind, text in walk.texts[:MAX_TEXTS]:
        label, hashed = label_and_hash(text)
        texts.append((kind.path.feature.hash, hashed if label else 0))
    return place_cells(profiles, cells_of(walk.features, texts, profiles.labels), page.url)


def place_cells(profiles: Profiles, cells: set[int], url: str) -> Placed:
    """Return the group and layout of the look that is nearest to a page with these cells."""
    n_looks = len(profiles.groups)
    more = [0] * n_looks
    weight = usual = 0
    for cell in cells & profiles.weight_by_feature.keys():
        its_weight, its_usual, more_by_look = profiles.weight_by_feature[cell]
        weight += its_weight
        usual += its_usual
        for look, difference in more_by_look:
            more[look] += difference
    address = pattern_among(plain_address(url), profiles.shares_at, profiles.prefixes)
    shares = profiles.shares_at[address] if address is not None else None
    nearest, lowest_cost, its_distance = -1, float("inf"), 1.0
    for look in range(n_looks):
        shared = usual + more[look]
        in_all = profiles.masses[look] + weight - shared
        distance = 1 - shared / in_all if in_all > 0 else 0.0
        cost = distance
        if shares is not None:
            cost += ADDRESS_WEIGHT * (1 - shares[look])
        if cost < lowest_cost:
            nearest, lowest_cost, its_distance = look, cost, distance
    if its_distance > profiles.reaches[nearest]:
        return NOWHERE
    return Placed(profiles.groups[nearest], profiles.layouts[nearest] or None)


def cells_of(
    features: Iterable[int], texts: Iterable[tuple[int, int]], labels: frozenset[int]
) -> set[int]:
    """Return the cells of a page: `texts` are paths and texts, both hashed, in document order.

    They are hashed as `feature_table` hashes its columns.
    """
    cells = set(features)
    pairs: set[tuple[int, int]] = set()  # a path, and the label that stands there
    fields: set[tuple[int, int]] = set()  # a path, and the nearest label before it
    before = 0
    for path, text in texts:
        if before:
            fields.add((path, before))
        if text in labels:
            pairs.add((path, text))
            before = text
    cells.update([path * FIELD + label & _64_BITS for path, label in fields])
    cells.update([path * PAIR + label & _64_BITS for path, label in pairs])
    cells.update([label for _, label in pairs])
    return cells


def profiles_of(model: Model) -> Profiles:
    """Return the profiles of a model, unpacked once."""
    known = _profiles_by_model.get(id(model))
    if known is not None and known[0] is model:
        return known[1]
    profiles = _unpacked(_key(model))
    _profiles_by_model[id(model)] = (model, profiles)
    if len(_profiles_by_model) > MAX_MODELS:
        _profiles_by_model.popitem(last=False)
    return profiles


# By the identity of the model, which is held so that no other has it.
_profiles_by_model: OrderedDict[int, tuple[Model, Profiles]] = OrderedDict()


def _key(model: Model) -> tuple[Any, ...]:
    parts = (model[name] for name in ("features", "weights", "shares", "labels"))
    addresses = tuple(
        (pattern, tuple(shares.items())) for pattern, shares in model["addresses"].items()
    )
    names = (tuple(model[name]) for name in ("groups", "layouts", "reaches"))
    return (*names, *parts, addresses)


# Saves 3 ms a batch that reads the same model from the database (benchmarks.caches).
@lru_cache(maxsize=MAX_MODELS)
def _unpacked(key: tuple[Any, ...]) -> Profiles:
    groups, layouts, reaches, features, weights, shares, labels, addresses = key
    rows = b64decode(shares)  # look by look
    hashes = _read("Q", features)
    masses = [0] * len(groups)
    weight_by_feature: dict[int, FeatureWeight] = {}
    for number, (hashed, its_weight) in enumerate(zip(hashes, _read("f", weights), strict=True)):
        weight = round(its_weight * WEIGHT_UNIT)
        column = rows[number :: len(hashes)]
        ((usual, _),) = Counter(column).most_common(1)
        more_by_look = tuple(
            (look, weight * (share - usual)) for look, share in enumerate(column) if share != usual
        )
        weight_by_feature[hashed] = FeatureWeight(
            weight * WHOLE_SHARE, weight * usual, more_by_look
        )
        for look, share in enumerate(column):
            masses[look] += weight * share
    return Profiles(
        groups,
        layouts,
        reaches,
        masses,
        weight_by_feature,
        frozenset(_read("Q", labels)),
        {
            pattern: [dict(its_shares).get(group, 0.0) for group in groups]
            for pattern, its_shares in addresses
        },
        prefixes_of([pattern for pattern, _ in addresses]),
    )


def _read(kind: str, packed: str) -> array[Any]:
    """Return the numbers of a packed array, which are stored with their lowest byte first."""
    numbers = array(kind, b64decode(packed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
