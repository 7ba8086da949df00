"""A step of the demo does its jobs here, takes up those that were left, and outlives what fails."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from rich.console import Console

from clustering.services.clusters.clusterings import clustering_request
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here
from vertex.demo import sites
from vertex.demo.tour import Tour, do_job, job_of, shortened

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="shop", root_url="https://shop.example/")


@pytest.fixture
def job(shop: Site) -> Job:
    return create_here(clustering_request(site=shop))


def fail(_run: jobs.JobRun) -> None:
    raise jobs.JobFailed("the shop is closed")


def test_a_job_is_done_in_this_process(job: Job) -> None:
    assert do_job(job, lambda _run: {"clusters": 3}) == ""
    assert (job.state, job.result) == (Job.State.DONE, {"clusters": 3})


def test_a_job_that_a_killed_tour_left_is_taken_up(shop: Site, job: Job) -> None:
    assert job == job_of(partial(clustering_request, site=shop))


def test_a_job_that_waits_for_its_next_try_is_left_alone(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(due_at=timezone.now() + timedelta(minutes=5))

    assert f"job {job.pk} waits for its next try" == do_job(job, fail)


def test_a_job_that_a_worker_holds_is_left_to_it(job: Job) -> None:
    jobs.claim_job(job.pk)

    assert f"job {job.pk} of another process does it" == do_job(job, fail)


def test_a_job_that_fails_says_why(job: Job) -> None:
    with pytest.raises(
        jobs.JobFailed, match=rf"“Cluster shop by auto” \(job {job.pk}\): the shop is closed"
    ):
        do_job(job, fail)


def test_a_site_that_fails_is_told_and_the_next_one_shown(
    shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    Site.objects.create(name="[bold]", root_url="https://bold.example/")
    monkeypatch.setattr(sites, "NAMES", ("shop", "[bold]"))

    def row(site: Site) -> list[str]:
        if site == shop:
            raise ValidationError("the shop is [closed]")
        return ["7", "done"]

    out = StringIO()
    tour = Tour(Console(file=out, width=100))
    tour.show_sites("n pages", "how", row=row)

    assert tour.failures == ["shop: the shop is [closed]"]
    lines = [line.split() for line in out.getvalue().splitlines()[1:]]
    assert lines == [["shop", "failed:", "the", "shop", "is", "[closed]"], ["[bold]", "7", "done"]]


def test_a_long_value_is_cut() -> None:
    assert "short" == shortened("short")
    assert len(shortened("x" * 1_000)) == 60
