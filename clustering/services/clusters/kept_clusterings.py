"""Write a clustering down: its clusters under the names that they had before, its pages, its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import xxhash
from django.db import transaction
from django.utils import timezone

from clustering.algorithms.continuity import find_successors
from clustering.algorithms.grouping import Grouping
from clustering.models import (
    Cluster,
    ClusterFigures,
    Clustering,
    ClusterVerdict,
    Page,
    PageMembership,
)
from clustering.services.clusters.cluster_changes import apply_changes
from clustering.services.clusters.cluster_names import free_name, names_taken
from clustering.services.clusters.grouped_pages import Figures, GroupedPage
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.people import audit
from vertex.core.texts import storable

AT_ONCE = 2_000
N_KEPT = 10  # clusterings besides the current one
N_REMEMBERED = (
    3  # earlier clusterings in which a cluster is looked for that the current one does not have
)
LONGEST_GROUP = 100
TITLE_LENGTH = 200


class MadeClustering(NamedTuple):
    """All that a run found, before it is written down."""

    algorithm: str
    params: dict[str, Any]
    grouping: Grouping
    found: Sequence[GroupedPage]
    figures: Mapping[str, Figures]
    evidence: dict[str, Any]
    measures: dict[str, Any]
    map: Sequence[tuple[int, float, float]]
    n_sampled: int
    seconds: float
    looked_at: datetime  # when the pages were listed
    compares: bool  # the current clustering stays


def keep_clustering(run: JobRun, site: Site, made: MadeClustering) -> dict[str, Any]:
    """Write all of it down in one transaction, which ends the job, and return the job's result.

    Raises LeaseLost or JobCancelled; nothing is written then.
    """
    with transaction.atomic():
        run.renew(message="storing")
        Site.objects.select_for_update(no_key=True).get(pk=site.pk)
        clustering = _write_clustering(run, site, made)
        cluster_by_group = _find_clusters(clustering, made)
        _write_extents(clustering, made, cluster_by_group)
        _write_memberships(clustering, made.found, cluster_by_group)
        before = list(Clustering.objects.current().filter(site=site).values_list("pk", flat=True))
        if not made.compares:
            switch_current(clustering)
            _retitle(made, cluster_by_group)
        apply_changes(clustering=clustering)
        drop_old_clusterings(site, but=before)
        result = _result(clustering, made)
        audit.record(
            actor=run.job.created_by,
            action="site.clustered",
            subject=site.name,
            site=site,
            detail={**result, "algorithm": made.algorithm, "compares": made.compares},
        )
        run.finish(result)
    return result


def switch_current(clustering: Clustering) -> None:
    """Let the site work with this clustering from now on, in the caller's transaction."""
    Clustering.objects.filter(site=clustering.site_id, is_current=True).update(is_current=False)
    Clustering.objects.filter(pk=clustering.pk).update(is_current=True)
    clustering.is_current = True


def drop_old_clusterings(site: Site, *, but: Sequence[int] = ()) -> None:
    """Drop all but the newest clusterings and those named; those on which somebody gave a verdict stay."""
    others = (
        Clustering.objects.filter(site=site, is_current=False).exclude(pk__in=but).order_by("-pk")
    )
    old = list(others.values_list("pk", flat=True)[N_KEPT:])
    judged = set(
        ClusterVerdict.objects.filter(clustering__in=old).values_list("clustering", flat=True)
    )
    delete_clusterings([pk for pk in old if pk not in judged])


def delete_clusterings(pks: Iterable[int]) -> None:
    for pk in pks:
        PageMembership.objects.filter(clustering=pk)._raw_delete("default")  # noqa: SLF001 - nothing refers to them
        Clustering.objects.filter(pk=pk).delete()


def group_key(group: str) -> str:
    """Return a group's name as an extent holds it: one that is too long ends with its hash."""
    name = storable(group)
    if len(name) <= LONGEST_GROUP:
        return name
    return f"{name[: LONGEST_GROUP - 17]} {xxhash.xxh64_hexdigest(name.encode())}"


def storable_json(value: Any) -> Any:
    """Return a JSON value with all its texts fit for the database."""
    if isinstance(value, dict):
        return {storable(str(name)): storable_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(part) for part in value]
    return storable(value) if isinstance(value, str) else value


def _write_clustering(run: JobRun, site: Site, made: MadeClustering) -> Clustering:
    return Clustering.objects.create(
        site=site,
        algorithm=made.algorithm,
        params=made.params,
        why=storable(made.grouping.why),
        evidence=made.evidence,
        measures=made.measures,
        model=storable_json(made.grouping.model),
        map=made.map,
        n_sampled=made.n_sampled,
        seconds=made.seconds,
        made_at=timezone.now(),
        made_by=run.job.created_by,
        job=run.job,
        assigned_at=made.looked_at,
    )


def _find_clusters(clustering: Clustering, made: MadeClustering) -> dict[str, Cluster]:
    """Return the cluster of each group: one of before where the group goes on as that, else a new one."""
    site = clustering.site
    pk_by_group = _find_identities(clustering, made.found)
    known = Cluster.objects.in_bulk(list(pk_by_group.values()))
    clusters = {group: known[pk] for group, pk in pk_by_group.items()}
    taken = names_taken(site)
    new = {}
    for group, figures in sorted(made.figures.items(), key=lambda one: (-one[1].n_pages, one[0])):
        if group not in clusters:
            title = storable(figures.title, TITLE_LENGTH) or "Pages"
            name = free_name(title, taken)
            taken.add(name)
            new[group] = Cluster(site=site, name=name, title=title)
    Cluster.objects.bulk_create(new.values(), batch_size=AT_ONCE)
    return clusters | new


def _find_identities(clustering: Clustering, found: Sequence[GroupedPage]) -> dict[str, int]:
    """Look for each group in the current clustering, for those left over in some before it."""
    left = {one.page.pk: one.group for one in found if one.group is not None}
    cluster_by_group: dict[str, int] = {}
    earlier = Clustering.objects.filter(site=clustering.site).exclude(pk=clustering.pk)
    for pk in earlier.order_by("-is_current", "-pk").values_list("pk", flat=True)[
        : 1 + N_REMEMBERED
    ]:
        taken = set(cluster_by_group.values())
        memberships = PageMembership.objects.filter(clustering=pk, found__isnull=False)
        cluster_by_page = {
            page: cluster
            for page, cluster in memberships.values_list("page", "found").iterator(chunk_size=5_000)
            if cluster not in taken
        }
        successors = find_successors(cluster_by_page, left)
        cluster_by_group |= successors
        left = {page: group for page, group in left.items() if group not in successors}
    return cluster_by_group


def _write_extents(
    clustering: Clustering, made: MadeClustering, cluster_by_group: Mapping[str, Cluster]
) -> None:
    group_by_name = {group.name: group for group in made.grouping.groups}
    ClusterFigures.objects.bulk_create(
        [
            ClusterFigures(
                clustering=clustering,
                cluster=cluster_by_group[name],
                group=group_key(name),
                n_pages=figures.n_pages,
                signature=figures.signature,
                importance=group_by_name[name].importance if name in group_by_name else 0.0,
                url_pattern=storable(figures.url_pattern),
                cohesion=figures.cohesion,
                why=storable(group_by_name[name].why) if name in group_by_name else "",
                examples=figures.examples,
            )
            for name, figures in made.figures.items()
        ],
        batch_size=AT_ONCE,
    )


def _write_memberships(
    clustering: Clustering, found: Sequence[GroupedPage], cluster_by_group: Mapping[str, Cluster]
) -> None:
    for start in range(0, len(found), AT_ONCE):
        batch = found[start : start + AT_ONCE]
        # A page may have gone since it was read.
        there = set(
            Page.objects.filter(pk__in=[one.page.pk for one in batch]).values_list("pk", flat=True)
        )
        PageMembership.objects.bulk_create(
            [
                membership_of(clustering, one, cluster_by_group.get(one.group or ""))
                for one in batch
                if one.page.pk in there
            ]
        )


def membership_of(
    clustering: Clustering, one: GroupedPage, cluster: Cluster | None
) -> PageMembership:
    """Return the row, not saved, of a page that an algorithm put into a cluster or nowhere."""
    return PageMembership(
        clustering=clustering,
        page_id=one.page.pk,
        found=cluster,
        cluster=cluster,
        distance=one.distance if cluster else None,
        snapshot_seen=one.page.snapshot,
    )


def _retitle(made: MadeClustering, cluster_by_group: Mapping[str, Cluster]) -> None:
    """Give the clusters that go on the titles of now, but for those that a person gave."""
    changed = []
    for group, cluster in cluster_by_group.items():
        title = storable(made.figures[group].title, TITLE_LENGTH)
        if title and not cluster.has_own_title and cluster.title != title:
            cluster.title = title
            changed.append(cluster)
    Cluster.objects.bulk_update(changed, ["title"], batch_size=500)


def _result(clustering: Clustering, made: MadeClustering) -> dict[str, Any]:
    return {
        "clustering": clustering.pk,
        "clusters": ClusterFigures.objects.filter(clustering=clustering, n_pages__gt=0).count(),
        "pages": clustering.n_pages,
        "unassigned": clustering.n_unassigned,
        "seconds": round(made.seconds, 2),
    }
