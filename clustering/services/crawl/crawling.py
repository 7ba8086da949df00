"""Crawl a site: politely, one host apart from the other, and so that an interruption loses nothing.

The pages still to visit are rows, and each batch of answers is one transaction that also renews the
job's lease. A crawl that was cut off therefore goes on from its last batch, and ends with the same
pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from clustering.models import Page
from clustering.services.crawl.crawl_results import CrawlLine
from clustering.services.crawl.engine import Engine
from clustering.services.crawl.exploring import explore_site
from clustering.services.crawl.limits import CrawlLimits, entry_at
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest


class Strategy(models.TextChoices):
    """The order of visits: all pages, or the few that show what classes there are."""

    BREADTH_FIRST = "breadth_first", "Breadth first"
    DENSEST_FIRST = "densest_first", "Densest first"
    SPARSEST_FIRST = "sparsest_first", "Sparsest first"


def crawl_request(
    *,
    site: Site,
    entry: str = "",
    max_pages: int | None = None,
    delay: float | None = None,
    strategy: str = Strategy.BREADTH_FIRST,
) -> JobRequest:
    """Describe a crawl of a site from its root or another entry.

    Raises ValidationError where the crawl cannot be done.
    """
    params = _checked_params(site, entry, max_pages, delay, strategy)
    return JobRequest(
        kind=CRAWL_SITE,
        title=f"Crawl {site.name}",
        site=site,
        params=params,
        key=_key(site),
        detail=params,
    )


def resume_crawl(*, job: Job) -> None:
    """Make a crawl that broke off or waits for its next try due now."""
    Job.objects.filter(pk=job.pk).exclude(state__in=[Job.State.RUNNING, Job.State.DONE]).update(
        state=Job.State.DUE,
        due_at=timezone.now(),
        cancel_requested_at=None,
        finished_at=None,
        n_tries=0,
        error="",
    )


def interrupted_crawl(
    *,
    site: Site,
    entry: str = "",
    max_pages: int | None = None,
    delay: float | None = None,
    strategy: str = Strategy.BREADTH_FIRST,
) -> Job | None:
    """Return the site's last crawl if it is unfinished or broke off, and was to do the same.

    An unfinished one may have been to visit another number of pages. One that somebody cancelled on
    purpose is over. Raises ValidationError.
    """
    params = _checked_params(site, entry, max_pages, delay, strategy)
    last = Job.objects.filter(key=_key(site)).order_by("-pk").first()
    if last is None or any(last.params[name] != params[name] for name in ("entry", "strategy")):
        return None
    if last.state in {Job.State.DUE, Job.State.RUNNING}:
        return last
    broke_off = last.state == Job.State.FAILED or (last.state == Job.State.CANCELLED and last.error)
    if not broke_off or last.params["max_pages"] != params["max_pages"]:
        return None
    # An exploration makes a page due only when it visits it, so it may have more without due pages.
    is_exploration = last.params["strategy"] != Strategy.BREADTH_FIRST
    has_more = is_exploration or Page.objects.filter(crawl=last, state=Page.State.DUE).exists()
    return last if has_more else None


def crawl(
    run: JobRun, *, max_pages: int | None = None, delay: float | None = None
) -> dict[str, Any]:
    """Visit the pages of a job's site and report a line for each.

    A limit given here replaces that of an earlier, interrupted run. Raises JobFailed where no page
    could be stored.
    """
    job = run.job
    if max_pages is not None:
        job.params["max_pages"] = max_pages
    if delay is not None:
        job.params["delay"] = delay
    job.save(update_fields=["params"])
    is_exploration = job.params["strategy"] != Strategy.BREADTH_FIRST
    with Engine(takes_turns=is_exploration) as engine:
        crawler = engine.take(run, follows_links=not is_exploration)
        return explore_site(crawler) if is_exploration else crawler.go()


def visits_all_pages(job: Job) -> bool:
    """Return whether a job is a crawl that visits all pages, in an order that needs no decision."""
    return job.task == CRAWL_SITE.task and job.params["strategy"] == Strategy.BREADTH_FIRST


CRAWL_SITE = JobKind("clustering.crawl_site", Job.Queue.FETCH, crawl, "site.crawled")


def lines_so_far(job: Job) -> Iterator[CrawlLine]:
    """Yield what an interrupted crawl reported of its pages before."""
    visited = Page.objects.filter(crawl=job, state__in=[Page.State.STORED, Page.State.FAILED])
    for page in visited.order_by("depth", "id").select_related("latest_snapshot").iterator():
        snapshot = page.latest_snapshot
        if page.state == Page.State.FAILED or snapshot is None:
            yield CrawlLine(page.given_url, page.status, "failed", page.reason)
        else:
            is_new = job.started_at is not None and snapshot.fetched_at >= job.started_at
            yield CrawlLine(page.given_url, page.status, "new" if is_new else "unchanged")


def _key(site: Site) -> str:
    return f"crawl_site:{site.pk}"


def _checked_params(
    site: Site, entry: str, max_pages: int | None, delay: float | None, strategy: str
) -> dict[str, Any]:
    if strategy not in Strategy.values:
        raise ValidationError(
            f"{strategy!r} is no strategy; use one of {', '.join(Strategy.values)}"
        )
    limits = CrawlLimits(max_pages, delay)
    url = entry_at(site, entry or site.root_url)
    return {"entry": url, "given_entry": entry} | asdict(limits) | {"strategy": str(strategy)}
