"""Store the profiles of groups as JSON values, and assign later pages by them.

Notation:   A look is a profile; a group has one or several. Its reach is the distance up to which a
            page is taken for one of it. A family are groups that were split from one: the features
            in which they contrast decide between them, for in all the others they are alike.
Readings:   The nearest look is the one of the least distance in shares of the bound that `kinship`
            gives: a look may be farther where its group has the page's address, most where it alone
            has it.
Departures: The MOST_FEATURES strongest features are kept, fewer where there are many looks, so that
            the model of 50 groups stays below 2 MB; shares are kept in 255ths.
Cost:       A page is compared with all looks on the features that it has.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustering.algorithms.automatic.feature_table import FeatureTable, cells_of
from clustering.algorithms.automatic.kinship import OTHER, SAME, UNTOLD
from clustering.algorithms.automatic.near_twins import contrasting
from clustering.algorithms.automatic.page_features import Hashes, PageFeatures
from clustering.algorithms.automatic.profiles import Matrix, distances_to, shares_of
from clustering.algorithms.grouping import Model
from clustering.algorithms.url_patterns import pattern_among, prefixes_of

Pages = NDArray[np.intp]

# Beyond, a page has next to nothing in common with a profile.
SHORTEST_REACH, LONGEST_REACH = (
    0.85,
    0.95,
)
MOST_FEATURES = 6_000
MOST_CELLS = 600_000  # looks by features
# Pages and their share from which an address is a group's own.
FEWEST_AT_ADDRESS, OWN_ADDRESS = (
    3,
    0.9,
)
MOST_CONTRASTS = 200  # of two groups of a family


class Grouped(NamedTuple):
    """What is known of each page in the end."""

    look: Pages
    group: Pages
    family: Pages
    patterns: Sequence[str]  # of the addresses


def model_of(table: FeatureTable, pages: Grouped, names: Sequence[str]) -> Model:
    """Return the looks, families and addresses of groups; `names` are those of the groups."""
    look, group, family, patterns = pages
    incidence = table.weighed.incidence
    P, w = shares_of(incidence, look), table.weighed.weights.astype(np.float32)
    n_kept = min(MOST_FEATURES, MOST_CELLS // max(P.shape[1], 1))
    strongest = np.sort(np.argsort(-w * P.max(axis=1, initial=0), kind="stable")[:n_kept])
    P, w = P[strongest], w[strongest]
    group_of_look = np.zeros(P.shape[1], np.intp)
    group_of_look[look] = group
    return {
        "groups": [names[number] for number in group_of_look.tolist()],
        "reaches": _reaches(incidence[:, strongest], P, w, look),
        "features": _packed(table.weighed.hashes[strongest], "<u8"),
        "weights": _packed(w, "<f4"),
        "shares": _packed(np.rint(P.T * 255), "u1"),
        "labels": _packed(table.labels, "<u8"),
        "families": _families(table, group, family, names),
        "addresses": _addresses(patterns, [names[number] for number in group.tolist()]),
    }


def _reaches(incidence: sparse.csr_matrix, P: Matrix, w: Matrix, look: Pages) -> list[float]:
    """Return how far from each profile its own pages lie, within the bounds."""
    shared = (incidence @ (P * w[:, np.newaxis]))[np.arange(len(look)), look]
    in_all = incidence @ w + (w @ P)[look] - shared
    distances = np.where(in_all > 0, 1 - shared / np.where(in_all > 0, in_all, 1), 0)
    reaches = np.full(P.shape[1], SHORTEST_REACH)
    np.maximum.at(reaches, look, np.minimum(distances, LONGEST_REACH))
    return [round(float(reach), 3) for reach in reaches]


def _addresses(patterns: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the groups that stand at each address pattern, one where nearly all pages are of one."""
    n_by_pattern = Counter(patterns)
    groups: dict[str, list[str]] = {}
    for (pattern, name), n in sorted(Counter(zip(patterns, names, strict=True)).items()):
        if (
            n_by_pattern[pattern] >= FEWEST_AT_ADDRESS
            and n > (1 - OWN_ADDRESS) * n_by_pattern[pattern]
        ):
            groups.setdefault(pattern, []).append(name)
    return groups


def _families(
    table: FeatureTable, group: Pages, family: Pages, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return for each family the features in which two of its groups contrast, with their shares."""
    families = []
    for number in np.unique(family).tolist():
        groups = np.unique(group[family == number]).tolist()
        if len(groups) > 1:
            members = [np.flatnonzero(group == index) for index in groups]
            hashes, shares = _contrasts(table, members)
            families.append(
                {
                    "groups": [names[index] for index in groups],
                    "features": _packed(hashes, "<u8"),
                    "shares": _packed(np.rint(shares * 255), "u1"),
                }
            )
    return families


def _contrasts(table: FeatureTable, members: Sequence[Pages]) -> tuple[Hashes, Matrix]:
    """Return the features in which groups contrast, and what share of each group has them, a group a row."""
    hashes, shares = [np.zeros(0, np.uint64)], [np.zeros((len(members), 0), np.float32)]
    for features in (table.paths, table.pairs, table.texts):
        pairs = combinations(members, 2)
        contrast_hashes = np.unique(
            np.concatenate([contrasting(features, *pair)[:MOST_CONTRASTS] for pair in pairs])
        )
        column_indices = np.searchsorted(features.hashes, contrast_hashes)
        columns = features.incidence.tocsc()[:, column_indices].tocsr()
        hashes.append(contrast_hashes)
        shares.append(
            np.stack(
                [np.asarray(columns[pages].mean(axis=0), np.float32).ravel() for pages in members]
            )
        )
    return np.concatenate(hashes), np.concatenate(shares, axis=1)


@dataclass(frozen=True, slots=True)
class _Family:
    groups: Sequence[str]
    features: Hashes
    shares: Matrix


@dataclass(frozen=True, slots=True)
class _Profiles:
    groups: Sequence[str]
    reaches: Sequence[float]
    features: Hashes  # sorted
    w: Matrix
    P: Matrix
    masses: Matrix
    labels: Hashes
    addresses: dict[str, Sequence[str]]
    prefixes: set[str]
    families: dict[str, _Family]  # by the name of each of its groups


def assign(model: Model, observation: PageFeatures, url: str) -> str | None:
    """Return the group of the nearest look, None where the page is beyond its reach."""
    if not model.get("groups"):
        return None
    profiles = _unpacked_once(_key(model))
    cells = cells_of(observation, profiles.labels)
    p = np.isin(profiles.features, cells).astype(np.float32)
    distances = distances_to(p, profiles.P, profiles.w, profiles.masses)
    address = pattern_among(url, profiles.addresses, profiles.prefixes)
    its_groups = profiles.addresses.get(address or "", ())
    near = SAME if len(its_groups) == 1 else UNTOLD
    bounds = np.array([near if group in its_groups else OTHER for group in profiles.groups])
    nearest = int((distances / bounds).argmin())
    if distances[nearest] > profiles.reaches[nearest]:
        return None
    group = profiles.groups[nearest]
    family = profiles.families.get(group)
    return group if family is None else _closest_of(family, cells, group)


def _closest_of(family: _Family, cells: Hashes, group: str) -> str:
    """Return the group of the family that the page differs least from; a tie stays with the given one."""
    has = np.isin(family.features, cells)
    misses = np.abs(family.shares - has).sum(axis=1)
    candidates = zip(misses.tolist(), family.groups, strict=True)
    _, closest = min(candidates, key=lambda pair: (pair[0], pair[1] != group))
    return closest


def _packed(values: NDArray[Any], kind: str) -> str:
    return b64encode(values.astype(kind).tobytes()).decode("ascii")


def _read(packed: str, kind: str) -> NDArray[Any]:
    return np.frombuffer(b64decode(packed), kind)


def _key(model: Model) -> tuple[Any, ...]:
    families = tuple(
        (tuple(family["groups"]), family["features"], family["shares"])
        for family in model["families"]
    )
    parts = (model[name] for name in ("features", "weights", "shares", "labels"))
    addresses = tuple(
        (pattern, tuple(its_groups)) for pattern, its_groups in model["addresses"].items()
    )
    return (tuple(model["groups"]), tuple(model["reaches"]), *parts, families, addresses)


@lru_cache(maxsize=8)
def _unpacked_once(key: tuple[Any, ...]) -> _Profiles:
    groups, reaches, features, weights, shares, labels, families, addresses = key
    hashes = _read(features, "<u8")
    order = np.argsort(hashes, kind="stable")
    w = _read(weights, "<f4")[order]
    P = _shares(shares, len(groups))[:, order].T
    return _Profiles(
        groups,
        reaches,
        hashes[order],
        w,
        np.ascontiguousarray(P),
        w @ P,
        _read(labels, "<u8"),
        dict(addresses),
        prefixes_of([pattern for pattern, _ in addresses]),
        {
            name: _Family(names, _read(its_features, "<u8"), _shares(its_shares, len(names)))
            for names, its_features, its_shares in families
            for name in names
        },
    )


def _shares(packed: str, n_rows: int) -> Matrix:
    shares: Matrix = (_read(packed, "u1").reshape(n_rows, -1) / 255).astype(np.float32)
    return shares
