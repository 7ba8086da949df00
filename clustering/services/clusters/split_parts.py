"""Find the part of each page of a split cluster: as it was found then, or by the split's model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from clustering.algorithms.automatic.profile_model import assign
from clustering.algorithms.grouping import Model
from clustering.models import ClusterChange, Clustering, PageMembership
from clustering.services.clusters.observer_processes import observe_stored
from clustering.services.pages.stored_pages import stored_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs

# Its kind stands in `splitting`: the work applies changes, and these come here for the parts.
JUDGE_TASK = "clustering.judge_split_pages"
MAX_READ = 500  # pages that are read while others wait for the site; a job reads the others


def part_by_page(
    change: ClusterChange, clustering: Clustering, inside: Sequence[int]
) -> dict[int, int]:
    """Return the cluster of each page that stands in the cluster which a change splits.

    Pages that the split has not seen are judged and kept in it: by their layout in the clustering,
    where a layout was split off, else by the split's model. Of many of the latter, some stay where
    they are until a job has read them.
    """
    listed = listed_pages(change)
    unlisted = sorted(page for page in inside if page not in listed)
    if change.detail.get("by_layout"):
        judged = _parts_by_layout(clustering, listed, unlisted) if unlisted else {}
        if judged:
            add_to_parts(change, judged)
        return {page: (listed | judged).get(page, change.cluster_id) for page in inside}
    if unlisted:
        judged = judge_pages(change, unlisted[:MAX_READ])
        add_to_parts(change, judged)
        listed |= judged
    if len(unlisted) > MAX_READ:
        _enqueue_rest(change)
    return {page: listed.get(page, change.cluster_id) for page in inside}


def _parts_by_layout(
    clustering: Clustering, listed: Mapping[int, int], pages: Sequence[int]
) -> dict[int, int]:
    """Return the part of pages that a split by layout has not seen.

    A page goes where most pages of its layout went; one without a layout is left out.
    """
    rows = PageMembership.objects.filter(clustering=clustering, layout__isnull=False)
    wanted = set(pages)
    layout_by_page: dict[int, int] = {}
    n_by_part: dict[int, Counter[int]] = {}
    layouts = set(rows.filter(page__in=pages).values_list("layout", flat=True))
    for page, layout in rows.filter(layout__in=layouts).values_list("page", "layout"):
        if page in wanted:
            layout_by_page[page] = layout
        if page in listed:
            n_by_part.setdefault(layout, Counter())[listed[page]] += 1
    return {
        page: n_by_part[layout].most_common(1)[0][0]
        for page, layout in layout_by_page.items()
        if layout in n_by_part
    }


def listed_pages(change: ClusterChange) -> dict[int, int]:
    """Return the cluster of each page that a split has put into one."""
    return {page: int(part) for part, pages in change.detail["parts"].items() for page in pages}


def judge_pages(change: ClusterChange, pages: Sequence[int]) -> dict[int, int]:
    """Return the part of each page by a split's model; the split cluster where it cannot tell."""
    part_by_group, model = change.detail["groups"], change.detail["model"]
    groups = assigned_groups(change.site, model, pages)
    return {page: part_by_group.get(groups.get(page), change.cluster_id) for page in pages}


def assigned_groups(site: Site, model: Model, pages: Sequence[int]) -> dict[int, str | None]:
    """Return the group of each page that has a snapshot, by the model of a stricter grouping."""
    return {
        page.pk: assign(model, seen.observation, page.url)
        for batch in observe_stored(stored_pages(site, pages), "auto")
        for page, seen in batch
    }


def add_to_parts(change: ClusterChange, judged: Mapping[int, int]) -> None:
    """Store the part of pages that were judged later, in the caller's transaction."""
    parts = change.detail["parts"]
    for page, part in sorted(judged.items()):
        parts.setdefault(str(part), []).append(page)
    ClusterChange.objects.filter(pk=change.pk).update(detail=change.detail)


def _enqueue_rest(change: ClusterChange) -> None:
    """Create the job that judges the pages a split has not seen, unless one is at it."""
    with suppress(jobs.JobExists):
        jobs.create_job(
            task=JUDGE_TASK,
            queue=Job.Queue.LEARN,
            title=f"Put further pages of {change.cluster} into the parts it was split into",
            site=change.site,
            params={"change": change.pk},
            key=f"judge_split_pages:{change.pk}",
        )
