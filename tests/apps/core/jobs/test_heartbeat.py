"""What an operator is told of the clock and the workers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from vertex.core.models import Heartbeat, Job
from vertex.core.services.jobs import heartbeat, jobs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
MINUTE = timedelta(minutes=1)


def all_alive() -> None:
    for name in (heartbeat.CLOCK, *Job.Queue.values):
        heartbeat.record_heartbeat(name)


def test_all_is_well_when_the_clock_and_every_queue_showed_life() -> None:
    all_alive()

    seen = heartbeat.read_machine_health()

    assert (seen.problems, seen.n_overdue, set(seen.heartbeat_at)) == ((), 0, set(Job.Queue.values))


def test_a_new_installation_without_workers_says_so() -> None:
    clock, workers = heartbeat.read_machine_health().problems

    assert clock.startswith("The clock stands still (it has never ticked)")
    assert workers.startswith("No worker is running")


def test_a_clock_that_stopped_is_blamed_and_not_the_workers() -> None:
    all_alive()
    Heartbeat.objects.update(at=timezone.now() - 3 * MINUTE)
    (problem,) = heartbeat.read_machine_health().problems

    assert problem.startswith("The clock stands still (last tick 3")


def test_a_queue_without_a_worker_is_named() -> None:
    all_alive()
    Heartbeat.objects.filter(name="fetch").update(at=timezone.now() - 3 * MINUTE)

    assert heartbeat.read_machine_health().problems == (
        "No worker serves the queue fetch: its jobs wait until one is started.",
    )


def test_a_worker_that_is_busy_with_a_long_job_counts_as_alive() -> None:
    all_alive()
    Heartbeat.objects.filter(name="fetch").update(at=timezone.now() - 3 * MINUTE)
    job = jobs.create_job(task="tests.nothing", queue=Job.Queue.FETCH, title="Crawl", rings=False)
    jobs.claim_job(job.pk)

    assert heartbeat.read_machine_health().problems == ()


def test_jobs_that_nobody_works_on_are_overdue() -> None:
    long_ago = timezone.now() - 5 * MINUTE
    jobs.create_job(task="t", queue=Job.Queue.KEEP, title="Waits", due_at=long_ago, rings=False)
    jobs.create_job(task="t", queue=Job.Queue.KEEP, title="Just came", rings=False)
    left = jobs.create_job(task="t", queue=Job.Queue.KEEP, title="Left", rings=False)
    jobs.claim_job(left.pk)
    Job.objects.filter(pk=left.pk).update(leased_until=long_ago)

    assert heartbeat.read_machine_health().n_overdue == 2


def test_showing_life_again_moves_the_time() -> None:
    first = timezone.now() - MINUTE
    heartbeat.record_heartbeat("fetch", now=first)
    heartbeat.record_heartbeat("fetch")

    assert Heartbeat.objects.get(name="fetch").at > first
