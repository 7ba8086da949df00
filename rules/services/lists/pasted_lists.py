"""Fetch a page whose address somebody pasted, at the site that it belongs to or at a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q

from clustering.dom.addresses import BadAddress, belongs_to_site, normalise_url
from clustering.models import Page
from clustering.services.crawl.list_crawling import list_crawl_request
from clustering.services.sites.host_checks import why_unreachable
from clustering.services.sites.sites import SiteExists, add_site
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs.requests import enqueue

FETCHING = "clustering.crawl_list"
MOST_TOLD = 5


class NotAllowed(Exception):
    """The person may not fetch pages at that host."""


class Unfetched(NamedTuple):
    """A page that did not come, and why."""

    url: str
    state: str
    reason: str


def start_table(*, url: str, name: str, actor: User) -> Job:
    """Create the job that fetches a page for its lists; a host without a site gets one so named.

    A host from which nothing can be fetched, such as one that is misspelt, gets none. Raises
    ValidationError, NotAllowed, JobExists.
    """
    try:
        address = normalise_url(url)
    except BadAddress as error:
        raise ValidationError({"url": str(error)}) from None
    site = site_at(address, actor)
    problem = why_unreachable(address) if site is None else ""
    if problem:
        raise ValidationError({"url": f"{problem}. Check the address; no site was added."})
    with transaction.atomic():
        site = site or _added(address, name, actor)
        request = list_crawl_request(
            site=site, url=address, follows_pages=False, follows_details=False, max_pages=1
        )
        return enqueue(request, actor=actor)


def site_at(address: str, user: User) -> Site | None:
    """Return the site that an address belongs to, None where a new one may be added for it.

    Raises NotAllowed where the user may fetch pages neither there nor at a new site.
    """
    host = urlsplit(address).netloc
    bare = host.removeprefix("www.")
    near = (
        Q(root_url__contains=f"//{bare}")
        | Q(root_url__contains=f"//www.{bare}")
        | ~Q(extra_hosts=[])
    )
    fitting = [
        site
        for site in Site.objects.filter(near, deletion_requested_at=None).order_by("pk")
        if belongs_to_site(address, site.root_url, site.extra_hosts)
    ]
    own = [site for site in fitting if user.has_role(Role.OPERATOR, site)]
    if own:
        return own[0]
    if fitting or not user.has_role(Role.OPERATOR):
        raise NotAllowed(
            f"Fetching pages of {host} needs the role operator "
            + ("at its site." if fitting else "for all sites, as the host has no site yet.")
            + " Ask an administrator for the role, or an operator to paste the address."
        )
    return None


def unfetched_pages(job: Job) -> Sequence[Unfetched]:
    """Return the pages that a job could not store, with the reasons."""
    pages = Page.objects.filter(crawl=job).exclude(state__in=[Page.State.STORED, Page.State.DUE])
    return [
        Unfetched(page.url, page.get_state_display(), page.reason)
        for page in pages.order_by("pk")[:MOST_TOLD]
    ]


def unfinished_fetch(site: Site) -> Job | None:
    """Return the job that fetches lists of a site, None where there is none."""
    return Job.objects.unfinished().filter(site=site, task=FETCHING).order_by("pk").first()


def crawl_whole_list(
    *, page: Page, follows_pages: bool, follows_details: bool, max_pages: int, actor: User
) -> Job:
    """Create the job that fetches a list with its further pages and details.

    Raises ValidationError, JobExists.
    """
    if not (follows_pages or follows_details):
        raise ValidationError("Choose the further pages, the details, or both.")
    request = list_crawl_request(
        site=page.site,
        url=page.given_url,
        follows_pages=follows_pages,
        follows_details=follows_details,
        max_pages=max_pages,
    )
    return enqueue(request, actor=actor)


def last_whole_crawl(page: Page) -> Job | None:
    """Return the last finished crawl of this list with its pages or details."""
    done = Job.objects.filter(
        site=page.site, task=FETCHING, state=Job.State.DONE, params__entry=page.url
    )
    return next(
        (job for job in done.order_by("-pk")[:MOST_TOLD] if _is_whole(job)),
        None,
    )


def _is_whole(job: Job) -> bool:
    return bool(job.params.get("follows_pages") or job.params.get("follows_details"))


def _added(address: str, name: str, actor: User) -> Site:
    parts = urlsplit(address)
    try:
        return add_site(name=name, root_url=f"{parts.scheme}://{parts.netloc}/", actor=actor)
    except SiteExists as error:
        raise ValidationError({"url": str(error)}) from None
