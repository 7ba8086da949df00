"""Cluster a site's stored pages: read them, let an algorithm group a sample, assign the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from django.utils import timezone

from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    EvidenceMissing,
    Grouping,
    TooManyPages,
)
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.parameters import Value
from clustering.services.clusters.cluster_answers import holding_answers, typical_urls
from clustering.services.clusters.clustering_inputs import collect_inputs
from clustering.services.clusters.clustering_store import (
    ClusteringResult,
    found_in_current,
    store_clustering,
)
from clustering.services.clusters.grouped_pages import GroupedPages, map_pages, measure
from clustering.services.clusters.observer_processes import observe_stored
from clustering.services.clusters.site_samples import sample_by_parts, sample_size
from clustering.services.pages.stored_pages import StoredPage, stored_pages
from vertex.core.services.jobs.jobs import JobFailed, JobRun

Observed = Sequence[tuple[StoredPage, ObservedPage]]


class _Run(NamedTuple):
    """What all steps of one run need."""

    run: JobRun
    clusterer: Clusterer  # with the parameters that were chosen
    parameters: dict[str, Value]
    n_pages: int

    def report(self, n_done: int, message: str) -> None:
        self.run.renew(n_done=n_done, n_total=self.n_pages, message=message)


def cluster_site(run: JobRun) -> dict[str, Any]:
    """Cluster the pages of a job's site and store the result, as current unless it compares.

    1. Read a sample of the pages, and let the algorithm group it; it follows people's answers.
    2. Read the other pages, and assign them to the groups.
    3. Describe the groups, and store all of it.

    Each page is reported when it has been read. Raises JobFailed where the site has no pages or
    lacks what the algorithm needs.
    """
    site, params = run.site, run.job.params
    started, listed_at = time.monotonic(), timezone.now()
    clusterer = clusterer_with(params["algorithm"], params.get("parameters", {}))
    pages = stored_pages(site)
    if not pages:
        raise JobFailed(f"{site.name} has no stored pages; import pages or crawl the site first")
    answers, found_before = holding_answers(site), found_in_current(site)
    size = sample_size(clusterer, len(pages), params.get("n_sample"))
    with run.kept_alive():
        sampled = sample_by_parts(site, pages, size, always=typical_urls(answers))
    parameters = clusterer.values(params.get("parameters", {}))
    this = _Run(run, clusterer, parameters, len(pages))
    observed = list(_observed(this, sampled, 0, "reading pages"))
    clustered = sampled if clusterer.observe else sample_by_parts(site, pages, len(pages))
    with run.kept_alive():
        this.report(len(sampled), "grouping")
        inputs = collect_inputs(site, clustered, clusterer, answers)
        grouping = _group(clusterer, clustered, observed, inputs)
        group_by_page = _labels(grouping, clustered)
        grouped = GroupedPages(clusterer)
        grouped.add_sample(observed, group_by_page, _layouts(grouping, clustered))
        page_map = map_pages(observed, group_by_page)
    _assign_rest(this, pages, sampled, grouping, grouped, group_by_page)
    with run.kept_alive():
        this.report(len(pages), "describing the clusters")
        figures = grouped.figures()
    result = ClusteringResult(
        algorithm=clusterer.name,
        params={
            "sample": len(clustered),
            "seed": inputs.seed,
            "asked_sample": params.get("n_sample"),
        },
        parameters=parameters,
        grouping=grouping,
        clustered=clustered,
        answers=[answer.pk for answer in answers],
        pages=grouped.pages,
        figures=figures,
        evidence=_evidence_json(inputs, len(pages), len(clustered)),
        measures=measure(figures.values(), len(pages)),
        map=page_map,
        n_sampled=len(clustered),
        seconds=time.monotonic() - started,
        listed_at=listed_at,
        found_before=found_before,
        compares=bool(params.get("compare")),
    )
    return store_clustering(run, site, result)


def _observed(
    this: _Run, pages: Sequence[StoredPage], n_before: int, message: str
) -> Iterator[tuple[StoredPage, ObservedPage]]:
    """Yield pages with what was observed of them, and report each batch."""
    n_done = n_before
    this.report(n_done, message)
    observing = observe_stored(pages, this.clusterer.name, parameters=this.parameters)
    with closing(observing) as batches:
        for batch in batches:
            for page_and_observed in batch:
                yield page_and_observed
                this.run.report(page_and_observed)
            n_done += len(batch)
            this.report(n_done, message)


def _group(
    clusterer: Clusterer,
    pages: Sequence[StoredPage],
    observed: Observed,
    inputs: ClusteringInputs,
) -> Grouping:
    """Return the groups of some pages. Raises JobFailed where the algorithm cannot group them."""
    observations: list[Any] = [None] * len(pages)
    if clusterer.observe:
        observations = [seen.observation for _, seen in observed]
    try:
        return clusterer.cluster_pages([page.url for page in pages], observations, inputs)
    except (TooManyPages, EvidenceMissing) as error:
        raise JobFailed(str(error)) from error


def _labels(grouping: Grouping, pages: Sequence[StoredPage]) -> dict[int, str | None]:
    labels = grouping.labels(len(pages))
    return {page.pk: label for page, label in zip(pages, labels, strict=True)}


def _layouts(grouping: Grouping, pages: Sequence[StoredPage]) -> dict[int, str]:
    """Return the layout of each page of a group that has several."""
    return {
        pages[member].pk: layout.name
        for group in grouping.groups
        for layout in group.layouts
        for member in layout.members
    }


def _assign_rest(
    this: _Run,
    pages: Sequence[StoredPage],
    sampled: Sequence[StoredPage],
    grouping: Grouping,
    grouped: GroupedPages,
    group_by_page: dict[int, str | None],
) -> None:
    """Assign the pages that were not sampled to the groups, batch by batch.

    Of a clusterer that observes nothing, all pages are grouped already.
    """
    sampled_pks = {page.pk for page in sampled}
    other_pages = [page for page in pages if page.pk not in sampled_pks]
    if not other_pages:
        return
    for page, seen in _observed(this, other_pages, len(sampled), "assigning pages"):
        if page.pk in group_by_page:
            grouped.add(page, seen, group_by_page[page.pk])
        else:
            placed = this.clusterer.place(grouping.model, seen.observation, page.url)
            grouped.add(page, seen, placed.group, placed.layout)


def _evidence_json(inputs: ClusteringInputs, n_pages: int, n_clustered: int) -> dict[str, Any]:
    """Return what there was to decide by, to show it to people."""
    return {
        "pages": n_pages,
        "clustered": n_clustered,
        "links": len(inputs.links),
        "clicks": len(inputs.clicks),
        "has_derived_clicks": inputs.has_derived_clicks,
        "redirected": len(inputs.redirected),
        "answers": len(inputs.answers),
    }
