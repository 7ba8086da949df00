"""Store a clustering: its clusters under the names that they had before, its pages, its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from clustering.algorithms.continuity import find_successors
from clustering.algorithms.doubts import name_doubt
from clustering.algorithms.grouping import Grouping, group_key
from clustering.algorithms.parameters import Value
from clustering.models import (
    Cluster,
    ClusterDoubt,
    ClusterFigures,
    Clustering,
    ClusterLayout,
    ClusterReview,
    Page,
    PageMembership,
)
from clustering.services.clusters.cluster_names import free_name, used_names
from clustering.services.clusters.current_changes import apply_changes
from clustering.services.clusters.current_clusterings import lock_clusters
from clustering.services.clusters.grouped_pages import GroupedPage, GroupFigures
from clustering.services.pages.stored_pages import StoredPage
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.people import audit
from vertex.core.texts import storable

ROWS_PER_STATEMENT = 2_000
MAX_DOUBTS = 50  # of a clustering
MAX_PAGES_OF_DOUBT = 50  # of each side
N_KEPT = 10  # clusterings besides the current one
# Earlier clusterings in which a cluster is looked for that the current one does not have.
N_REMEMBERED = 3
MAX_TITLE_CHARS = 200


class ClusteringResult(NamedTuple):
    """All that a run found, before it is stored."""

    algorithm: str
    params: dict[str, Any]
    parameters: dict[str, Value]
    grouping: Grouping
    clustered: Sequence[StoredPage]  # the pages that the indices of the grouping mean
    answers: Sequence[int]  # ids of people's answers that it follows
    pages: Sequence[GroupedPage]
    figures: Mapping[str, GroupFigures]
    evidence: dict[str, Any]
    measures: dict[str, Any]
    map: Sequence[tuple[int, float, float]]
    n_sampled: int
    seconds: float
    listed_at: datetime  # when the pages were listed
    found_before: Mapping[
        int, Mapping[int, int]
    ]  # then: of the current clustering, cluster by page
    compares: bool  # the current clustering stays


def found_in_current(site: Site) -> dict[int, dict[int, int]]:
    """Return the cluster in which each page was found, by the number of the current clustering.

    Empty where the site has none.
    """
    current = Clustering.objects.current().filter(site=site).values_list("pk", flat=True)
    return {pk: _found_in(pk) for pk in current}


def store_clustering(run: JobRun, site: Site, outcome: ClusteringResult) -> dict[str, Any]:
    """Store a clustering in one transaction, which ends the job, and return the job's result.

    1. Find the clusters that the groups go on as; create the others.
    2. Write their figures, the memberships of the pages, and the doubts.
    3. Make the clustering current, unless it compares, and repeat people's changes in it.
    4. Delete old clusterings.

    Raises LeaseLost or JobCancelled; nothing is written then.
    """
    with transaction.atomic():
        run.renew(message="storing")
        lock_clusters(site.pk)
        clustering = _write_clustering(run, site, outcome)
        cluster_by_group = _find_clusters(clustering, outcome)
        _write_figures(clustering, outcome, cluster_by_group)
        _write_layouts(clustering, outcome, cluster_by_group)
        _write_memberships(clustering, outcome.pages, cluster_by_group)
        _write_doubts(clustering, outcome)
        before = list(Clustering.objects.current().filter(site=site).values_list("pk", flat=True))
        if not outcome.compares:
            switch_current(clustering)
            _retitle(outcome, cluster_by_group)
        apply_changes(clustering=clustering)
        drop_old_clusterings(site, but=before)
        result = _result(clustering, outcome)
        audit.record(
            actor=run.job.created_by,
            action="site.clustered",
            subject=site.name,
            site=site,
            detail={**result, "algorithm": outcome.algorithm, "compares": outcome.compares},
        )
        run.finish(result)
    return result


def switch_current(clustering: Clustering) -> None:
    """Make a clustering the site's current one, in the caller's transaction."""
    Clustering.objects.filter(site=clustering.site_id, is_current=True).update(is_current=False)
    Clustering.objects.filter(pk=clustering.pk).update(is_current=True)
    clustering.is_current = True


def drop_old_clusterings(site: Site, *, but: Sequence[int] = ()) -> None:
    """Delete all but the newest clusterings, those named and those that were reviewed."""
    candidates = Clustering.objects.filter(site=site, is_current=False).exclude(pk__in=but)
    old = list(candidates.order_by("-pk").values_list("pk", flat=True)[N_KEPT:])
    reviews = ClusterReview.objects.filter(clustering__in=old)
    reviewed = set(reviews.values_list("clustering", flat=True))
    delete_clusterings([pk for pk in old if pk not in reviewed])


def delete_clusterings(pks: Iterable[int]) -> None:
    for pk in pks:
        memberships = PageMembership.objects.filter(clustering=pk)
        memberships._raw_delete("default")  # noqa: SLF001 - nothing refers to them
        Clustering.objects.filter(pk=pk).delete()


def storable_json(value: Any) -> Any:
    """Return a JSON value with all its texts fit for the database."""
    if isinstance(value, dict):
        return {storable(str(name)): storable_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(part) for part in value]
    return storable(value) if isinstance(value, str) else value


def _write_clustering(run: JobRun, site: Site, outcome: ClusteringResult) -> Clustering:
    return Clustering.objects.create(
        site=site,
        algorithm=outcome.algorithm,
        params=outcome.params,
        parameters=outcome.parameters,
        why=storable(outcome.grouping.why),
        evidence=outcome.evidence,
        measures=outcome.measures,
        model=storable_json(outcome.grouping.model),
        answers=list(outcome.answers),
        map=outcome.map,
        n_sampled=outcome.n_sampled,
        seconds=outcome.seconds,
        made_at=timezone.now(),
        made_by=run.job.created_by,
        job=run.job,
        assigned_at=outcome.listed_at,
    )


def _find_clusters(clustering: Clustering, outcome: ClusteringResult) -> dict[str, Cluster]:
    """Return the cluster of each group: the one that it goes on as, else a new one."""
    site = clustering.site
    pk_by_group = _find_identities(clustering, outcome.pages, outcome.found_before)
    known = Cluster.objects.in_bulk(list(pk_by_group.values()))
    clusters = {group: known[pk] for group, pk in pk_by_group.items()}
    names = used_names(site)
    new = {}
    for group in sorted(
        outcome.figures, key=lambda group: (-outcome.figures[group].n_pages, group)
    ):
        if group not in clusters:
            title = storable(outcome.figures[group].title, MAX_TITLE_CHARS) or "Pages"
            name = free_name(title, names)
            names.add(name)
            new[group] = Cluster(site=site, name=name, title=title)
    Cluster.objects.bulk_create(new.values(), batch_size=ROWS_PER_STATEMENT)
    return clusters | new


def _find_identities(
    clustering: Clustering,
    pages: Sequence[GroupedPage],
    found_before: Mapping[int, Mapping[int, int]],
) -> dict[str, int]:
    """Return the cluster that each group goes on as, of the current or an earlier clustering.

    Where pages of the current clustering were found is asked as it was when the work began: pages
    of a redesign may have been assigned to whatever is nearest to them since.
    """
    group_by_page = {
        grouped.page.pk: grouped.group for grouped in pages if grouped.group is not None
    }
    cluster_by_group: dict[str, int] = {}
    earlier = Clustering.objects.filter(site=clustering.site).exclude(pk=clustering.pk)
    for pk in earlier.order_by("-is_current", "-pk").values_list("pk", flat=True)[
        : 1 + N_REMEMBERED
    ]:
        known = set(cluster_by_group.values())
        clusters = found_before[pk] if pk in found_before else _found_in(pk)
        cluster_by_page = {
            page: cluster for page, cluster in clusters.items() if cluster not in known
        }
        successors = find_successors(cluster_by_page, group_by_page)
        cluster_by_group |= successors
        group_by_page = {
            page: group for page, group in group_by_page.items() if group not in successors
        }
    return cluster_by_group


def _found_in(clustering_pk: int) -> dict[int, int]:
    memberships = PageMembership.objects.filter(clustering=clustering_pk, found__isnull=False)
    return dict(memberships.values_list("page", "found").iterator(chunk_size=5_000))


def _write_figures(
    clustering: Clustering, outcome: ClusteringResult, cluster_by_group: Mapping[str, Cluster]
) -> None:
    group_by_name = {group.name: group for group in outcome.grouping.groups}
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
                kind=figures.kind,
                certainty=figures.certainty,
            )
            for name, figures in outcome.figures.items()
        ],
        batch_size=ROWS_PER_STATEMENT,
    )


def _write_layouts(
    clustering: Clustering, outcome: ClusteringResult, cluster_by_group: Mapping[str, Cluster]
) -> None:
    """Write the layouts of each group with pages; the example is the one nearest to its centre."""
    by_distance = sorted(
        (page for page in outcome.pages if page.layout is not None),
        key=lambda page: (page.distance is None, page.distance, page.page.url),
    )
    example_by_layout: dict[tuple[str | None, str | None], int] = {}
    for grouped in by_distance:
        example_by_layout.setdefault((grouped.group, grouped.layout), grouped.page.pk)
    existing = set(
        Page.objects.filter(pk__in=example_by_layout.values()).values_list("pk", flat=True)
    )
    layouts = []
    for group in outcome.grouping.groups:
        for layout in group.layouts:
            example = example_by_layout.get((group.name, layout.name))
            layouts.append(
                ClusterLayout(
                    clustering=clustering,
                    cluster=cluster_by_group[group.name],
                    name=group_key(layout.name),
                    has=storable_json(list(layout.has)),
                    lacks=storable_json(list(layout.lacks)),
                    example_id=example if example in existing else None,
                )
            )
    ClusterLayout.objects.bulk_create(layouts, batch_size=ROWS_PER_STATEMENT)


def _write_memberships(
    clustering: Clustering, pages: Sequence[GroupedPage], cluster_by_group: Mapping[str, Cluster]
) -> None:
    for start in range(0, len(pages), ROWS_PER_STATEMENT):
        create_memberships(clustering, pages[start : start + ROWS_PER_STATEMENT], cluster_by_group)


def create_memberships(
    clustering: Clustering, pages: Sequence[GroupedPage], cluster_by_group: Mapping[str, Cluster]
) -> None:
    """Create the memberships of some pages, without those that are gone since they were read."""
    pks = [grouped.page.pk for grouped in pages]
    existing = set(Page.objects.filter(pk__in=pks).values_list("pk", flat=True))
    layouts = ClusterLayout.objects.filter(clustering=clustering)
    layout_by_name = {(layout.cluster_id, layout.name): layout for layout in layouts}
    memberships = []
    for grouped in pages:
        if grouped.page.pk not in existing:
            continue
        cluster = cluster_by_group.get(grouped.group or "")
        memberships.append(
            PageMembership(
                clustering=clustering,
                page_id=grouped.page.pk,
                found=cluster,
                cluster=cluster,
                layout=(
                    layout_by_name.get((cluster.pk, group_key(grouped.layout)))
                    if cluster and grouped.layout is not None
                    else None
                ),
                distance=grouped.distance if cluster else None,
                snapshot_seen=grouped.page.snapshot,
            )
        )
    _insert(memberships)


def _insert(memberships: Sequence[PageMembership]) -> None:
    """Insert memberships: by COPY on PostgreSQL, a fifth of the time of INSERT."""
    if connection.vendor != "postgresql":
        PageMembership.objects.bulk_create(memberships)
        return
    fields = [field for field in PageMembership._meta.concrete_fields if not field.primary_key]
    table = PageMembership._meta.db_table
    columns = ", ".join(str(field.column) for field in fields)
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
    ):
        for membership in memberships:
            copy.write_row(
                [
                    field.get_db_prep_save(getattr(membership, field.attname), connection)
                    for field in fields
                ]
            )


def _write_doubts(clustering: Clustering, outcome: ClusteringResult) -> None:
    """Write the doubts of the algorithm, each two sets of pages once."""
    doubt_by_name: dict[str, ClusterDoubt] = {}
    for doubt in outcome.grouping.doubts:
        left = [outcome.clustered[index] for index in doubt.left]
        right = [outcome.clustered[index] for index in doubt.right]
        name = name_doubt([page.url for page in left], [page.url for page in right])
        if not left or not right or name in doubt_by_name:
            continue
        doubt_by_name[name] = ClusterDoubt(
            clustering=clustering,
            doubt=name,
            rank=len(doubt_by_name),
            left=[page.pk for page in left[:MAX_PAGES_OF_DOUBT]],
            right=[page.pk for page in right[:MAX_PAGES_OF_DOUBT]],
            n_left=len(left),
            n_right=len(right),
            probability=doubt.probability,
            is_joined=doubt.is_joined,
            why=storable_json(list(doubt.why)),
        )
        if len(doubt_by_name) == MAX_DOUBTS:
            break
    ClusterDoubt.objects.bulk_create(doubt_by_name.values())


def _retitle(outcome: ClusteringResult, cluster_by_group: Mapping[str, Cluster]) -> None:
    """Update the titles of clusters that go on, except those that a person gave."""
    changed = []
    for group, cluster in cluster_by_group.items():
        title = storable(outcome.figures[group].title, MAX_TITLE_CHARS)
        if title and not cluster.has_own_title and cluster.title != title:
            cluster.title = title
            changed.append(cluster)
    Cluster.objects.bulk_update(changed, ["title"], batch_size=500)


def _result(clustering: Clustering, outcome: ClusteringResult) -> dict[str, Any]:
    return {
        "clustering": clustering.pk,
        "clusters": ClusterFigures.objects.filter(clustering=clustering, n_pages__gt=0).count(),
        "pages": clustering.n_pages,
        "unassigned": clustering.n_unassigned,
        "seconds": round(outcome.seconds, 2),
    }
