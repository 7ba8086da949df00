"""What a site's clusters are for: kind, found or given; whether they are annotated, by whom."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.models import Annotating, Cluster, ClusterFigures, Clustering, ClusterKind
from clustering.services.clusters.layouts import layouts_by_cluster
from vertex.core.models import Role, Site, User
from vertex.core.services.people import audit

# A cluster of no known kind is worth a look, too.
WORTH_ANNOTATING = frozenset({ClusterKind.DETAIL.value, ""})


class ShownKind(NamedTuple):
    """The kind of a cluster, as it counts now."""

    kind: str  # blank where no clustering has told it
    certainty: float | None  # 1 where a person said so
    is_own: bool

    @property
    def label(self) -> str:
        return ClusterKind(self.kind).label if self.kind else ""


def kind_of(figures: ClusterFigures) -> ShownKind:
    """Return the kind that a person gave the cluster, else the one that its clustering found."""
    if figures.cluster.own_kind:
        return ShownKind(figures.cluster.own_kind, 1.0, is_own=True)
    return ShownKind(figures.kind, figures.certainty, is_own=False)


def is_worth_annotating(figures: ClusterFigures) -> bool:
    """Return whether a cluster is to be annotated, as a person said or else as its kind has it."""
    if figures.cluster.annotating:
        return figures.cluster.annotating == Annotating.WANTED
    return kind_of(figures).kind in WORTH_ANNOTATING


def set_kind(*, cluster: Cluster, kind: str, actor: User | None) -> str:
    """Give a cluster a kind that every clustering keeps; blank takes it back.

    Returns the kind that a person had given it before. Raises ValidationError for a word that is no
    kind.
    """
    if kind and kind not in ClusterKind.values:
        raise ValidationError(f"{kind!r} is no kind; use one of {', '.join(ClusterKind.values)}")
    return _set(cluster, "own_kind", kind, "cluster.kind_set", actor)


def set_annotating(*, cluster: Cluster, annotating: str, actor: User | None) -> str:
    """Dismiss a cluster from what is to be annotated, or ask for it; blank leaves it to its kind.

    Returns what a person had said before. Raises ValidationError for another word.
    """
    if annotating and annotating not in Annotating.values:
        raise ValidationError(f"{annotating!r} is none of {', '.join(Annotating.values)}")
    return _set(cluster, "annotating", annotating, "cluster.annotating_set", actor)


def annotator_named(*, site: Site, username: str) -> User:
    """Return who may annotate at a site, by the user name. Raises ValidationError.

    Whoever may not is as unknown as a name that nobody has: an editor does not learn who
    has an account.
    """
    person: User | None = User.objects.open().filter(username=username).first()
    if person is None or not person.has_role(Role.EDITOR, site):
        raise _nobody_named(username, site)
    return person


def _nobody_named(username: str, site: Site) -> ValidationError:
    problem = f"Nobody who may annotate at {site.name} has the user name {username[:60]}."
    return ValidationError({"annotator": [problem]})


def set_annotator(*, cluster: Cluster, annotator: User | None, actor: User | None) -> User | None:
    """Set who annotates a cluster, None for nobody; return who it was before.

    An editor takes what nobody has, and gives back the own; an operator decides for
    everybody. Raises ValidationError.
    """
    site = cluster.site
    if annotator is not None and not annotator.has_role(Role.EDITOR, site):
        raise _nobody_named(annotator.username, site)
    with transaction.atomic():
        stored = Cluster.objects.select_for_update(no_key=True, of=("self",)).get(pk=cluster.pk)
        before = stored.annotator
        others = {before, annotator} - {None, actor}
        if others and actor is not None and not actor.has_role(Role.OPERATOR, site):
            who = f"{cluster.title} is annotated by {before}" if before else "That is for others"
            raise ValidationError(f"{who}; ask an operator.")
        if before != annotator:
            Cluster.objects.filter(pk=cluster.pk).update(annotator=annotator)
            audit.record(
                actor=actor,
                action="cluster.annotator_set",
                subject=cluster,
                site=site,
                detail={"was": str(before or ""), "now": str(annotator or "")},
            )
    cluster.annotator = annotator
    return before


def kind_lines(site: Site) -> Iterator[dict[str, Any]]:
    """Yield what each cluster with pages is, the largest first, with its layouts."""
    clustering = Clustering.objects.current().filter(site=site).without_model().first()
    if clustering is None:
        return
    layouts = layouts_by_cluster(clustering)
    for figures in clustering.figures.with_pages().select_related("cluster"):
        kind = kind_of(figures)
        yield {
            "cluster": figures.cluster.name,
            "title": figures.cluster.title,
            "kind": kind.kind or ClusterKind.OTHER.value,
            "certainty": kind.certainty if kind.kind else 0.0,
            "n_pages": figures.n_pages,
            "layouts": [
                {"name": shown.layout.name, "n_pages": shown.n_pages, "has": shown.layout.has}
                for shown in layouts.get(figures.cluster_id, [])
            ],
        }


def figures_by_cluster(clusters: Collection[Cluster]) -> dict[int, ClusterFigures]:
    """Return the figures of some clusters in the clusterings that their sites work with."""
    figures = ClusterFigures.objects.current().filter(cluster__in=clusters)
    return {row.cluster_id: row for row in figures.select_related("cluster")}


def _set(cluster: Cluster, field: str, value: str, action: str, actor: User | None) -> str:
    with transaction.atomic():
        stored = Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        before: str = getattr(stored, field)
        if before != value:
            Cluster.objects.filter(pk=cluster.pk).update(**{field: value})
            audit.record(
                actor=actor,
                action=action,
                subject=cluster,
                site=cluster.site,
                detail={"was": before, "now": value},
            )
    cluster.refresh_from_db(fields=[field])
    return before
