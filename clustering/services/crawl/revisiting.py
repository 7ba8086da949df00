"""Visit known pages again in the one loop that fetches, and new pages some of their links lead to.

The pages are made due together with their job, in one transaction: whatever is killed, they are
visited once. Hosts are asked whether a page has changed, as in every crawl.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Q

from clustering.algorithms.url_patterns import matches
from clustering.dom.addresses import origin_of
from clustering.dom.links import FoundLink
from clustering.models import Page
from clustering.services.crawl import hosts
from clustering.services.crawl.engine import Engine
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue

PAGES_PER_QUERY: Final = 500
MAX_NEW_PAGES: Final = 200  # that one visit of known pages may find and visit as well
_POSITION: Final = re.compile(r"\[\d+\]")


class LinksToFollow(NamedTuple):
    """Which links of known pages lead to new pages that are worth a visit."""

    patterns: Sequence[str] = ()  # of addresses
    paths: Sequence[str] = ()  # of links, without positions

    def leads_on(self, link: FoundLink) -> bool:
        """Return whether a link is one of them."""
        if path_without_positions(link.xpath) in self.paths:
            return True
        return any(matches(pattern, link.url) for pattern in self.patterns)


def path_without_positions(xpath: str) -> str:
    """Return the path of an element as its likes on other pages have it.

    >>> path_without_positions("/html/body/ul[2]/li[17]/a")
    '/html/body/ul/li/a'
    """
    return _POSITION.sub("", xpath)


def revisit_key(site: Site) -> str:
    """Return the key of the job that visits pages of a site again."""
    return f"revisit_pages:{site.pk}"


def start_revisit(*, site: Site, pages: Iterable[int], links: LinksToFollow) -> Job:
    """Create the job that visits pages of a site again, and make them due in it. Raises JobExists.

    A page that a crawl is about to visit is left to it.
    """
    wanted = list(pages)
    request = JobRequest(
        kind=REVISIT_PAGES,
        title=f"Visit pages of {site.name} again",
        site=site,
        params={
            "patterns": list(links.patterns),
            "paths": list(links.paths),
            "max_pages": len(wanted) + MAX_NEW_PAGES,
        },
        key=revisit_key(site),
        is_audited=False,
    )
    with transaction.atomic():
        job = enqueue(request)
        for start in range(0, len(wanted), PAGES_PER_QUERY):
            _make_due(job, wanted[start : start + PAGES_PER_QUERY])
    return job


def revisit(run: JobRun) -> dict[str, Any]:
    """Visit the pages that are due in a job and report a line for each. Raises JobFailed."""
    with Engine() as engine:
        crawler = engine.begin(run, links_to_follow(run.job))
        crawler.visit_due()
        return crawler.end()


REVISIT_PAGES = JobKind("clustering.revisit_pages", Job.Queue.FETCH, revisit)


def links_to_follow(job: Job) -> LinksToFollow | None:
    """Return which links a job follows; None where it follows all."""
    if job.task != REVISIT_PAGES.task:
        return None
    return LinksToFollow(job.params["patterns"], job.params["paths"])


def _make_due(job: Job, pages: Sequence[int]) -> None:
    at_work = Q(state=Page.State.DUE, crawl__in=Job.objects.unfinished().values("pk"))
    free = Page.objects.filter(pk__in=pages).exclude(at_work)
    pks_by_origin: dict[str, list[int]] = {}
    for pk, url in free.values_list("pk", "url"):
        pks_by_origin.setdefault(origin_of(url), []).append(pk)
    for origin, pks in pks_by_origin.items():
        Page.objects.filter(pk__in=pks).update(
            state=Page.State.DUE,
            crawl=job,
            host=hosts.find_host(origin=origin),
            n_tries=0,
            reason="",
            redirects_to=None,
        )
