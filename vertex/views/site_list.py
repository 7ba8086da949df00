"""What the list of sites shows: how each one is, its records and their age, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Max, Sum
from django.db.models.functions import Coalesce

from monitoring.models import Alert
from rules.models import Record
from vertex.core.models import Job, Site, User
from vertex.core.models.sites import SiteQuerySet
from vertex.core.views.lists import both_ways
from vertex.views.next_steps import NextStep, SiteFacts, facts_of, next_step

ORDERS = both_ways(
    {
        "name": ["name"],
        "root": ["root_url", "name"],
        "pages": ["n_pages", "name"],
        "snapshot": ["last_snapshot_at", "name"],
        "added": ["created_at", "name"],
    }
)
FILTERS = {
    "": "All",
    "alert": "With alerts",
    "at_work": "At work",
    "failed": "Last job failed",
    "empty": "Without pages",
}
PROBLEMS = ("failed", "refused")  # what the results of jobs call things that were not taken


class ShownSite(NamedTuple):
    """A site of the list: facts, next step, the job at work and the one that ended last."""

    site: Site
    facts: SiteFacts
    next: NextStep
    at_work: Job | None
    last: Job | None
    n_problems: int

    @property
    def problems_text(self) -> str:
        return f"{self.n_problems:,} not taken"


def narrowed(listed: SiteQuerySet, shown: str) -> SiteQuerySet:
    """Return the sites of a filter."""
    if shown == "alert":
        return listed.filter(pk__in=Alert.objects.open().values("site"))
    if shown == "at_work":
        return listed.filter(pk__in=Job.objects.unfinished().values("site"))
    if shown == "failed":
        return listed.filter(pk__in=Job.objects.failed_last().values("site"))
    return listed.filter(n_pages=0) if shown == "empty" else listed


def site_rows(sites: Sequence[Site], user: User) -> list[ShownSite]:
    """Return the rows of some sites, in the same few queries for any number of them."""
    jobs = Job.objects.filter(site__in=sites)
    # The last of a site stays: the newest that runs, else the newest that waits.
    waiting_then_running = jobs.unfinished().order_by("state", "pk")
    at_work = {job.site_id: job for job in waiting_then_running}
    newest = jobs.finished().values("site").annotate(newest=Max("pk"))
    newest_pks = list(newest.values_list("newest", flat=True))
    last_ended = {job.site_id: job for job in Job.objects.filter(pk__in=newest_pks)}
    facts = facts_of(sites, user)
    return [
        ShownSite(
            site=site,
            facts=facts[site.pk],
            next=next_step(facts[site.pk]),
            at_work=at_work.get(site.pk),
            last=last_ended.get(site.pk),
            n_problems=n_problems(last_ended.get(site.pk)),
        )
        for site in sites
    ]


def n_problems(job: Job | None) -> int:
    """Return how many things a finished job could not take, as its result counts them."""
    result = job.result if job and isinstance(job.result, dict) else {}
    counts = [result.get(word) for word in PROBLEMS]
    return sum(count for count in counts if isinstance(count, int))


def total_figures(visible: SiteQuerySet) -> dict[str, Any]:
    """Return the figures of all sites that a user may see."""
    figures = visible.aggregate(n_sites=Count("pk"), n_pages=Coalesce(Sum("n_pages"), 0))
    return figures | {
        "n_records": Record.objects.there().filter(site__in=visible).count(),
        "n_alerts": Alert.objects.open().filter(site__in=visible).count(),
    }
