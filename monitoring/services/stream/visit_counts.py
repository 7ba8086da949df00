"""Count what visits to a cluster's pages saw: once each, when what they brought is extracted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.db.models import Max, Q, QuerySet

from clustering.models import Page
from monitoring.models import FreshnessGoal, Revisit

ERROR: Final = 400  # the first status of an error
EXTRACTION_PATIENCE: Final = timedelta(hours=1)  # with the extraction of what a visit brought
HOUR: Final = timedelta(hours=1)


class PageNow(NamedTuple):
    """A page as it is stored, and what was extracted of it."""

    site: int
    visited_at: datetime | None
    snapshot: int | None
    extracted_snapshot: int | None
    change_number: int  # the last of its records
    is_there: bool


def pages_with_records(goal: FreshnessGoal) -> dict[int, PageNow]:
    """Return the pages of which the cluster has records."""
    there = Q(records__cluster=goal.cluster_id, records__gone_at=None)
    return _pages_now(Page.objects.filter(there).distinct())


def pages_now(pks: list[int]) -> dict[int, PageNow]:
    """Return some pages."""
    return _pages_now(Page.objects.filter(pk__in=pks))


def _pages_now(pages: QuerySet[Page]) -> dict[int, PageNow]:
    rows = pages.order_by("pk").annotate(last_change=Max("records__change_number"))
    columns = (
        "pk",
        "site_id",
        "visited_at",
        "latest_snapshot_id",
        "latest_snapshot__fetched_at",
        "extraction__snapshot_seen",
        "last_change",
        "state",
        "status",
    )
    return {
        pk: PageNow(
            site,
            visited_at or fetched_at,
            snapshot,
            extracted,
            last_change or 0,
            is_there=state in {Page.State.STORED, Page.State.DUE} and (status or 0) < ERROR,
        )
        for pk, site, visited_at, snapshot, fetched_at, extracted, last_change, state, status in (
            rows.values_list(*columns)
        )
    }


def new_revisit(goal: FreshnessGoal, page: int, known: PageNow, now: datetime) -> Revisit:
    """Return the row of a page that the stream has not visited yet."""
    return Revisit(
        goal=goal,
        page_id=page,
        site_id=known.site,
        visited_at=min(known.visited_at or now, now),
        snapshot_seen=known.snapshot,
        change_number=known.change_number,
        made_at=now,
    )


def count_visit(revisit: Revisit, page: PageNow, now: datetime, *, is_under_way: bool) -> bool:
    """Count a page's last visit, if there was one since; return whether its next can be planned.

    Where what it brought waits for extraction, it is counted later; values that are held back are
    other ones, so their visit saw a change. A visit that came to nothing is made again after a
    quarter of the goal.
    """
    if page.visited_at is None or page.visited_at <= revisit.visited_at:
        if revisit.asked_at is None:
            return revisit.next_at is None
        if is_under_way:
            return False
        revisit.asked_at = None
        revisit.next_at = now + timedelta(hours=revisit.goal.goal_hours / 4)
        return False
    has_other_bytes = page.snapshot != revisit.snapshot_seen
    is_extracted = page.extracted_snapshot == page.snapshot or revisit.is_listing
    if has_other_bytes and not is_extracted and now - page.visited_at < EXTRACTION_PATIENCE:
        return False
    has_changed = has_other_bytes and (
        not is_extracted or revisit.is_listing or page.change_number > revisit.change_number
    )
    hours = (page.visited_at - revisit.visited_at) / HOUR
    revisit.n_visits += 1
    if has_changed:
        revisit.n_changed += 1
        revisit.hours_changed += hours
    else:
        revisit.hours_unchanged += hours
    revisit.n_gone = 0 if page.is_there else revisit.n_gone + 1
    revisit.visited_at = page.visited_at
    revisit.snapshot_seen = page.snapshot
    revisit.change_number = page.change_number
    revisit.asked_at = None
    revisit.next_at = None
    return True


def count_visits(
    revisits: Mapping[int, Revisit],
    pages: Mapping[int, PageNow],
    now: datetime,
    *,
    is_under_way: bool,
) -> list[Revisit]:
    """Count the visits of pages; return those whose next visit can be planned."""
    return [
        revisit
        for pk, revisit in revisits.items()
        if pk in pages and count_visit(revisit, pages[pk], now, is_under_way=is_under_way)
    ]
