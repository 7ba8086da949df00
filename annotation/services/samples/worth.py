"""Which clusters are worth annotating: those of details, and those people worked on or want.

What a site showed before a redesign is not: a rule of it would find nothing on the pages
as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from annotation.models import Annotation, Assignment
from annotation.services.seams import outdated_clusters_source, ruled_clusters_source
from clustering.models import Annotating, Cluster
from clustering.services.clusters.kinds import (
    figures_by_cluster,
    is_worth_annotating,
    kind_of,
)

FROM_BEFORE: Final = "Pages of before the redesign"


def reasons_to_leave_out(clusters: Sequence[Cluster]) -> dict[int, str]:
    """Return the clusters of some that are not worth annotating, with the reason in a word or two.

    What a person said comes first. A cluster that has annotations, a rule or a vertical of its own
    is kept, whatever its kind, as long as its pages are not from before a redesign.
    """
    from_before = outdated_clusters_source()([cluster.pk for cluster in clusters])
    figures = figures_by_cluster(clusters)
    doubtful = {
        cluster.pk: kind_of(figures[cluster.pk]).label
        for cluster in clusters
        if cluster.pk in figures and not is_worth_annotating(figures[cluster.pk])
    }
    reasons: dict[int, str] = {}
    begun = _begun([cluster for cluster in clusters if cluster.pk in doubtful])
    for cluster in clusters:
        if cluster.annotating == Annotating.DISMISSED:
            reasons[cluster.pk] = Annotating.DISMISSED.label
        elif cluster.annotating != Annotating.WANTED and cluster.pk in from_before:
            reasons[cluster.pk] = FROM_BEFORE
        elif cluster.pk in doubtful and cluster.pk not in begun:
            reasons[cluster.pk] = doubtful[cluster.pk]
    return reasons


def _begun(clusters: Sequence[Cluster]) -> set[int]:
    """Return those that have annotations, a rule or a vertical of their own."""
    if not clusters:
        return set()
    annotations = Annotation.objects.live().filter(
        page__memberships__clustering__is_current=True, page__memberships__cluster__in=clusters
    )
    annotated = annotations.order_by().values_list("page__memberships__cluster", flat=True)
    assigned = Assignment.objects.filter(cluster__in=clusters)
    return {
        *annotated.distinct(),
        *assigned.values_list("cluster", flat=True),
        *ruled_clusters_source()([cluster.pk for cluster in clusters]),
    }
