"""How long the findings of checks are kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from monitoring.models import CheckedPage, FetchedPage, Notice, Proposal, SiteChange

PAGES_KEPT = timedelta(days=180)  # of checks that found no change; the checks themselves stay
SNAPSHOTS_KEPT = timedelta(days=90)  # of changed pages, after the change is over
NOTICES_KEPT = timedelta(days=365)
AT_ONCE = 5_000


def forget_old_findings(now: datetime | None = None) -> int:
    """Drop the single findings that nobody looks at any more; return how many there were.

    Checks, site changes, alerts and accepted proposals stay: the history is made of them.
    """
    now = now or timezone.now()
    open_sites = SiteChange.objects.open().values("site")
    old = CheckedPage.objects.filter(
        check_run__made_at__lt=now - SNAPSHOTS_KEPT, snapshot__isnull=False
    )
    old.exclude(check_run__site__in=open_sites).update(snapshot=None)
    pages = CheckedPage.objects.filter(
        check_run__made_at__lt=now - PAGES_KEPT, check_run__site_changed=False
    )
    n_dropped = 0
    while batch := list(pages.values_list("pk", flat=True)[:AT_ONCE]):
        n_dropped += CheckedPage.objects.filter(pk__in=batch).delete()[0]
    waiting = Proposal.objects.waiting().filter(job__isnull=False).values("job")
    decided = FetchedPage.objects.filter(check_run=None, fetched_at__lt=now - timedelta(days=2))
    decided.exclude(job__in=waiting).delete()
    Notice.objects.filter(finished_at__lt=now - NOTICES_KEPT).delete()
    return n_dropped
