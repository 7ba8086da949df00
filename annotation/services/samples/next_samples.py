"""Which sample of a cluster to annotate next, as last reported by who learnt from the others."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.core.cache import cache

from clustering.models import Cluster

RETENTION = timedelta(days=30)


def keep_next_sample(*, cluster: Cluster, rank: int | None) -> None:
    """Save the rank of the sample to annotate next; None where none is worth more than others."""
    cache.set(_key(cluster), rank, RETENTION.total_seconds())


def next_samples(clusters: Iterable[Cluster]) -> dict[int, int]:
    """Return the ranks that are known, by cluster."""
    keys = {_key(cluster): cluster.pk for cluster in clusters}
    return {keys[key]: rank for key, rank in cache.get_many(list(keys)).items() if rank is not None}


def _key(cluster: Cluster) -> str:
    return f"next_sample:{cluster.pk}"
