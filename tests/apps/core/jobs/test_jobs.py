"""A job's row: who holds it, how it ends, and that nobody writes for it who does not hold it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction
from django.utils import timezone

from tests.installation import wait_until
from vertex.core.exceptions import TooBusy
from vertex.core.models import AuditEntry, Job, Membership, Refusal, Role, Site, User
from vertex.core.services.jobs import jobs, processes
from vertex.core.storage import DiskFull, StoreAway

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ends_costs_no_try() -> None:
    def lose_connection(_run: jobs.JobRun) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    job = jobs.run_job(job_of().pk, lose_connection)

    assert Job.State.DUE == job.state
    assert job.error.startswith("Waits: ")
    assert 0 == job.n_tries


def job_of(**changes: Any) -> Job:
    job = jobs.create_job(
        task="tests.nothing", queue=Job.Queue.KEEP, title="Import alpine-shop", rings=False
    )
    Job.objects.filter(pk=job.pk).update(**changes)
    job.refresh_from_db()
    return job


def left_job(**changes: Any) -> Job:
    """Return a running job whose worker, on another machine, was silent longer than its lease."""
    row = {
        "state": Job.State.RUNNING,
        "lease": "old",
        "leased_by": "elsewhere:1:1:x",
        "leased_until": timezone.now() - timedelta(seconds=1),
        "n_tries": 1,
    }
    return job_of(**row | changes)


def gone_process() -> str:
    """Name a process of this machine that has ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        return processes.this_process().replace(str(os.getpid()), str(child.pid))


def add_row(job: Job) -> None:
    Refusal.objects.create(job=job, subject="step", code="step", reason="a result of the job")


def take_a_step(run: jobs.JobRun, seconds: float = 0) -> None:
    with transaction.atomic():
        add_row(run.job)
        threading.Event().wait(seconds)
        run.renew(n_done=1)


class TestClaim:
    def test_a_due_job_is_claimed_once(self) -> None:
        job = job_of()

        run = jobs.claim_job(job.pk)

        assert run.job.state == Job.State.RUNNING
        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job.pk)

    def test_a_job_is_not_claimed_before_its_time(self) -> None:
        job = job_of(due_at=timezone.now() + timedelta(minutes=1))

        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job.pk)
        assert jobs.claim_job(job.pk, now=timezone.now() + timedelta(minutes=2))

    def test_a_job_that_does_not_exist_is_not_claimed(self) -> None:
        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(123456)

    @pytest.mark.parametrize("state", [Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED])
    def test_a_finished_job_is_not_claimed(self, state: Job.State) -> None:
        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job_of(state=state).pk)

    def test_a_job_whose_lease_ran_out_is_taken_over(self) -> None:
        job = left_job(n_done=7)

        run = jobs.claim_job(job.pk)

        assert (run.job.n_tries, run.job.n_done, run.job.n_done_before) == (2, 7, 7)

    def test_a_job_of_a_living_worker_is_not_taken_over(self) -> None:
        job = left_job(
            leased_by=processes.this_process(), leased_until=timezone.now() + timedelta(seconds=30)
        )

        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job.pk)

    def test_a_worker_of_this_machine_that_is_gone_is_noticed_at_once(self) -> None:
        job = left_job(
            leased_by=gone_process(), leased_until=timezone.now() + timedelta(seconds=30)
        )

        assert jobs.claim_job(job.pk)

    def test_a_worker_of_another_machine_is_given_its_lease(self) -> None:
        job = left_job(leased_until=timezone.now() + timedelta(seconds=30))

        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job.pk)


class TestFence:
    def test_what_a_worker_writes_after_it_lost_the_lease_does_not_count(self) -> None:
        job = job_of()
        slow = jobs.claim_job(job.pk)
        Job.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
        jobs.claim_job(job.pk)

        with pytest.raises(jobs.LeaseLost):
            take_a_step(slow)

        assert not Refusal.objects.exists()

    def test_what_a_worker_writes_while_it_holds_the_lease_counts(self) -> None:
        job = job_of()
        run = jobs.claim_job(job.pk)

        take_a_step(run)

        assert Refusal.objects.count() == 1

    def test_a_lease_that_ran_out_but_was_taken_by_nobody_still_holds(self) -> None:
        run = jobs.claim_job(job_of().pk)
        Job.objects.update(leased_until=timezone.now() - timedelta(seconds=1))

        run.renew(n_done=1)

        run.job.refresh_from_db()
        assert run.job.leased_until is not None
        assert run.job.leased_until > timezone.now()

    def test_a_worker_that_lost_the_lease_does_not_end_the_job(self) -> None:
        def lose_the_lease(run: jobs.JobRun) -> None:
            Job.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
            jobs.claim_job(run.job.pk)

        job = jobs.run_job(job_of().pk, lose_the_lease)

        assert job.state == Job.State.RUNNING

    def test_a_job_that_was_deleted_with_its_site_ends_quietly(self) -> None:
        def delete(run: jobs.JobRun) -> None:
            Job.objects.all().delete()
            run.renew(n_done=1)

        jobs.run_job(job_of().pk, delete)

        assert not Job.objects.exists()

    def test_finishing_counts_only_with_the_rows_of_the_same_transaction(self) -> None:
        def finish_and_fail(run: jobs.JobRun) -> None:
            with transaction.atomic():
                add_row(run.job)
                run.finish({"rows": 1})
                raise jobs.JobFailed("after all")

        job = jobs.run_job(job_of().pk, finish_and_fail)

        assert (job.state, Refusal.objects.count()) == (Job.State.FAILED, 0)

    def test_work_that_finished_itself_keeps_its_result(self) -> None:
        def finish(run: jobs.JobRun) -> None:
            with transaction.atomic():
                add_row(run.job)
                run.finish({"rows": 1})

        job = jobs.run_job(job_of().pk, finish)

        assert (job.state, job.result) == (Job.State.DONE, {"rows": 1})

    def test_finishing_after_the_lease_was_lost_is_refused(self) -> None:
        run = jobs.claim_job(job_of().pk)
        Job.objects.update(lease="another")

        with pytest.raises(jobs.LeaseLost):
            run.finish()


class TestEnd:
    def test_work_that_returns_ends_the_job_with_its_result(self) -> None:
        job = jobs.run_job(job_of().pk, lambda _run: {"pages": 3})

        assert (job.state, job.result, job.lease) == (Job.State.DONE, {"pages": 3}, "")
        assert job.finished_at is not None

    def test_work_that_cannot_be_done_fails_at_once(self) -> None:
        def refuse(_run: jobs.JobRun) -> None:
            raise jobs.JobFailed("no such file")

        job = jobs.run_job(job_of().pk, refuse)

        assert (job.state, job.error) == (Job.State.FAILED, "no such file")

    def test_work_that_breaks_waits_longer_and_longer_and_then_fails(self) -> None:
        def breaks(_run: jobs.JobRun) -> None:
            raise ValueError("odd")

        job, waits = job_of(max_tries=4), []
        for _ in range(3):
            now = timezone.now()
            job = jobs.run_job(job.pk, breaks)
            waits.append(round((job.due_at - now).total_seconds()))
            assert (job.state, job.error) == (Job.State.DUE, "ValueError: odd")
            Job.objects.update(due_at=now)
        job = jobs.run_job(job.pk, breaks)

        assert waits == [30, 60, 120]
        assert (job.state, job.n_tries) == (Job.State.FAILED, 4)

    def test_no_wait_is_longer_than_an_hour(self) -> None:
        def breaks(_run: jobs.JobRun) -> None:
            raise ValueError("odd")

        job = jobs.run_job(job_of(max_tries=50, n_tries=40).pk, breaks)

        assert job.due_at - timezone.now() <= jobs.MAX_WAIT

    def test_progress_gives_back_all_tries(self) -> None:
        run = jobs.claim_job(left_job(n_tries=3, n_done=10).pk)

        run.renew(n_done=10)
        run.job.refresh_from_db()
        assert run.job.n_tries == 4
        run.renew(n_done=11)
        run.job.refresh_from_db()
        assert run.job.n_tries == 1

    @pytest.mark.parametrize(
        "full",
        [
            DiskFull(Path("/pages"), 5),
            OSError(errno.ENOSPC, "No space left on device"),
            OSError(errno.EDQUOT, "Quota"),
        ],
    )
    def test_a_full_disk_ends_the_job_and_says_how_much_room_it_needs(
        self, full: Exception
    ) -> None:
        def fill(_run: jobs.JobRun) -> None:
            raise full

        job = jobs.run_job(job_of().pk, fill)

        assert job.state == Job.State.FAILED
        assert "200 MB" in job.error
        assert "retry the job" in job.error

    def test_an_error_is_kept_whatever_its_text(self) -> None:
        def breaks(_run: jobs.JobRun) -> None:
            raise ValueError("zero \0, half \ud800 and " + "long " * 1000)

        job = jobs.run_job(job_of().pk, breaks)

        assert job.error.startswith(
            "ValueError: zero \N{REPLACEMENT CHARACTER}, half \N{REPLACEMENT CHARACTER} and long"
        )
        assert len(job.error) <= 2000

    def test_a_result_that_the_database_refuses_fails_the_job(self) -> None:
        job = jobs.run_job(job_of().pk, lambda _run: {"pages": object()})

        assert job.state == Job.State.DUE
        assert "not JSON serializable" in job.error

    def test_a_worker_that_is_stopped_puts_the_job_back(self) -> None:
        def is_stopped(_run: jobs.JobRun) -> None:
            raise SystemExit

        job = job_of()
        with pytest.raises(SystemExit):
            jobs.run_job(job.pk, is_stopped)

        assert jobs.claim_job(job.pk).job.n_tries == 1

    def test_a_command_stopped_at_the_keyboard_cancels_its_job(self) -> None:
        def is_interrupted(_run: jobs.JobRun) -> None:
            raise KeyboardInterrupt

        job = job_of()
        with pytest.raises(KeyboardInterrupt):
            jobs.run_job(job.pk, is_interrupted)

        job.refresh_from_db()
        assert (job.state, job.error) == (Job.State.CANCELLED, "Stopped at the keyboard.")

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("is_noted", [False, True])
    @pytest.mark.parametrize(
        ("stop", "state"),
        [(KeyboardInterrupt, Job.State.CANCELLED), (SystemExit, Job.State.DUE)],
    )
    def test_a_signal_as_a_transaction_begins_is_stored_all_the_same(
        self, stop: type[BaseException], state: Job.State, *, is_noted: bool
    ) -> None:
        def is_stopped(_run: jobs.JobRun) -> None:
            connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
            connection.in_atomic_block = is_noted
            raise stop

        job = job_of()
        with pytest.raises(stop):
            jobs.run_job(job.pk, is_stopped)
        connection.close()  # what was not committed is gone

        job.refresh_from_db()
        assert job.state == state


@pytest.mark.parametrize("error", [StoreAway("it is away"), TooBusy("many pages are read")])
def test_a_job_waits_for_what_comes_back_and_that_counts_as_no_try(error: Exception) -> None:
    def work(_run: jobs.JobRun) -> None:
        raise error

    job = job_of(max_tries=1)
    with suppress(type(error)):
        jobs.run_job(job.pk, work)
    job.refresh_from_db()

    assert (Job.State.DUE, 0, f"Waits: {error}") == (job.state, job.n_tries, job.error)
    assert job.due_at > timezone.now()


class TestLostWorkers:
    def test_a_job_that_lost_too_many_workers_fails_and_says_so(self) -> None:
        job = left_job(n_tries=5, max_tries=5)

        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job.pk)

        job.refresh_from_db()
        assert job.state == Job.State.FAILED
        assert "5 workers in a row were gone" in job.error
        assert "elsewhere:1:1" in job.error

    def test_one_try_less_and_it_goes_on(self) -> None:
        assert jobs.claim_job(left_job(n_tries=4, max_tries=5).pk)


class TestCreate:
    def test_of_one_key_there_is_one_unfinished_job(self) -> None:
        first = job_of(key="crawl:1")

        with pytest.raises(jobs.JobExists, match="already waiting") as refused:
            jobs.create_job(
                task="tests.nothing", queue=Job.Queue.KEEP, title="Again", key="crawl:1"
            )

        assert first == refused.value.job

    def test_a_finished_job_of_the_key_is_not_in_the_way(self) -> None:
        job_of(key="crawl:1", state=Job.State.DONE)

        assert jobs.create_job(
            task="tests.nothing", queue=Job.Queue.KEEP, title="Again", key="crawl:1"
        )

    def test_a_ring_goes_to_the_queue_of_the_job_when_the_transaction_commits(
        self, django_capture_on_commit_callbacks: Any
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            job = jobs.create_job(task="tests.nothing", queue=Job.Queue.LEARN, title="Learn")
            assert rings("learn") == []

        assert [[job.pk]] == rings("learn")

    def test_a_job_for_later_does_not_ring_yet(
        self, django_capture_on_commit_callbacks: Any
    ) -> None:
        later = timezone.now() + timedelta(minutes=1)

        with django_capture_on_commit_callbacks(execute=True) as callbacks:
            jobs.create_job(
                task="tests.nothing", queue=Job.Queue.LEARN, title="Learn", due_at=later
            )

        assert callbacks == []


def rings(queue: str) -> list[list[Any]]:
    """Take the rings out of the broker."""
    arguments = []
    with current_app.connection_for_read() as broker:
        channel: Any = broker.default_channel
        while message := channel.basic_get(queue, no_ack=True):
            arguments.append(message.decode()[0])
    return arguments


class TestCancel:
    def test_a_waiting_job_ends_at_once(self) -> None:
        job = job_of()

        jobs.cancel_job(job=job, actor=None)

        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED
        assert list(AuditEntry.objects.values_list("action", flat=True)) == ["job.cancelled"]

    def test_a_running_job_ends_at_its_next_step(self) -> None:
        def is_cancelled(run: jobs.JobRun) -> None:
            jobs.cancel_job(job=run.job, actor=None)
            run.job.refresh_from_db()
            assert run.job.state == Job.State.RUNNING
            run.renew()

        assert jobs.run_job(job_of().pk, is_cancelled).state == Job.State.CANCELLED

    def test_a_running_job_whose_worker_is_gone_ends_at_once(self) -> None:
        job = left_job()

        jobs.cancel_job(job=job, actor=None)

        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED

    def test_a_job_that_breaks_after_somebody_stopped_it_is_not_tried_again(self) -> None:
        def breaks(run: jobs.JobRun) -> None:
            jobs.cancel_job(job=run.job, actor=None)
            raise ValueError("odd")

        assert jobs.run_job(job_of().pk, breaks).state == Job.State.CANCELLED

    def test_a_finished_job_stays_as_it_is(self) -> None:
        job = job_of(state=Job.State.DONE)

        jobs.cancel_job(job=job, actor=None)

        job.refresh_from_db()
        assert (job.state, AuditEntry.objects.count()) == (Job.State.DONE, 0)


class TestRetry:
    @pytest.mark.parametrize("state", [Job.State.FAILED, Job.State.CANCELLED])
    def test_an_ended_job_goes_on_from_where_it_stopped(self, state: Job.State) -> None:
        job = job_of(state=state, n_done=7, n_tries=5, error="odd", finished_at=timezone.now())

        jobs.retry_job(job=job, actor=None)

        run = jobs.claim_job(job.pk)
        assert (run.job.n_done, run.job.n_tries, run.job.error) == (7, 1, "")

    def test_a_job_that_is_done_is_not_done_again(self) -> None:
        job = job_of(state=Job.State.DONE)

        jobs.retry_job(job=job, actor=None)

        job.refresh_from_db()
        assert (job.state, AuditEntry.objects.count()) == (Job.State.DONE, 0)

    def test_it_waits_for_a_newer_job_of_the_same_key(self) -> None:
        job = job_of(key="crawl:1", state=Job.State.FAILED)
        newer = job_of(key="crawl:1")

        with pytest.raises(jobs.JobExists) as refused:
            jobs.retry_job(job=job, actor=None)
        assert newer == refused.value.job


class TestProgress:
    def test_the_remaining_time_follows_from_the_rate_of_the_present_worker(self) -> None:
        minute_ago = timezone.now() - timedelta(seconds=60)
        job = job_of(
            state=Job.State.RUNNING, lease="x", leased_until=timezone.now(), claimed_at=minute_ago,
            n_done_before=100, n_done=220, n_total=400,
        )  # fmt: skip

        assert pytest.approx(job.rate, rel=0.01) == 2.0
        assert pytest.approx(job.seconds_left, abs=2) == 90

    def test_nothing_is_told_before_the_first_step_or_without_a_total(self) -> None:
        waiting, unknown = (
            job_of(),
            job_of(n_done=5, claimed_at=timezone.now() - timedelta(seconds=1)),
        )

        assert (waiting.rate, waiting.seconds_left) == (None, None)
        assert unknown.seconds_left is None


class TestVisibility:
    def test_people_see_the_jobs_of_their_sites(self) -> None:
        site = Site.objects.create(name="alpine-shop", root_url="http://alpine.example/")
        of_site, of_none = job_of(site=site), job_of()
        viewer = User.objects.create_user("vera")
        Membership.objects.create(user=viewer, site=site, role=Role.VIEWER)
        operator = User.objects.create_user("otto")
        Membership.objects.create(user=operator, role=Role.OPERATOR)
        stranger = User.objects.create_user("sam")

        assert [of_site] == list(Job.objects.visible_to(viewer))
        assert [of_none, of_site] == list(Job.objects.visible_to(operator))
        assert list(Job.objects.visible_to(stranger)) == []
        assert not AnonymousUser().is_active


@pytest.mark.django_db(transaction=True)
class TestKeptAlive:
    def test_a_long_step_keeps_its_lease(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=6))
        run = jobs.claim_job(job_of().pk)

        def is_renewed() -> bool:
            until, first = Job.objects.get().leased_until, run.job.leased_until
            return until is not None and first is not None and until > first

        with run.kept_alive():
            wait_until(is_renewed, "the lease is renewed")
            with pytest.raises(jobs.JobNotClaimed):
                jobs.claim_job(run.job.pk)
        run.renew(n_done=1)

    def test_without_it_the_lease_runs_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.3))
        run = jobs.claim_job(job_of().pk)

        threading.Event().wait(1)

        assert jobs.claim_job(run.job.pk)

    def test_a_step_that_hangs_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.3))
        run = jobs.claim_job(job_of().pk)

        def is_claimed() -> bool:
            with suppress(jobs.JobNotClaimed):
                return bool(jobs.claim_job(run.job.pk))
            return False

        def hang() -> None:
            with run.kept_alive(at_most=timedelta(seconds=0.2)):
                wait_until(is_claimed, "the lease of the step ends")

        with pytest.raises(jobs.LeaseLost):
            hang()

    def test_a_cancelled_job_ends_after_the_step(self) -> None:
        run = jobs.claim_job(job_of().pk)

        with pytest.raises(jobs.JobCancelled), run.kept_alive():
            jobs.cancel_job(job=run.job, actor=None)

    def test_the_error_of_the_step_is_the_one_that_is_told(self) -> None:
        run = jobs.claim_job(job_of().pk)

        def break_off() -> None:
            with run.kept_alive():
                jobs.cancel_job(job=run.job, actor=None)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            break_off()

    def test_a_lock_held_by_the_step_itself_does_no_harm(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.6))
        run = jobs.claim_job(job_of().pk)

        with run.kept_alive():
            take_a_step(run, seconds=1)

        assert Refusal.objects.count() == 1

    def test_many_workers_claim_a_job_once(self) -> None:
        job = job_of()
        claimed: list[str] = []

        def claim() -> None:
            try:
                claimed.append(jobs.claim_job(job.pk).lease)
            except jobs.JobNotClaimed:
                pass
            finally:
                connection.close()

        threads = [threading.Thread(target=claim) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(claimed) == 1


class TestClock:
    """A clock that was set back a day holds up nothing: what was due in a moment comes at once."""

    def test_a_job_that_was_put_off_before_is_due(self) -> None:
        job = job_of(due_at=timezone.now() + timedelta(days=1))

        assert [job] == list(Job.objects.due(timezone.now()))
        assert jobs.claim_job(job.pk).job.state == Job.State.RUNNING

    def test_a_lease_that_was_given_before_is_over(self) -> None:
        job = left_job(leased_until=timezone.now() + timedelta(days=1))

        assert jobs.claim_job(job.pk).job.n_tries == 2

    def test_what_is_put_off_now_waits(self) -> None:
        job = job_of(due_at=timezone.now() + jobs.MAX_WAIT)

        with pytest.raises(jobs.JobNotClaimed):
            jobs.claim_job(job.pk)
