"""What suggestions say of the samples of a cluster, kept for as long as the vertical stays as it is."""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.core.cache import cache

from annotation.models import Vertical
from annotation.services.page.stored_pages import tree_of
from annotation.services.page.suggesting import suggestions_for
from clustering.models import Snapshot
from rules.algorithms.learning.stopping import SuggestedValues

Hints = dict[str, SuggestedValues]

KEPT_FOR = 7 * 24 * 3600
PATIENCE = 1.5  # seconds; what is left is made when the panel is asked for again


def kept_hints(vertical: Vertical, snapshots: Sequence[Snapshot]) -> dict[int, Hints]:
    """Return the hints that were made before, by snapshot."""
    keys = {_key(vertical, snapshot): snapshot.pk for snapshot in snapshots}
    found = cache.get_many(list(keys))
    return {
        keys[key]: {
            name: SuggestedValues(tuple(values), confidence)
            for name, (values, confidence) in told.items()
        }
        for key, told in found.items()
    }


def make_hints(vertical: Vertical, snapshots: Sequence[Snapshot]) -> dict[int, Hints]:
    """Return the hints of the snapshots; of those that are missing as many are made as time allows."""
    known = kept_hints(vertical, snapshots)
    attributes = list(vertical.attributes.live())
    until = time.monotonic() + PATIENCE
    for snapshot in snapshots:
        if snapshot.pk in known:
            continue
        if time.monotonic() > until:
            break
        tree = tree_of(snapshot)
        found: Hints = {}
        if tree is not None:
            for one in suggestions_for(snapshot=snapshot, tree=tree, attributes=attributes):
                found.setdefault(
                    one.attribute,
                    SuggestedValues(tuple(mark.text for mark in one.marks), one.confidence),
                )
        known[snapshot.pk] = found
        told = {name: (list(hint.values), hint.confidence) for name, hint in found.items()}
        cache.set(_key(vertical, snapshot), told, KEPT_FOR)
    return known


def _key(vertical: Vertical, snapshot: Snapshot) -> str:
    return f"hints:{vertical.pk}:{vertical.version}:{snapshot.pk}"
