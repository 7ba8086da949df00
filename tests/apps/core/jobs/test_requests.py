"""A request becomes one job with an audit entry; a job run here also takes over what was left."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.apps.core.jobs.test_jobs import gone_process, job_of
from vertex.core.models import AuditEntry, Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists, JobFailed, JobNotClaimed, JobRun, run_job
from vertex.core.services.jobs.requests import (
    JobKind,
    JobRequest,
    create_here,
    enqueue,
    run_here,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def count_pages(run: JobRun) -> dict[str, Any]:
    for page in range(run.job.params["pages"]):
        run.report(page)
    return {"pages": run.job.params["pages"]}


def fail(run: JobRun) -> dict[str, Any]:
    raise JobFailed(f"{run.job.title}: nothing there")


def break_down(_run: JobRun) -> dict[str, Any]:
    raise RuntimeError("the disk fell out")


COUNT = JobKind("tests.count_pages", Job.Queue.KEEP, count_pages, "pages.counted")


def count_request(*, pages: int = 2, kind: JobKind = COUNT, site: Site | None = None) -> JobRequest:
    params = {"pages": pages}
    return JobRequest(
        kind=kind, title="Count pages", key="count", site=site, params=params, detail=params
    )


def leave(job: Job) -> None:
    """Make the job one that a process was doing when it was killed."""
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.RUNNING,
        lease="old",
        leased_by=gone_process(),
        leased_until=timezone.now() + timedelta(minutes=1),
    )


@pytest.fixture
def ada() -> User:
    ada: User = User.objects.create(username="ada")
    return ada


@pytest.fixture
def shop() -> Site:
    return Site.objects.create(name="shop", root_url="https://shop.example/")


class TestCreating:
    def test_the_job_has_what_its_kind_and_the_request_say(self, ada: User, shop: Site) -> None:
        job = enqueue(count_request(site=shop), actor=ada)

        assert (job.task, job.queue, job.title) == ("tests.count_pages", "keep", "Count pages")
        assert (job.site, job.params, job.key, job.created_by) == (shop, {"pages": 2}, "count", ada)

    def test_the_audit_trail_says_who_asked_for_what(self, ada: User, shop: Site) -> None:
        enqueue(count_request(site=shop), actor=ada)

        entry = AuditEntry.objects.get()
        assert (entry.action, entry.subject, entry.actor) == ("pages.counted", "shop", ada)
        assert (entry.site, entry.detail) == (shop, {"pages": 2})

    def test_what_the_machine_asks_by_itself_is_not_in_the_audit_trail(self) -> None:
        enqueue(replace(count_request(), is_audited=False))
        enqueue(replace(count_request(kind=replace(COUNT, action="")), key="other"))

        assert (Job.objects.count(), AuditEntry.objects.count()) == (2, 0)

    def test_a_second_one_of_the_key_leaves_no_audit_entry(self) -> None:
        enqueue(count_request())
        with pytest.raises(JobExists):
            enqueue(count_request())

        assert (Job.objects.count(), AuditEntry.objects.count()) == (1, 1)

    def test_it_may_be_due_later(self) -> None:
        job = enqueue(count_request(), due_at=timezone.now() + timedelta(minutes=5))

        assert job.is_postponed


class TestHere:
    def test_it_is_done_and_reports_its_lines(self) -> None:
        lines: list[int] = []

        job = run_here(count_request(), report=lines.append)

        assert (job.state, job.result, lines) == (Job.State.DONE, {"pages": 2}, [0, 1])

    def test_nobody_need_listen(self) -> None:
        assert run_here(count_request()).result == {"pages": 2}

    def test_a_failure_is_raised_with_the_error_of_the_job(self) -> None:
        with pytest.raises(JobFailed, match="Count pages: nothing there"):
            run_here(count_request(kind=replace(COUNT, work=fail)))

    def test_no_worker_tries_again_what_broke_down_here(self) -> None:
        with pytest.raises(JobFailed, match="the disk fell out"):
            run_here(count_request(kind=replace(COUNT, work=break_down)))

        assert Job.objects.get().state == Job.State.CANCELLED

    def test_a_job_whose_work_needs_one_that_broke_down_is_tried_again(self) -> None:
        def need_another(_run: JobRun) -> None:
            run_here(count_request(kind=replace(COUNT, work=break_down)))

        outer = run_job(job_of().pk, need_another)

        assert Job.State.DUE == outer.state
        assert "the disk fell out" in outer.error

    def test_a_site_that_is_gone_is_told(self, shop: Site) -> None:
        def read_site(run: JobRun) -> dict[str, Any]:
            return {"site": run.site.name}

        kind = replace(COUNT, work=read_site)
        assert run_here(count_request(kind=kind, site=shop)).result == {"site": "shop"}
        with pytest.raises(JobFailed, match="the site was deleted meanwhile"):
            run_here(count_request(kind=kind))


class TestReserving:
    def test_no_other_process_takes_a_job_before_it_begins_here(self) -> None:
        job = create_here(count_request())

        assert not Job.objects.due(timezone.now()).exists()
        jobs.claim_job(job.pk)

    @pytest.mark.parametrize("is_gone", [False, True], ids=["alive", "gone"])
    def test_one_that_another_process_reserved_is_taken_once_that_is_gone(
        self, *, is_gone: bool
    ) -> None:
        job = create_here(count_request())
        owner = gone_process() if is_gone else "another-machine:7:7:boot"
        Job.objects.filter(pk=job.pk).update(leased_by=owner)

        with nullcontext() if is_gone else pytest.raises(JobNotClaimed):
            jobs.claim_job(job.pk)


class TestTakingOver:
    @pytest.mark.parametrize("is_left", [False, True], ids=["waiting", "killed"])
    def test_an_unfinished_job_that_asks_for_the_same_is_continued(self, *, is_left: bool) -> None:
        waiting = create_here(count_request())
        if is_left:
            leave(waiting)

        assert (run_here(count_request()), Job.objects.count()) == (waiting, 1)

    def test_a_killed_one_that_asked_for_something_else_is_cancelled(self) -> None:
        left = create_here(count_request(pages=7))
        leave(left)

        job = run_here(count_request(pages=2))

        left.refresh_from_db()
        assert (left.state, job.result) == (Job.State.CANCELLED, {"pages": 2})

    def test_a_waiting_one_that_asks_for_something_else_stays(self) -> None:
        create_here(count_request(pages=7))

        with pytest.raises(JobExists):
            run_here(count_request(pages=2))
        assert Job.objects.get().state == Job.State.DUE

    def test_one_that_another_process_does_is_left_to_it(self) -> None:
        run = jobs.claim_job(create_here(count_request()).pk)

        with pytest.raises(JobNotClaimed):
            run_here(count_request())
        assert run.held.exists()


class TestStartingOver:
    KIND = replace(COUNT, starts_over=True)

    def test_a_killed_one_that_noted_more_while_it_ran_is_continued(self) -> None:
        left = create_here(count_request())
        leave(left)
        Job.objects.filter(pk=left.pk).update(params=left.params | {"state": "half read"})

        assert (run_here(count_request()), Job.objects.count()) == (left, 1)

    @pytest.mark.parametrize("is_left", [False, True], ids=["waiting", "killed"])
    def test_work_that_cannot_be_continued_begins_anew(self, *, is_left: bool) -> None:
        old = create_here(count_request(kind=self.KIND))
        if is_left:
            leave(old)

        job = run_here(count_request(kind=self.KIND))

        old.refresh_from_db()
        assert (old.state, job.state, old != job) == (Job.State.CANCELLED, Job.State.DONE, True)

    def test_a_waiting_job_that_goes_on_with_an_earlier_one_stays(self) -> None:
        request = count_request(kind=self.KIND)
        create_here(replace(request, params={"pages": 2, "check": 7}))

        with pytest.raises(JobExists):
            run_here(request)
        assert Job.objects.get().state == Job.State.DUE

    def test_one_that_runs_is_left_alone(self) -> None:
        run = jobs.claim_job(create_here(count_request(kind=self.KIND)).pk)

        with pytest.raises(JobExists):
            run_here(count_request(kind=self.KIND))
        assert run.held.exists()
