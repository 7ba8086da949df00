"""Pages with records are visited once each time they are due; what visits saw plans the next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from clustering.models import Cluster, Page
from clustering.services.crawl.fetch_service import FetchService
from clustering.services.crawl.revisiting import REVISIT_PAGES, revisit
from monitoring.algorithms.stream.change_rates import RATES, default_shares
from monitoring.models import FreshnessGoal, Revisit, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.stream.chain import go_on
from monitoring.services.stream.goals import choose_goal
from monitoring.services.stream.planning import HASTE, MAX_GONE, plan_goals, start_visits
from rules.models import Record
from rules.services.records.extracting import EXTRACT_RECORDS, extract_records, extraction_request
from rules.services.records.stale_records import mark_stale
from tests.apps.clustering.fake_host import Answer
from tests.apps.monitoring.monitored_shop import N, dearer
from tests.apps.monitoring.shop_on_host import Shop
from vertex.core.models import AuditEntry, Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.both_databases,
    pytest.mark.usefixtures("loopback"),
]
FAR_OFF = timedelta(days=90)  # when each page is due


@pytest.fixture
def shop() -> Iterator[Shop]:
    made = Shop()
    with made.host:
        yield made


@pytest.fixture
def site(shop: Shop) -> Site:
    """Return the shop with its records, ten days after they were extracted."""
    site = shop.open()
    run_job(create_here(extraction_request(site=site)).pk, extract_records)
    turn_back(timedelta(days=10))
    return site


def turn_back(by: timedelta) -> None:
    """Let all that happened be so much longer ago."""
    for page in Page.objects.select_related("latest_snapshot"):
        if page.visited_at:
            Page.objects.filter(pk=page.pk).update(visited_at=page.visited_at - by)
    for row in Revisit.objects.all():
        row.visited_at, row.made_at = row.visited_at - by, row.made_at - by
        row.save()


def fetch() -> Job:
    """Let the process that fetches do the visits that were started."""
    service = FetchService({REVISIT_PAGES.task: revisit})
    with service.engine:
        while Job.objects.unfinished().filter(task=REVISIT_PAGES.task).exists():
            service.go_on()
    return Job.objects.filter(task=REVISIT_PAGES.task).latest("pk")


def extract() -> None:
    """Let a worker do the extraction that the chain started, and nothing else."""
    for job in Job.objects.unfinished().filter(task=EXTRACT_RECORDS.task):
        assert Job.State.DONE == run_job(job.pk, extract_records).state


def visit_all() -> None:
    """Visit all pages as if they were due, extract what came, and count what was seen."""
    assert 1 == start_visits(timezone.now() + FAR_OFF)
    fetch()
    go_on()
    extract()
    Revisit.objects.exclude(asked_at=None).update(asked_at=timezone.now())
    FreshnessGoal.objects.update(planned_at=None)
    plan_goals()


def figures(**wanted: Any) -> dict[str, Any]:
    return dict(FreshnessGoal.objects.values(*wanted).get())


def test_each_cluster_with_a_rule_gets_a_goal_and_its_pages_a_time(site: Site) -> None:
    plan_goals()
    goal = FreshnessGoal.objects.get()
    revisits = Revisit.objects.filter(is_listing=False)

    assert (24, None, N) == (goal.goal_hours, goal.requests_per_day, goal.n_pages)
    assert N == revisits.exclude(next_at=None).count()
    assert len(set(revisits.values_list("next_at", flat=True))) > N / 2  # they do not come at once
    assert 0 < goal.expected_requests <= N
    assert 0 == plan_goals()  # planned just now


def test_a_visit_brings_what_changed_into_the_records_and_the_feed(site: Site, shop: Shop) -> None:
    plan_goals()
    last_change = Record.objects.order_by("-change_number")[0].change_number
    shop.make = dearer
    visit_all()

    assert sorted(f"/p/{n}" for n in range(1, N + 1)) == sorted(set(shop.asked()))
    changed = Record.objects.changed_since(last_change)
    assert N == changed.count()
    assert "1.99" in str(changed.get(page__url__endswith="/p/1").values["price"])
    rows = Revisit.objects.filter(is_listing=False)
    assert {(1, 1)} == set(rows.values_list("n_visits", "n_changed"))
    assert not rows.filter(next_at=None).exists()


def test_still_pages_are_visited_less_and_less(site: Site) -> None:
    plan_goals()
    waits = []
    for _ in range(3):
        visit_all()
        row = Revisit.objects.filter(is_listing=False).order_by("page")[0]
        assert row.next_at is not None
        waits.append(row.next_at - row.visited_at)
        turn_back(timedelta(days=10))

    assert waits[0] < waits[1] <= waits[2]
    assert {0} == set(Revisit.objects.filter(is_listing=False).values_list("n_changed", flat=True))
    goal = FreshnessGoal.objects.get()
    assert goal.n_saved > goal.n_requests


def test_a_new_cluster_is_taken_to_change_like_the_others_of_its_site(site: Site) -> None:
    hardly_any = [0.9, 0.1, *[0.0] * (len(RATES) - 2)]
    of_site = Cluster.objects.create(site=site, name="still", title="Still")
    of_others = Cluster.objects.create(site=Site.objects.create(name="other"), name="a", title="A")
    elsewhere = FreshnessGoal.objects.create(cluster=of_others, shares=hardly_any, n_requests=1000)
    plan_goals()
    goal = FreshnessGoal.objects.get(n_pages=N)

    assert goal.shares == pytest.approx(default_shares().tolist(), abs=1e-6)
    Revisit.objects.all().delete()
    elsewhere.delete()
    FreshnessGoal.objects.create(cluster=of_site, shares=hardly_any, n_requests=1000)
    FreshnessGoal.objects.update(planned_at=None)
    requests_of_unknown = goal.expected_requests
    plan_goals()
    goal.refresh_from_db()

    assert goal.shares == pytest.approx(hardly_any, abs=0.02)
    assert goal.expected_requests < requests_of_unknown


def test_what_is_due_is_started_once(site: Site) -> None:
    plan_goals()
    first = Revisit.objects.order_by("next_at")[0].next_at
    assert first is not None

    assert 0 == start_visits(first - timedelta(seconds=1))
    assert 1 == start_visits(first)
    assert 0 == start_visits(first + FAR_OFF)  # the job is under way
    assert 1 == Job.objects.filter(task=REVISIT_PAGES.task).count()
    assert Revisit.objects.filter(next_at=None).exclude(asked_at=None).exists()


def test_a_budget_is_kept(site: Site) -> None:
    plan_goals()
    goal = FreshnessGoal.objects.get()
    choose_goal(cluster=goal.cluster, goal_hours=24, requests_per_day=3)
    plan_goals()
    assert 1 == start_visits(timezone.now() + FAR_OFF)

    assert 3 == Page.objects.filter(state=Page.State.DUE).count()
    fetch()
    assert 0 == start_visits(timezone.now() + FAR_OFF)


def test_stale_pages_are_asked_for_as_soon_as_their_site_change_is_over(site: Site) -> None:
    plan_goals()
    cluster = FreshnessGoal.objects.get().cluster
    now = timezone.now()
    change = SiteChange.objects.create(site=site, cluster=cluster, found_at=now - timedelta(days=1))
    mark_stale(cluster=cluster, since=change.found_at)
    Revisit.objects.update(next_at=now + FAR_OFF)

    assert 0 == start_visits(now)  # no rule reads them yet
    end_change(cluster=cluster, end=SiteChange.End.REPAIRED)
    mark_stale(cluster=cluster, since=change.found_at)
    assert 1 == start_visits(now)
    assert N == Revisit.objects.exclude(asked_at=None).count()

    fetch()
    Revisit.objects.update(visited_at=timezone.now(), asked_at=None, next_at=now + FAR_OFF)
    assert 0 == start_visits(now)  # another visit would bring the same


def test_stale_pages_are_asked_for_within_the_budget(site: Site) -> None:
    plan_goals()
    cluster = FreshnessGoal.objects.get().cluster
    choose_goal(cluster=cluster, goal_hours=24, requests_per_day=3)
    now = timezone.now()
    SiteChange.objects.create(site=site, cluster=cluster, ended_at=now, end="repaired")
    mark_stale(cluster=cluster, since=now - timedelta(days=1))
    Revisit.objects.update(next_at=now + FAR_OFF)

    assert 1 == start_visits(now)
    assert 3 == Revisit.objects.exclude(asked_at=None).count()
    fetch()
    assert 0 == start_visits(now)


def test_stale_pages_that_are_not_planned_yet_are_planned_at_once(site: Site) -> None:
    """Their records came after their goal was planned, which it is once an hour."""
    plan_goals()
    cluster = FreshnessGoal.objects.get().cluster
    Revisit.objects.all().delete()
    now = timezone.now()
    SiteChange.objects.create(site=site, cluster=cluster, ended_at=now, end="repaired")
    mark_stale(cluster=cluster, since=now - timedelta(days=1))

    assert 0 == start_visits(now)
    assert 1 == plan_goals(now)
    assert 1 == start_visits(now)
    assert N == Revisit.objects.exclude(asked_at=None).count()
    assert 0 == plan_goals(now), "it is planned"


def test_stale_pages_that_no_visit_reaches_wait_as_others_do(site: Site) -> None:
    plan_goals()
    cluster = FreshnessGoal.objects.get().cluster
    now = timezone.now()
    SiteChange.objects.create(site=site, cluster=cluster, ended_at=now, end="repaired")
    mark_stale(cluster=cluster, since=now - timedelta(days=1))
    Revisit.objects.update(next_at=now + HASTE + FAR_OFF)

    assert 0 == start_visits(now + HASTE)
    assert 1 == start_visits(now + HASTE - timedelta(minutes=1))


def test_a_goal_is_checked_and_audited(site: Site) -> None:
    plan_goals()
    cluster = FreshnessGoal.objects.get().cluster
    for hours, budget in ((0, None), (24, 0)):
        with pytest.raises(ValidationError):
            choose_goal(cluster=cluster, goal_hours=hours, requests_per_day=budget)
    choose_goal(cluster=cluster, goal_hours=6)

    entry = AuditEntry.objects.get(action="freshness_goal.changed")
    assert {"goal_hours": [24, 6]} == entry.detail
    assert not Revisit.objects.exclude(next_at=None).exists()
    plan_goals()
    assert Revisit.objects.exclude(next_at=None).count() >= N


def test_a_site_that_does_not_answer_is_tried_again_sooner(site: Site, shop: Shop) -> None:
    plan_goals()
    shop.make, shop.status = None, 500
    Job.objects.all().delete()
    assert 1 == start_visits(timezone.now() + FAR_OFF)
    job = Job.objects.get(task=REVISIT_PAGES.task)
    Job.objects.filter(pk=job.pk).update(state=Job.State.CANCELLED)  # nothing was visited
    FreshnessGoal.objects.update(planned_at=None)
    now = timezone.now()
    plan_goals(now)

    assert {(0, now + timedelta(hours=6))} == set(
        Revisit.objects.filter(is_listing=False).values_list("n_visits", "next_at")
    )


def test_records_of_pages_that_are_gone_are_retired_after_some_visits(
    site: Site, shop: Shop
) -> None:
    plan_goals()
    shop.make = lambda _n: ("", b"", "")
    for path in list(shop.routes):
        shop.routes[path] = Answer(status=410)
    for number in range(MAX_GONE):
        assert N == Record.objects.there().count(), number
        visit_all()
        turn_back(timedelta(days=10))

    assert 0 == Record.objects.there().count()
    FreshnessGoal.objects.update(planned_at=None)
    plan_goals()
    assert 0 == Revisit.objects.filter(is_listing=False).count()
