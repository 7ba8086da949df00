"""Plan when pages with records are visited again, and start the visits that are due.

A tick of the clock counts what visits saw and plans the next ones (`plan_goals`), another one
starts what is due (`start_visits`): one job a site, in the one loop that fetches. What it brings is
extracted as the chain says (`chain`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from django.db import transaction
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from clustering.services.crawl.revisiting import LinksToFollow, revisit_key, start_revisit
from monitoring.algorithms.stream.change_rates import (
    PAGES_OF_PRIOR,
    RATES,
    FloatArray,
    Looks,
    default_shares,
    page_shares,
)
from monitoring.algorithms.stream.revisits import RevisitPlan, hours_to_next_visit, plan_revisits
from monitoring.models import FreshnessGoal, Revisit, SiteChange
from monitoring.services.stream.following import links_leading_to, listing_pages
from monitoring.services.stream.goals import make_default_goals
from monitoring.services.stream.visit_counts import (
    count_visits,
    new_revisit,
    pages_now,
    pages_with_records,
)
from rules.models import Record
from rules.services.records.storing import retire_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobExists

GOALS_PER_TICK: Final = 200
SITES_PER_TICK: Final = 200
PLAN_EVERY: Final = timedelta(hours=1)
SHORT_GOAL_HOURS: Final = 12  # up to which goals are planned more often
PLAN_SHORT_EVERY: Final = timedelta(minutes=5)
PUT_OFF: Final = timedelta(hours=1)  # what no budget is left for
HASTE: Final = timedelta(days=1)  # after a site change, for pages whose records are from before it
AHEAD: Final = timedelta(minutes=30)  # what is due so soon is visited with what is due now
MAX_SLACK_HOURS: Final = 1.0  # of a goal, for fetching and extracting
SLACK_SHARE: Final = 0.1
MAX_PAGES_PLANNED_BY: Final = 20_000  # of a cluster, for its plan
MAX_GONE: Final = 3  # visits in a row that find no page, after which its records are gone
SOONEST_FIRST_SHARE: Final = 0.75  # of an interval, so that the first visits to a cluster spread
GOLDEN_RATIO: Final = 0.6180339887
COUNTED_FIELDS: Final = (
    "n_visits",
    "n_changed",
    "hours_changed",
    "hours_unchanged",
    "n_gone",
    "visited_at",
    "snapshot_seen",
    "change_number",
    "next_at",
    "asked_at",
)


def plan_goals(now: datetime | None = None) -> int:
    """Count what visits saw and plan the next ones, for goals that were not planned lately."""
    now = now or timezone.now()
    make_default_goals()
    is_late = Q(planned_at=None) | Q(planned_at__lte=now - PLAN_EVERY)
    is_late |= Q(goal_hours__lte=SHORT_GOAL_HOURS, planned_at__lte=now - PLAN_SHORT_EVERY)
    goals = FreshnessGoal.objects.in_force().filter(is_late).order_by("planned_at", "pk")
    pks = list(goals.values_list("pk", flat=True)[:GOALS_PER_TICK])
    for pk in pks:
        plan_goal(pk, now)
    return len(pks)


def plan_goal(pk: int, now: datetime) -> None:
    """Count what visits to the pages of a cluster saw, and plan their next ones."""
    with transaction.atomic():
        goal = (
            FreshnessGoal.objects.select_for_update(of=("self",))
            .select_related("cluster__site")
            .get(pk=pk)
        )
        pages = pages_with_records(goal)
        known = {row.page_id: row for row in Revisit.objects.filter(goal=goal)}
        listings = _listings(goal, known)
        pages |= pages_now([*listings, *(pk for pk, row in known.items() if row.is_listing)])
        _drop(goal, known, pages)
        elsewhere = set(
            Revisit.objects.filter(page__in=pages.keys() - known).values_list("page", flat=True)
        )
        for page, page_now in pages.items():
            if page not in known and page not in elsewhere:
                known[page] = new_revisit(goal, page, page_now, now)
                known[page].is_listing = page in listings
        for row in known.values():
            row.goal = goal
        is_under_way = Job.objects.unfinished().filter(key=revisit_key(goal.cluster.site)).exists()
        to_plan = count_visits(known, pages, now, is_under_way=is_under_way)
        _retire(to_plan, now)
        _plan(goal, list(known.values()), to_plan, now)
        _save(list(known.values()))
        goal.links = links_leading_to(goal.cluster)
        goal.planned_at = now
        goal.save()


def start_visits(now: datetime | None = None, *, paused: Collection[int] = ()) -> int:
    """Start the visits that are due, one job a site; return how many jobs."""
    now = now or timezone.now()
    _hasten_stale_pages(now)
    busy = Job.objects.unfinished().filter(key__startswith="revisit_pages:")
    due = Revisit.objects.due(now).exclude(site__in=busy.values("site")).exclude(site__in=paused)
    rows = due.order_by().values("site").annotate(first=Min("next_at")).order_by("first")
    pks = [row["site"] for row in rows[:SITES_PER_TICK]]
    sites = Site.objects.in_bulk(pks)
    return sum(_start(sites[pk], now) for pk in pks)


def _hasten_stale_pages(now: datetime) -> None:
    """Make pages due whose records are from before a site change that ended after their last visit.

    What a budget put off is left alone, and so is what was visited since: it would bring the same
    again. After a day, what no visit reached waits as other pages do. Where pages are not planned
    yet, their goal is planned by the next tick.
    """
    stale = Record.objects.there().filter(stale_since__isnull=False)
    unplanned = stale.exclude(page__in=Revisit.objects.values("page"))
    FreshnessGoal.objects.filter(cluster__in=unplanned.values("cluster")).update(planned_at=None)
    changes = SiteChange.objects.filter(site=OuterRef("site"))
    ended = changes.filter(ended_at__gt=OuterRef("visited_at")).filter(ended_at__gt=now - HASTE)
    still_open = SiteChange.objects.open().filter(cluster=OuterRef("goal__cluster"))
    waiting = Revisit.objects.filter(page__in=stale.values("page"), next_at__gt=now + PUT_OFF)
    waiting.filter(Exists(ended), ~Exists(still_open)).update(next_at=now)


def _start(site: Site, now: datetime) -> bool:
    """Start the visits of a site; return False where another clock was faster."""
    due = Revisit.objects.due(now + AHEAD).filter(
        site=site, goal__in=FreshnessGoal.objects.in_force()
    )
    wanted = _within_budgets(due.select_related("goal").order_by("next_at", "pk"), now)
    if not wanted:
        return False
    links = LinksToFollow(
        sorted({each for row in wanted for each in row.goal.links.get("patterns", ())}),
        sorted({each for row in wanted for each in row.goal.links.get("paths", ())}),
    )
    pks = [row.pk for row in wanted]
    try:
        with transaction.atomic():
            start_revisit(site=site, pages=[row.page_id for row in wanted], links=links)
            Revisit.objects.filter(pk__in=pks).update(asked_at=now, next_at=None)
    except JobExists:
        return False
    return True


def _within_budgets(due: QuerySet[Revisit], now: datetime) -> list[Revisit]:
    """Return what is due as far as the budgets of a day allow; the rest is put off."""
    day_ago = now - timedelta(days=1)
    n_left_by_goal: dict[int, int] = {}
    wanted, put_off = [], []
    for row in due:
        if row.goal.requests_per_day is not None and row.goal_id not in n_left_by_goal:
            of_goal = Revisit.objects.filter(goal=row.goal_id)
            recent = of_goal.filter(
                Q(asked_at__gt=day_ago) | Q(visited_at__gt=day_ago, n_visits__gt=0)
            )
            n_left_by_goal[row.goal_id] = row.goal.requests_per_day - recent.count()
        if n_left_by_goal.get(row.goal_id, 1) <= 0:
            put_off.append(row.pk)
            continue
        if row.goal_id in n_left_by_goal:
            n_left_by_goal[row.goal_id] -= 1
        wanted.append(row)
    Revisit.objects.filter(pk__in=put_off).update(next_at=now + PUT_OFF)
    return wanted


def _listings(goal: FreshnessGoal, known: dict[int, Revisit]) -> set[int]:
    """Return the pages that lead to the cluster's and that no goal has yet."""
    wanted = set(listing_pages(goal.cluster)) - known.keys()
    return wanted - set(Revisit.objects.filter(page__in=wanted).values_list("page", flat=True))


def _drop(goal: FreshnessGoal, known: dict[int, Revisit], pages: Collection[int]) -> None:
    """Drop the rows of pages that have no records any more, but those that are being visited."""
    over = [pk for pk, row in known.items() if pk not in pages and row.asked_at is None]
    Revisit.objects.filter(goal=goal, page__in=over).delete()
    for pk in over:
        del known[pk]


def _retire(rows: Sequence[Revisit], now: datetime) -> None:
    """Mark the records of pages as gone that visit after visit did not find."""
    gone = [row.page_id for row in rows if row.n_gone >= MAX_GONE and not row.is_listing]
    if gone:
        retire_pages(gone, now=now)


def _plan(
    goal: FreshnessGoal, rows: Sequence[Revisit], to_plan: Sequence[Revisit], now: datetime
) -> None:
    """Set when pages are visited next, and what the cluster's visits come to."""
    records = [row for row in rows if not row.is_listing]
    n_listings = len(rows) - len(records)
    hours = goal.goal_hours - min(MAX_SLACK_HOURS, SLACK_SHARE * goal.goal_hours)
    plan = _plan_of(goal, records, hours, n_listings)
    waits = hours_to_next_visit(_looks_of(to_plan), plan, hours)
    for row, wait in zip(to_plan, waits, strict=True):
        row.next_at = row.visited_at + timedelta(hours=_wait_of(row, float(wait), hours))
    listing_requests = n_listings * 24 / hours
    goal.n_pages = len(records)
    goal.shares = [round(share, 6) for share in plan.shares.tolist()]
    goal.price = plan.price
    goal.expected_requests = plan.requests_per_day + listing_requests
    goal.reached_share = 1 - _late_share(goal, records, plan, now)
    goal.n_requests = sum(row.n_visits for row in rows)
    of_all = sum((now - row.made_at) / timedelta(hours=goal.goal_hours) for row in records)
    goal.n_saved = max(0, int(of_all) - goal.n_requests)


def _wait_of(row: Revisit, wait: float, hours: float) -> float:
    """Return how long a page waits: a listing one goal, a page never visited part of its wait."""
    if row.is_listing:
        return hours
    if row.n_visits:
        return wait
    return wait * (1 - (1 - SOONEST_FIRST_SHARE) * (row.page_id * GOLDEN_RATIO % 1))


def _plan_of(
    goal: FreshnessGoal, records: Sequence[Revisit], hours: float, n_listings: int
) -> RevisitPlan:
    """Return the plan of a cluster, made by its first pages where it has very many."""
    planned_by = records[:MAX_PAGES_PLANNED_BY]
    budget = None
    if goal.requests_per_day is not None:
        left = max(1.0, goal.requests_per_day - n_listings * 24 / hours)
        budget = left * len(planned_by) / max(len(records), 1)
    plan = plan_revisits(
        _looks_of(planned_by),
        goal_hours=hours,
        requests_per_day=budget,
        prior=_shares_of_other_clusters(goal),
    )
    requests_per_day = plan.requests_per_day * len(records) / max(len(planned_by), 1)
    return RevisitPlan(plan.shares, plan.price, requests_per_day, plan.late_share)


def _shares_of_other_clusters(goal: FreshnessGoal) -> FloatArray:
    """Return the shares of pages by rate in the site's other clusters, mixed with usual ones."""
    others = FreshnessGoal.objects.filter(cluster__site=goal.cluster.site_id).exclude(pk=goal.pk)
    rows = [
        (shares, n_requests)
        for shares, n_requests in others.values_list("shares", "n_requests")
        if len(shares) == len(RATES)
    ]
    all_shares = np.array([default_shares(), *(shares for shares, _ in rows)])
    weights = [PAGES_OF_PRIOR, *(n_requests for _, n_requests in rows)]
    shares: FloatArray = np.average(all_shares, axis=0, weights=weights)
    return shares


def _looks_of(rows: Sequence[Revisit]) -> Looks:
    return Looks(
        np.array([row.n_changed for row in rows], dtype=float),
        np.array([row.hours_changed for row in rows], dtype=float),
        np.array([row.hours_unchanged for row in rows], dtype=float),
    )


def _late_share(
    goal: FreshnessGoal, records: Sequence[Revisit], plan: RevisitPlan, now: datetime
) -> float:
    """Return the share of pages whose records are late: expected, or known to be stale."""
    if not records:
        return 0.0
    ages: FloatArray = np.array([(now - row.visited_at) / timedelta(hours=1) for row in records])
    over = np.maximum(ages - goal.goal_hours, 0.0)
    late_by_rate = -np.expm1(-RATES * over[:, None])
    is_late = (page_shares(_looks_of(records), plan.shares) * late_by_rate).sum(axis=1)
    stale = Record.objects.there().filter(cluster=goal.cluster_id)
    stale = stale.filter(stale_since__lte=now - timedelta(hours=goal.goal_hours))
    known = set(stale.values_list("page", flat=True))
    is_late[[row.page_id in known for row in records]] = 1.0
    return float(is_late.mean())


def _save(rows: Sequence[Revisit]) -> None:
    Revisit.objects.bulk_create([row for row in rows if row.pk is None], ignore_conflicts=True)
    Revisit.objects.bulk_update([row for row in rows if row.pk], COUNTED_FIELDS, batch_size=500)
