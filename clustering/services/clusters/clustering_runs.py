"""Cluster a site's stored pages: read them, let an algorithm group a sample, assign the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from django.utils import timezone

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    EvidenceMissing,
    Grouping,
    TooManyPages,
)
from clustering.algorithms.observation import ObservedPage
from clustering.services.clusters.evidence import collect_evidence
from clustering.services.clusters.grouped_pages import GroupedPages, map_pages, measure
from clustering.services.clusters.kept_clusterings import MadeClustering, keep_clustering
from clustering.services.clusters.observer_processes import observe_stored
from clustering.services.pages.stored_pages import (
    MAX_SAMPLE,
    StoredPage,
    sample_pages,
    sample_size,
    stored_pages,
)
from vertex.core.services.jobs.jobs import JobFailed, JobRun

Seen = Sequence[tuple[StoredPage, ObservedPage]]

LARGEST_BY_ALGORITHM = {"auto": 3_000}  # quadratic: it groups so many and assigns the others
LINK_READERS = frozenset({"site_model"})  # a sample would have no links between its pages


class _Run(NamedTuple):
    """What all steps of one run need."""

    run: JobRun
    clusterer: Clusterer
    n_pages: int

    def tell(self, n_done: int, message: str) -> None:
        self.run.renew(n_done=n_done, n_total=self.n_pages, message=message)


def cluster_site(run: JobRun) -> dict[str, Any]:
    """Cluster the pages of a job's site and keep the result, as the current clustering unless it compares.

    Each page is reported when it has been read. Raises JobFailed where the site has no pages or lacks what
    the algorithm needs.
    """
    site, params = run.site, run.job.params
    started, looked_at = time.monotonic(), timezone.now()
    clusterer = CLUSTERERS[params["algorithm"]]
    pages = stored_pages(site)
    if not pages:
        raise JobFailed(f"{site.name} has no stored pages; import pages or crawl the site first")
    sampled = sample_pages(pages, _sample_size(clusterer, len(pages), params.get("n_sample")))
    this = _Run(run, clusterer, len(pages))
    seen = list(_observed(this, sampled, 0, "reading pages"))
    clustered = sampled if clusterer.observe else sample_pages(pages, len(pages))
    with run.kept_alive():
        this.tell(len(sampled), "grouping")
        evidence = collect_evidence(site, clustered, clusterer)
        grouping = _group(clusterer, clustered, seen, evidence)
        group_by_page = _labels(grouping, clustered)
        grouped = GroupedPages()
        grouped.add_sample(seen, group_by_page)
        places = map_pages(seen, group_by_page)
    _assign_rest(this, pages, sampled, grouping, grouped, group_by_page)
    with run.kept_alive():
        this.tell(len(pages), "describing the clusters")
        figures = grouped.figures()
    made = MadeClustering(
        algorithm=clusterer.name,
        params={
            "sample": len(clustered),
            "seed": evidence.seed,
            "asked_sample": params.get("n_sample"),
        },
        grouping=grouping,
        found=grouped.found,
        figures=figures,
        evidence=_told(evidence, len(pages), len(clustered)),
        measures=measure(figures.values(), len(pages)),
        map=places,
        n_sampled=len(clustered),
        seconds=time.monotonic() - started,
        looked_at=looked_at,
        compares=bool(params.get("compare")),
    )
    return keep_clustering(run, site, made)


def _sample_size(clusterer: Clusterer, n_pages: int, asked: int | None) -> int:
    whole = min(n_pages, MAX_SAMPLE) if clusterer.name in LINK_READERS else sample_size(n_pages)
    size = min(n_pages, asked or whole)
    return min(size, LARGEST_BY_ALGORITHM.get(clusterer.name, size))


def _observed(
    this: _Run, pages: Sequence[StoredPage], n_before: int, message: str
) -> Iterator[tuple[StoredPage, ObservedPage]]:
    """Yield pages with what was observed of them, and tell of each batch."""
    n_done = n_before
    this.tell(n_done, message)
    with closing(observe_stored(pages, this.clusterer.name)) as batches:
        for batch in batches:
            for one in batch:
                yield one
                this.run.report(one)
            n_done += len(batch)
            this.tell(n_done, message)


def _group(
    clusterer: Clusterer, pages: Sequence[StoredPage], seen: Seen, evidence: ClusteringInputs
) -> Grouping:
    observations = (
        [page.observation for _, page in seen] if clusterer.observe else [None] * len(pages)
    )
    try:
        return clusterer.cluster_pages([page.url for page in pages], observations, evidence)
    except (TooManyPages, EvidenceMissing) as error:
        raise JobFailed(str(error)) from error


def _labels(grouping: Grouping, pages: Sequence[StoredPage]) -> dict[int, str | None]:
    labels = grouping.labels(len(pages))
    return {page.pk: label for page, label in zip(pages, labels, strict=True)}


def _assign_rest(
    this: _Run,
    pages: Sequence[StoredPage],
    sampled: Sequence[StoredPage],
    grouping: Grouping,
    grouped: GroupedPages,
    group_by_page: dict[int, str | None],
) -> None:
    """Put the pages that were not sampled into the groups, batch by batch."""
    are_sampled = {page.pk for page in sampled}
    rest = [page for page in pages if page.pk not in are_sampled]
    if not rest:
        return
    assign = this.clusterer.assign
    for page, seen in _observed(this, rest, len(sampled), "assigning pages"):
        is_grouped = page.pk in group_by_page
        group = (
            group_by_page[page.pk]
            if is_grouped
            else assign(grouping.model, seen.observation, page.url)
        )
        grouped.add(page, seen, group)


def _told(evidence: ClusteringInputs, n_pages: int, n_clustered: int) -> dict[str, Any]:
    """Return what there was to decide by, as a person is told."""
    return {
        "pages": n_pages,
        "clustered": n_clustered,
        "links": len(evidence.links),
        "clicks": len(evidence.clicks),
        "has_derived_clicks": evidence.has_derived_clicks,
        "redirected": len(evidence.redirected),
    }
