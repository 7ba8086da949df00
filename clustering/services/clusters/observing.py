"""Observe what came to a site before anybody clusters it, so that a clustering need not wait for it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from clustering.services.clusters.observation_store import observation_store
from clustering.services.clusters.observer_processes import MAX_PAGES_IN_PROCESS, observe_stored
from clustering.services.pages.stored_pages import StoredPage, stored_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobExists, JobRun, Work
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue


def observing_request(*, site: Site) -> JobRequest:
    """Describe the job that observes a site's pages."""
    return JobRequest(
        kind=OBSERVE_PAGES,
        title=f"Read pages of {site.name} for clustering",
        site=site,
        key=f"observe_pages:{site.pk}",
    )


def observe_pages(run: JobRun) -> dict[str, Any]:
    """Observe the pages of the job's site that were not observed yet, and store that."""
    missing = _missing_pages(run.site)
    n_done = 0
    for batch in observe_stored(missing, "auto"):
        n_done += len(batch)
        run.renew(n_done=n_done, n_total=len(missing), message="reading pages")
    return {"pages": n_done}


OBSERVE_PAGES = JobKind("clustering.observe_pages", Job.Queue.LEARN, observe_pages)


def request_observing(run: JobRun) -> None:
    """Start a job that observes the pages that another one has stored.

    Few pages are observed by whoever needs them first.
    """
    site = run.job.site
    if site is not None and len(_missing_pages(site)) > MAX_PAGES_IN_PROCESS:
        with suppress(JobExists):  # the one that is unfinished may have listed the pages already
            enqueue(observing_request(site=site), actor=run.job.created_by)


def with_observing(work: Work) -> Work:
    """Return work that stores pages of a site, then starts a job that observes them."""

    def work_and_request(run: JobRun) -> dict[str, Any] | None:
        result = work(run)
        request_observing(run)
        return result

    return work_and_request


def _missing_pages(site: Site) -> list[StoredPage]:
    store = observation_store()
    return [page for page in stored_pages(site) if not store.has(page.body, page.content_type)]
