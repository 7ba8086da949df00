"""How long the findings of checks are kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from monitoring.models import CheckedPage, FetchedPage, Notice, Proposal, SavedPlan, SiteChange

PAGE_RETENTION = timedelta(days=180)  # of checks that found no change; the checks themselves stay
SNAPSHOT_RETENTION = timedelta(days=90)  # of changed pages, after the change is over
NOTICE_RETENTION = timedelta(days=365)
FETCHED_RETENTION = timedelta(days=2)  # of a repair whose proposals are decided on; its plans, too
ROWS_PER_DELETE = 5_000


def delete_old_findings(now: datetime | None = None) -> int:
    """Delete what nobody reads any more, and return how many checked pages.

    1. The snapshots of checked pages, but for sites with an open change.
    2. The checked pages of checks that found no change.
    3. What repairs fetched and planned, but for proposals that wait.
    4. Notices that are finished.

    Checks, site changes, alerts and accepted proposals stay: the history is made of them.
    """
    now = now or timezone.now()

    open_sites = SiteChange.objects.open().values("site")
    old = CheckedPage.objects.filter(
        check_run__made_at__lt=now - SNAPSHOT_RETENTION, snapshot__isnull=False
    )
    old.exclude(check_run__site__in=open_sites).update(snapshot=None)

    pages = CheckedPage.objects.filter(
        check_run__made_at__lt=now - PAGE_RETENTION, check_run__site_changed=False
    )
    n_deleted = 0
    while batch := list(pages.values_list("pk", flat=True)[:ROWS_PER_DELETE]):
        n_deleted += CheckedPage.objects.filter(pk__in=batch).delete()[0]

    waiting = Proposal.objects.waiting().filter(job__isnull=False).values("job")
    decided = FetchedPage.objects.filter(check_run=None, fetched_at__lt=now - FETCHED_RETENTION)
    decided.exclude(job__in=waiting).delete()
    plans = SavedPlan.objects.exclude(proposal__state=Proposal.State.WAITING)
    plans.filter(made_at__lt=now - FETCHED_RETENTION).delete()

    Notice.objects.filter(finished_at__lt=now - NOTICE_RETENTION).delete()
    return n_deleted
