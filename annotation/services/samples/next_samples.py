"""Which sample of a cluster is worth annotating next, as whoever learnt from the others said last."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.cache import cache

from clustering.models import Cluster

KEPT_FOR = 30 * 24 * 3600  # seconds


def keep_next_sample(*, cluster: Cluster, rank: int | None) -> None:
    """Keep the rank of the sample to annotate next; None where no one is worth more than the others."""
    cache.set(_key(cluster), rank, KEPT_FOR)


def next_samples(clusters: Iterable[Cluster]) -> dict[int, int]:
    """Return the ranks that are known, by cluster."""
    keys = {_key(cluster): cluster.pk for cluster in clusters}
    return {keys[key]: rank for key, rank in cache.get_many(list(keys)).items() if rank is not None}


def _key(cluster: Cluster) -> str:
    return f"next_sample:{cluster.pk}"
