"""Observe what came to a site before anybody clusters it, so that no clustering waits for it."""

from __future__ import annotations

from typing import Any

from clustering.services.clusters.observation_store import observation_store
from clustering.services.clusters.observer_processes import FEW_PAGES, observe_stored
from clustering.services.pages.stored_pages import StoredPage, stored_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest


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


def is_worth_a_job(site: Site) -> bool:
    """Return whether many pages of a site are not observed; a few wait for who needs them first."""
    return len(_missing_pages(site)) > FEW_PAGES


def _missing_pages(site: Site) -> list[StoredPage]:
    store = observation_store()
    return [page for page in stored_pages(site) if not store.has(page.body, page.content_type)]
