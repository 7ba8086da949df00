"""Look again at what a check left undecided: when, and whether the same pages fail."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from monitoring.algorithms.verdicts import UNDECIDED
from monitoring.models import Check, Schedule
from monitoring.services.checks.thresholds import page_test_of
from vertex.core.models import Site

# A design on trial, or a visitor's language, may be another by then.
LOOK_AGAIN_AFTER = timedelta(hours=2)


def plan_again(*, site: Site, now: datetime) -> datetime | None:
    """Move a site's next check nearer; return its time, or None if no schedule of it runs."""
    at = now + LOOK_AGAIN_AFTER
    running = Schedule.objects.running().filter(site=site)
    running.filter(Q(next_at=None) | Q(next_at__gt=at)).update(next_at=at)
    schedule = running.first()
    return schedule.next_at if schedule else None


def failed_when_undecided(site: Site) -> dict[str, frozenset[str]]:
    """Return the pages that failed or were others at the last check, of clusters left undecided.

    An archive is no second look: what it holds was seen before.
    """
    check = Check.objects.latest_of(site)
    if check is None or check.source:
        return {}
    undecided = [
        verdict["cluster"] for verdict in check.clusters if verdict.get("state") == UNDECIDED
    ]
    failed: dict[str, set[str]] = {name: set() for name in undecided}
    pages = check.pages.filter(cluster__name__in=undecided).select_related("cluster", "page")
    for page in pages:
        test = page_test_of(page)
        if test.fails() or test.shows_other_content:
            failed[page.cluster.name].add(page.page.url)
    return {name: frozenset(urls) for name, urls in failed.items()}
