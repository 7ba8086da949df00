"""Split a group that holds two types which have the same structure and different fields.

Notation:   A field is a label that something stands behind which differs from page to page
            (`feature_table.find_fields`), wherever it stands. A part's own fields are those that
            most of its pages and hardly any of the other part's have; shared fields are in most
            pages of both.
Readings:   Homes to rent and homes for sale look the same, but no page has both deposit and
            commission. So fields of one part that exclude fields of the other make two types, if
            there are enough of them and more is shared than not: with nothing in common they are
            languages. Optional fields have nothing that excludes them, and a category among many
            excludes no field that most others have.
Cost:       Linear in the pages for each field that a part may be recognised by.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureTable

Pages = NDArray[np.intp]

FEWEST_PAGES, FEWEST_PAGES_SHARE = 8, 0.04  # of a part
# A field is a type's where so many of its pages have it, for some leave it blank, and hardly
# any others.
MIN_SHARE_OF_OWN, MAX_SHARE_OF_OTHERS = 0.7, 0.03
FEWEST_EXCLUSIVE = 3  # own fields of both parts; one against one happens by chance


class Parting(NamedTuple):
    """The pages with a field and those without, compared on the fields of only one of the two."""

    own: NDArray[np.intp]  # fields
    p: NDArray[np.float64]  # share of the pages of the first part that have each
    q: NDArray[np.float64]  # of the second


def split_by_fields(table: FeatureTable, members: Pages) -> list[Pages]:
    """Split pages into two parts whose fields exclude each other, if there are such."""
    has = table.fields.incidence[members].toarray() > 0
    counts = has.sum(axis=0)
    least = max(FEWEST_PAGES, FEWEST_PAGES_SHARE * len(members))
    candidates = np.flatnonzero((counts >= least) & (counts <= len(members) - least))
    partings = []
    for field in candidates.tolist():
        parting = _parted_by(has, field)
        if parting is not None:
            partings.append(parting)
    if not partings:
        return [members]
    # The first of equals, in the fields' order.
    own, p, q = max(partings, key=lambda parting: len(parting.own))
    # A page may lack the field that told the parts: it is of the one whose shares it differs less
    # from.
    is_first = np.abs(has[:, own] - p).sum(axis=1) <= np.abs(has[:, own] - q).sum(axis=1)
    return [members[is_first], members[~is_first]]


def _parted_by(has: NDArray[np.bool_], field: int) -> Parting | None:
    """Return the parts with and without a field; None if their own fields make no types of them."""
    p, q = has[has[:, field]].mean(axis=0), has[~has[:, field]].mean(axis=0)
    is_first = (p >= MIN_SHARE_OF_OWN) & (q <= MAX_SHARE_OF_OTHERS)
    is_second = (q >= MIN_SHARE_OF_OWN) & (p <= MAX_SHARE_OF_OTHERS)
    if not is_first.any() or not is_second.any():
        return None
    own = np.flatnonzero(is_first | is_second)
    n_shared = int(((p >= MIN_SHARE_OF_OWN) & (q >= MIN_SHARE_OF_OWN)).sum())
    is_parting = len(own) >= FEWEST_EXCLUSIVE and n_shared >= len(own) / 2
    return Parting(own, p[own], q[own]) if is_parting else None
