"""Split a cluster that holds several types: group its pages again, more strictly than before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.algorithms.automatic.resplit import split_pages
from clustering.algorithms.grouping import Grouping, Model
from clustering.algorithms.kinds.cluster_kinds import cluster_kinds
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.titles.titles import title_clusters
from clustering.models import Cluster, ClusterChange, PageMembership
from clustering.services.clusters.cluster_names import free_name, used_names
from clustering.services.clusters.current_changes import apply_changes, apply_last_change
from clustering.services.clusters.current_clusterings import has_pages, locked_clustering
from clustering.services.clusters.grouped_pages import describe_pages, read_cluster_facts
from clustering.services.clusters.observer_processes import observe_stored
from clustering.services.clusters.site_samples import sample_by_parts
from clustering.services.clusters.split_parts import (
    JUDGE_TASK,
    add_to_parts,
    assigned_groups,
    judge_pages,
    listed_pages,
)
from clustering.services.pages.stored_pages import StoredPage, stored_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.services.people import audit
from vertex.core.texts import storable

MAX_SAMPLED = 2_000
PAGES_PER_BATCH = 500
MAX_TITLE_CHARS = 200
MAX_READ = 20  # pages of a part that are read once more for its title


class _Parts(NamedTuple):
    """What a cluster's pages fall into."""

    grouping: Grouping  # of the sampled pages
    titles: Mapping[str, str]  # by the group's name
    group_by_page: Mapping[int, str | None]  # of all pages


def split_request(*, cluster: Cluster) -> JobRequest:
    """Describe the job that groups a cluster's pages again at a stricter threshold.

    Raises ValidationError where the cluster has no two pages.
    """
    if not has_pages(cluster, at_least=2):
        raise ValidationError(
            f"{cluster} has fewer than 2 pages in the current clustering: nothing to split"
        )
    return JobRequest(
        kind=SPLIT_CLUSTER,
        title=f"Split {cluster} of {cluster.site.name}",
        site=cluster.site,
        params={"cluster": cluster.pk},
        key=f"split_cluster:{cluster.pk}",
        subject=cluster,
    )


def split_cluster(run: JobRun) -> dict[str, Any]:
    """Split the job's cluster into parts and store them as a change.

    Raises JobFailed where the pages are too much alike to be told apart; nothing is changed then.
    """
    cluster = Cluster.objects.filter(pk=run.job.params["cluster"]).select_related("site").first()
    if cluster is None:
        raise jobs.JobFailed("the cluster was deleted meanwhile")
    pages = stored_pages(cluster.site, _pages_of(cluster))
    with run.kept_alive():
        sample = sample_by_parts(cluster.site, pages, MAX_SAMPLED)
    observed = _observed(run, sample, len(pages))
    with run.kept_alive():
        observations = [seen.observation for seen in observed]
        grouping = split_pages([page.url for page in sample], observations)
    if len(grouping.groups) < 2:
        raise jobs.JobFailed(f"{cluster} was not split: {grouping.why} Nothing was changed.")
    group_by_page = dict(
        zip([page.pk for page in sample], grouping.labels(len(sample)), strict=True)
    )
    titles = _titles(grouping, sample, observed)
    other_pages = [page for page in pages if page.pk not in group_by_page]
    group_by_page |= _assigned(run, cluster.site, grouping, other_pages, len(pages))
    return _store(run, cluster, _Parts(grouping, titles, group_by_page))


SPLIT_CLUSTER = JobKind(
    "clustering.split_cluster", Job.Queue.LEARN, split_cluster, "cluster.split_requested"
)


def judge_split_pages(run: JobRun) -> dict[str, Any]:
    """Assign all pages that came into a split cluster after the split to its parts."""
    change = _change_of(run)
    listed = listed_pages(change)
    unlisted = [page for page in _pages_of(change.cluster) if page not in listed]
    for start in range(0, len(unlisted), PAGES_PER_BATCH):
        batch = unlisted[start : start + PAGES_PER_BATCH]
        judged = judge_pages(change, batch)
        with transaction.atomic():
            run.renew(n_done=start + len(batch), n_total=len(unlisted), message="reading pages")
            clustering = locked_clustering(change.site)
            change = _change_of(run)
            add_to_parts(change, judged)
            apply_changes(clustering=clustering, pages=batch)
    return {"pages": len(unlisted)}


JUDGE_SPLIT_PAGES = JobKind(JUDGE_TASK, Job.Queue.LEARN, judge_split_pages)


def _change_of(run: JobRun) -> ClusterChange:
    change = (
        ClusterChange.objects.select_related("site", "cluster")
        .filter(pk=run.job.params["change"])
        .first()
    )
    if change is None:
        raise jobs.JobFailed("the change was deleted meanwhile")
    return change


def _pages_of(cluster: Cluster) -> list[int]:
    members = PageMembership.objects.of_cluster(cluster).order_by("page")
    return list(members.values_list("page", flat=True))


def _observed(run: JobRun, pages: Sequence[StoredPage], n_total: int) -> list[ObservedPage]:
    observed: list[ObservedPage] = []
    for batch in observe_stored(pages, "auto"):
        observed.extend(seen for _, seen in batch)
        run.renew(n_done=len(observed), n_total=n_total, message="reading pages")
    return observed


def _titles(
    grouping: Grouping, sample: Sequence[StoredPage], observed: Sequence[ObservedPage]
) -> dict[str, str]:
    """Return the title of each group."""
    pages_by_group = [[sample[index] for index in group.members] for group in grouping.groups]
    facts_by_group = [read_cluster_facts(pages, MAX_READ) for pages in pages_by_group]
    kinds = cluster_kinds(facts_by_group)
    described = []
    for number, group in enumerate(grouping.groups):
        seen = [observed[index] for index in group.members]
        described.append(
            describe_pages(pages_by_group[number], seen, facts_by_group[number], kinds[number])
        )
    names = [group.name for group in grouping.groups]
    return dict(zip(names, title_clusters(described), strict=True))


def _assigned(
    run: JobRun, site: Site, grouping: Grouping, pages: Sequence[StoredPage], n_total: int
) -> dict[int, str | None]:
    """Return the group of each page that was not sampled, None where the model cannot tell."""
    group_by_page: dict[int, str | None] = {}
    for start in range(0, len(pages), PAGES_PER_BATCH):
        batch = pages[start : start + PAGES_PER_BATCH]
        group_by_page |= assigned_groups(site, grouping.model, [page.pk for page in batch])
        n_done = n_total - len(pages) + len(group_by_page)
        run.renew(n_done=n_done, message="assigning pages")
    return group_by_page


def _store(run: JobRun, cluster: Cluster, parts: _Parts) -> dict[str, Any]:
    """Store the split as a change, in the transaction that ends the job; return its result."""
    with transaction.atomic():
        run.renew(message="storing")
        clustering = locked_clustering(cluster.site)
        part_by_group = _create_parts(cluster, parts)
        change = _create_change(run, cluster, parts, part_by_group)
        apply_last_change(change, clustering)
        result = {"change": change.pk, "parts": [part.name for part in part_by_group.values()]}
        audit.record(
            actor=run.job.created_by,
            action="cluster.split",
            subject=cluster,
            site=cluster.site,
            detail={**result, "pages": len(parts.group_by_page)},
        )
        run.finish(result)
    return result


def _create_parts(cluster: Cluster, parts: _Parts) -> dict[str, Cluster]:
    """Return the cluster of each group: the split one for the largest, new ones for the others."""
    largest, *smaller_groups = parts.grouping.groups
    names = used_names(cluster.site)
    titles = set(Cluster.objects.filter(site=cluster.site).values_list("title", flat=True))
    part_by_group = {largest.name: cluster}
    for group in smaller_groups:
        title = _free_title(storable(parts.titles[group.name], MAX_TITLE_CHARS), titles)
        name = free_name(title, names)
        names.add(name)
        titles.add(title)
        part_by_group[group.name] = Cluster.objects.create(
            site=cluster.site, name=name, title=title, is_hand_made=True
        )
    return part_by_group


def _free_title(title: str, used: Collection[str]) -> str:
    """Return a title, with a number where another cluster has it."""
    number, free = 1, title
    while free in used:
        number += 1
        free = f"{title} {number}"
    return free


def _create_change(
    run: JobRun, cluster: Cluster, parts: _Parts, part_by_group: Mapping[str, Cluster]
) -> ClusterChange:
    pages_by_part: dict[str, list[int]] = {}
    for page, group in sorted(parts.group_by_page.items()):
        part = part_by_group.get(group or "", cluster)
        pages_by_part.setdefault(str(part.pk), []).append(page)
    return ClusterChange.objects.create(
        site=cluster.site,
        kind=ClusterChange.Kind.SPLIT,
        cluster=cluster,
        detail={
            "parts": pages_by_part,
            "model": _storable(parts.grouping.model),
            "groups": {group: part.pk for group, part in part_by_group.items()},
            "n_pages": len(parts.group_by_page),
        },
        made_by=run.job.created_by,
    )


def _storable(model: Model) -> Model:
    """Return a model fit for the database: addresses are the only texts in it that a site chose."""
    return {
        **model,
        "addresses": {storable(url): group for url, group in model["addresses"].items()},
    }
