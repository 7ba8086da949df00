"""Jobs that nobody works on are rung for again, not too often, or ended if they cannot go on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clustering.dom.addresses import url_hash
from clustering.models import Page
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs, sweeping
from vertex.core.services.jobs.processes import this_process

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Listen to the rings instead of a broker."""
    heard: list[int] = []

    def ring(job: Job) -> bool:
        heard.append(job.pk)
        return True

    monkeypatch.setattr(jobs, "ring", ring)
    return heard


def job_of(**changes: Any) -> Job:
    job = jobs.create_job(task="tests.nothing", queue=Job.Queue.KEEP, title="Import", rings=False)
    Job.objects.filter(pk=job.pk).update(**changes)
    job.refresh_from_db()
    return job


def left_job(**changes: Any) -> Job:
    row = {
        "state": Job.State.RUNNING,
        "lease": "old",
        "leased_by": "elsewhere:1:1:x",
        "leased_until": timezone.now() - SECOND,
        "rung_at": None,
    }
    return job_of(**row | changes)


def test_a_ring_that_nobody_answers_is_repeated_after_the_lease(rung: list[int]) -> None:
    job, now = job_of(), timezone.now()

    assert sweeping.sweep_jobs(now=now) == 0
    assert sweeping.sweep_jobs(now=now + jobs.LEASE + SECOND) == 1
    assert rung == [job.pk]


def test_a_job_whose_time_has_come_is_rung_for_at_once(rung: list[int]) -> None:
    job = job_of(rung_at=None, due_at=timezone.now() + MINUTE)

    assert sweeping.sweep_jobs() == 0
    assert sweeping.sweep_jobs(now=timezone.now() + 2 * MINUTE) == 1
    assert rung == [job.pk]


def test_a_job_whose_worker_is_gone_is_rung_for_at_once(rung: list[int]) -> None:
    job = left_job()

    assert sweeping.sweep_jobs() == 1
    assert rung == [job.pk]


def test_a_job_of_a_living_worker_is_left_alone(rung: list[int]) -> None:
    left_job(leased_by=this_process(), leased_until=timezone.now() + MINUTE)

    assert sweeping.sweep_jobs() == 0


def test_a_job_that_is_killed_right_after_its_ring_is_rung_for_again_at_once(
    rung: list[int],
) -> None:
    job = left_job()
    sweeping.sweep_jobs()
    jobs.claim_job(job.pk)
    Job.objects.update(leased_until=timezone.now() - SECOND)

    assert sweeping.sweep_jobs() == 1
    assert rung == [job.pk, job.pk]


def test_finished_jobs_are_never_rung_for(rung: list[int]) -> None:
    for state in (Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED):
        job_of(state=state, rung_at=None)

    assert sweeping.sweep_jobs(now=timezone.now() + timedelta(days=1)) == 0


def test_hours_without_workers_do_not_fill_the_broker(rung: list[int]) -> None:
    job_of()
    begun = timezone.now()

    for minute in range(2 * 60):
        sweeping.sweep_jobs(now=begun + minute * MINUTE)

    assert 12 <= len(rung) <= 24


def test_of_a_long_queue_only_the_oldest_are_rung_for(
    rung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MAX_RINGS_PER_QUEUE", 3)
    created = [job_of(rung_at=None).pk for _ in range(5)]

    sweeping.sweep_jobs()
    sweeping.sweep_jobs()

    assert rung == created[:3]


def test_a_cancelled_job_whose_worker_is_gone_ends(rung: list[int]) -> None:
    job = left_job(cancel_requested_at=timezone.now())

    sweeping.sweep_jobs()

    job.refresh_from_db()
    assert (job.state, rung) == (Job.State.CANCELLED, [])


def test_a_job_that_lost_too_many_workers_ends(rung: list[int]) -> None:
    job = left_job(n_tries=5)

    sweeping.sweep_jobs()

    job.refresh_from_db()
    assert (job.state, rung) == (Job.State.FAILED, [])


def test_with_the_broker_away_the_sweep_ends_and_rings_at_the_next_tick(
    rung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _second = left_job(), left_job()
    with monkeypatch.context() as away:
        requested: list[int] = []

        def ring_in_vain(job: Job) -> bool:
            requested.append(job.pk)
            return False

        away.setattr(jobs, "ring", ring_in_vain)
        assert sweeping.sweep_jobs() == 0
        assert requested == [first.pk]

    assert sweeping.sweep_jobs() == 2


def test_jobs_that_ended_long_ago_are_dropped() -> None:
    now = timezone.now()
    job_of(state=Job.State.DONE, finished_at=now - sweeping.RETENTION - MINUTE)
    young = job_of(state=Job.State.DONE, finished_at=now - sweeping.RETENTION + MINUTE)
    unfinished = job_of(due_at=now - 2 * sweeping.RETENTION)

    assert sweeping.drop_old_jobs(now=now) == 1
    assert set(Job.objects.all()) == {young, unfinished}


def test_pages_outlive_the_crawl_that_found_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "ROWS_PER_BATCH", 2)
    now = timezone.now()
    crawl = job_of(state=Job.State.DONE, finished_at=now - 2 * sweeping.RETENTION)
    site = Site.objects.create(name="shop", root_url="http://shop.example/")
    for number in range(5):
        url = f"http://shop.example/{number}"
        Page.objects.create(site=site, url=url, url_hash=url_hash(url), given_url=url, crawl=crawl)

    assert sweeping.drop_old_jobs(now=now) == 1
    assert [None] * 5 == list(site.pages.values_list("crawl", flat=True))
