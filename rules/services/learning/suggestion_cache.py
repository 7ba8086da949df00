"""What is suggested for the samples of a cluster, cached as long as the vertical stays as it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from django.core.cache import cache

from annotation.models import Vertical
from annotation.services.page.suggesting import suggestions_for
from clustering.models import Snapshot
from clustering.services.children.limits import ChildrenBusy
from rules.algorithms.learning.stopping import SuggestedValues

SuggestionsByName: TypeAlias = dict[str, SuggestedValues]

RETENTION: Final = timedelta(days=7)
PANEL_TIMEOUT: Final = timedelta(seconds=1.5)  # what is left is done when the panel is shown again


def cached_suggestions(
    vertical: Vertical, snapshots: Sequence[Snapshot]
) -> dict[int, SuggestionsByName]:
    """Return the suggestions that were made before, by snapshot."""
    snapshot_by_key = {_key(vertical, snapshot): snapshot.pk for snapshot in snapshots}
    return {
        snapshot_by_key[key]: {
            name: SuggestedValues(tuple(values), confidence)
            for name, (values, confidence) in entry.items()
        }
        for key, entry in cache.get_many(list(snapshot_by_key)).items()
    }


def suggest_for_samples(
    vertical: Vertical, snapshots: Sequence[Snapshot]
) -> dict[int, SuggestionsByName]:
    """Return the suggestions by snapshot; of those not yet cached, as many as time allows."""
    by_snapshot = cached_suggestions(vertical, snapshots)
    attributes = list(vertical.attributes.live())
    until = time.monotonic() + PANEL_TIMEOUT.total_seconds()
    for snapshot in snapshots:
        if snapshot.pk in by_snapshot:
            continue
        if time.monotonic() > until:
            break
        try:
            suggestions = suggestions_for(snapshot=snapshot, attributes=attributes)
        except ChildrenBusy:
            break
        by_name: SuggestionsByName = {}
        for suggestion in suggestions:
            texts = tuple(mark["text"] for mark in suggestion["marks"])
            suggested = SuggestedValues(texts, suggestion["confidence"])
            by_name.setdefault(suggestion["attribute"], suggested)
        by_snapshot[snapshot.pk] = by_name
        entry = {
            name: (list(suggested.values), suggested.confidence)
            for name, suggested in by_name.items()
        }
        cache.set(_key(vertical, snapshot), entry, RETENTION.total_seconds())
    return by_snapshot


def _key(vertical: Vertical, snapshot: Snapshot) -> str:
    return f"hints:{vertical.pk}:{vertical.version}:{snapshot.pk}"
