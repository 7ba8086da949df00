"""Whatever people, workers and the sweeper do, a job is in the state that a simple model gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.conftest import IS_FULL
from vertex.core.models import Job, Refusal
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobCancelled, JobExists, JobNotClaimed, JobRun, LeaseLost

KEYS = ("", "crawl", "learn")
State = Job.State
LATER = jobs.LEASE + timedelta(seconds=1)
MAX_EXAMPLES = 300 if IS_FULL else 8


@dataclass
class ModelJob:
    """What must be so of a job."""

    key: str
    state: str = State.DUE
    lease: str = ""  # of the worker that holds it
    is_to_be_cancelled: bool = False
    steps: list[str] = field(default_factory=list)  # those that count, each written by its holder

    @property
    def is_unfinished(self) -> bool:
        return self.state in {State.DUE, State.RUNNING}


class JobMachine(RuleBasedStateMachine):
    """People ask for jobs, cancel and retry them; workers take, lose and end them."""

    job_pks = Bundle("job_pks")
    runs = Bundle("runs")

    def __init__(self) -> None:
        super().__init__()
        Refusal.objects.all().delete()
        Job.objects.all().delete()
        self.model: dict[int, ModelJob] = {}
        self.n_steps = 0

    @rule(target=job_pks, key=st.sampled_from(KEYS))
    def ask(self, key: str) -> int:
        taken = [
            pk for pk, job in self.model.items() if key and job.key == key and job.is_unfinished
        ]
        try:
            job = jobs.create_job(
                task="tests.nothing", queue=Job.Queue.KEEP, title=key, key=key, rings=False
            )
        except JobExists as unfinished:
            (pk,) = taken
            return pk if unfinished.job.pk == pk else -1
        assert [] == taken
        self.model[job.pk] = ModelJob(key)
        return job.pk

    @rule(target=runs, pk=job_pks, late=st.sampled_from([timedelta(0), LATER]))
    def take(self, pk: int, late: timedelta) -> JobRun | None:
        """Let a worker take a job; one that is late comes after the lease of the last one."""
        wanted = self.model[pk]
        is_late = bool(late)
        may_take = wanted.state == State.DUE or (wanted.state == State.RUNNING and is_late)
        is_hopeless = wanted.is_to_be_cancelled and wanted.state == State.RUNNING and is_late
        try:
            run = jobs.claim_job(pk, now=timezone.now() + late)
        except JobNotClaimed:
            assert not may_take or is_hopeless
            if is_hopeless:
                wanted.state, wanted.lease = State.CANCELLED, ""
            return None
        assert may_take
        assert not is_hopeless
        # Tries have tests of their own; who comes late after this one comes after its lease, too.
        until = timezone.now() + jobs.LEASE
        Job.objects.filter(pk=pk).update(n_tries=1, leased_until=until)
        wanted.state, wanted.lease = State.RUNNING, run.lease
        return run

    @rule(run=runs)
    def step(self, run: JobRun | None) -> None:
        """Write a result, as long as the job is held."""
        if run is None:
            return
        wanted = self.model[run.job.pk]
        self.n_steps += 1
        name = f"{self.n_steps}"
        is_held = wanted.state == State.RUNNING and wanted.lease == run.lease
        try:
            with transaction.atomic():
                Refusal.objects.create(job=run.job, subject=name, code="step", reason="a result")
                run.renew(n_done=len(wanted.steps) + 1)
        except LeaseLost:
            assert not is_held
        except JobCancelled:
            assert is_held
            assert wanted.is_to_be_cancelled
        else:
            assert is_held
            assert not wanted.is_to_be_cancelled
            wanted.steps.append(name)

    @rule(run=consumes(runs), error=st.sampled_from([None, JobCancelled(), jobs.JobFailed("no")]))
    def end(self, run: JobRun | None, error: Exception | None) -> None:
        if run is None:
            return
        wanted = self.model[run.job.pk]
        is_held = wanted.state == State.RUNNING and wanted.lease == run.lease
        if error is not None:
            jobs.end_with(run, error)
            ended = State.CANCELLED if isinstance(error, JobCancelled) else State.FAILED
        else:
            ended = State.DONE
            try:
                with transaction.atomic():
                    run.finish({})
            except LeaseLost:
                assert not is_held
        if is_held:
            wanted.state, wanted.lease = ended, ""

    @rule(run=consumes(runs))
    def hand_back(self, run: JobRun | None) -> None:
        """Stop a worker politely: the job is due again at once."""
        if run is None:
            return
        wanted = self.model[run.job.pk]
        jobs.hand_back(run)
        if wanted.state == State.RUNNING and wanted.lease == run.lease:
            wanted.lease = ""
            wanted.state = State.CANCELLED if wanted.is_to_be_cancelled else State.DUE

    @rule(pk=job_pks)
    def cancel(self, pk: int) -> None:
        wanted = self.model[pk]
        jobs.cancel_job(job=Job.objects.get(pk=pk), actor=None)
        if wanted.state == State.DUE:
            wanted.state, wanted.is_to_be_cancelled = State.CANCELLED, True
        elif wanted.state == State.RUNNING:
            wanted.is_to_be_cancelled = True

    @rule(pk=job_pks)
    def retry(self, pk: int) -> None:
        wanted = self.model[pk]
        is_taken = any(
            job.key == wanted.key and job.is_unfinished for job in self.model.values() if wanted.key
        )
        may_retry = wanted.state in {State.FAILED, State.CANCELLED}
        try:
            jobs.retry_job(job=Job.objects.get(pk=pk), actor=None)
        except JobExists:
            assert may_retry
            assert is_taken
            return
        if may_retry:
            assert not is_taken
            wanted.state, wanted.is_to_be_cancelled = State.DUE, False

    @invariant()
    def rows_are_as_the_model(self) -> None:
        rows = Job.objects.order_by("pk").values_list("pk", "state", "lease")
        assert [(pk, job.state, job.lease) for pk, job in sorted(self.model.items())] == list(rows)

    @invariant()
    def each_result_counts_once(self) -> None:
        written: dict[int, list[str]] = {pk: [] for pk in self.model}
        for pk, subject in Refusal.objects.order_by("pk").values_list("job", "subject"):
            written[pk].append(subject)
        assert {pk: job.steps for pk, job in self.model.items()} == written


@pytest.mark.django_db
@pytest.mark.both_databases
def test_jobs_are_where_the_model_says() -> None:
    run_state_machine_as_test(
        JobMachine, settings=settings(max_examples=MAX_EXAMPLES, stateful_step_count=20)
    )


@pytest.mark.django_db
def test_the_model_notices_workers_that_write_without_the_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(JobRun, "held", property(lambda run: Job.objects.filter(pk=run.job.pk)))

    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            JobMachine,
            settings=settings(max_examples=20, stateful_step_count=20, phases=[Phase.generate]),
        )
