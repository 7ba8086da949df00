"""Store the profiles of groups as JSON values, by which `placing` assigns later pages.

Notation:   A look is a profile: pages of one group that are alike. Its reach is the distance up to
            which a page is taken for one of it. The share of a group at an address pattern is that
            of the pages there that are of the group.
Departures: The MAX_FEATURES strongest features are kept, fewer where there are many looks, so that
            the model of 50 groups stays below 2 MB; shares are kept in 255ths.
Cost:       Linear in the features of all pages.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustering.algorithms.automatic.feature_table import FeatureTable
from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.automatic.placing import (
    WHOLE_SHARE,
    cells_of,
    place_cells,
    profiles_of,
)
from clustering.algorithms.automatic.profiles import Matrix, shares_of
from clustering.algorithms.grouping import NOWHERE, Model, Placed

Pages = NDArray[np.intp]

# Beyond, a page has next to nothing in common with a profile.
MIN_REACH, MAX_REACH = 0.85, 0.95
MAX_FEATURES = 6_000
MAX_CELLS = 600_000  # looks by features
MIN_PAGES_AT_ADDRESS = 3  # fewer tell nothing of it


def model_of(
    table: FeatureTable,
    look: Pages,
    group: Pages,
    patterns: Sequence[str],
    names: Sequence[str],
    layouts: Mapping[int, str] | None = None,
) -> Model:
    """Return the looks and addresses of groups; `names` are those of the groups.

    `layouts` has the layout of each look whose group has several.
    """
    incidence = table.weighed.incidence
    P, w = shares_of(incidence, look), table.weighed.weights.astype(np.float32)
    n_kept = min(MAX_FEATURES, MAX_CELLS // max(P.shape[1], 1))
    strongest = np.sort(np.argsort(-w * P.max(axis=1, initial=0), kind="stable")[:n_kept])
    P, w = P[strongest], w[strongest]
    group_of_look = np.zeros(P.shape[1], np.intp)
    group_of_look[look] = group
    return {
        "groups": [names[number] for number in group_of_look.tolist()],
        "layouts": [(layouts or {}).get(number, "") for number in range(P.shape[1])],
        "reaches": _reaches(incidence[:, strongest], P, w, look),
        "features": _packed(table.weighed.hashes[strongest], "<u8"),
        "weights": _packed(w, "<f4"),
        "shares": _packed(np.rint(P.T * WHOLE_SHARE), "u1"),
        "labels": _packed(table.labels, "<u8"),
        "addresses": _shares_at_addresses(patterns, [names[number] for number in group.tolist()]),
    }


def _reaches(incidence: sparse.csr_matrix, P: Matrix, w: Matrix, look: Pages) -> list[float]:
    """Return how far from each profile its own pages lie, within the bounds."""
    shared = (incidence @ (P * w[:, np.newaxis]))[np.arange(len(look)), look]
    in_all = incidence @ w + (w @ P)[look] - shared
    distances = np.where(in_all > 0, 1 - shared / np.where(in_all > 0, in_all, 1), 0)
    reaches = np.full(P.shape[1], MIN_REACH)
    np.maximum.at(reaches, look, np.minimum(distances, MAX_REACH))
    return [round(float(reach), 3) for reach in reaches]


def _shares_at_addresses(
    patterns: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the share of each group at each address pattern that is known well enough."""
    n_by_pattern = Counter(patterns)
    shares: dict[str, dict[str, float]] = {}
    for (pattern, name), n in sorted(Counter(zip(patterns, names, strict=True)).items()):
        if n_by_pattern[pattern] >= MIN_PAGES_AT_ADDRESS:
            shares.setdefault(pattern, {})[name] = round(n / n_by_pattern[pattern], 3)
    return shares


def assign(model: Model, observation: PageFeatures, url: str) -> str | None:
    """Return the group of the nearest look, None where the page is beyond its reach."""
    return place(model, observation, url).group


def place(model: Model, observation: PageFeatures, url: str) -> Placed:
    """Return the group and layout of the nearest look; nowhere for a page beyond its reach."""
    if not model.get("groups"):
        return NOWHERE
    profiles = profiles_of(model)
    paths = observation.features[observation.places].tolist()
    texts = zip(paths, observation.texts.tolist(), strict=True)
    cells = cells_of(observation.features.tolist(), texts, profiles.labels)
    return place_cells(profiles, cells, url)


def _packed(values: NDArray[Any], kind: str) -> str:
    return b64encode(values.astype(kind).tobytes()).decode("ascii")
