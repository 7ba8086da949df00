"""What runs jobs has limits: a step that takes too much ends its process; its pages are weighed."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tests.apps.core.jobs.test_jobs import job_of, left_job
from tests.installation import ROOT, new_installation
from vertex.core.models import Job
from vertex.core.services.jobs import jobs, step_limits
from vertex.core.services.jobs.limited_work import within_limits
from vertex.core.storage import note_reads_in, page_store, reads_are_noted

pytestmark = pytest.mark.django_db

SPIN = """
from django.conf import settings
from vertex.core.services.jobs import step_limits
from vertex.core.storage import page_store
settings.STEP_SECONDS = 1
before, name = page_store().put_many([b"read before the step", b"read in it"])
with step_limits.limited(7):
    page_store().read(before)
    step_limits.begin_step()
    page_store().read(name)
    print(name, flush=True)
    while True:
        pass
"""

weighed: list[list[str]] = []


def weigh_nothing(bodies: Sequence[str]) -> int:
    weighed.append(list(bodies))
    return 0


@pytest.fixture
def weigher(settings: Any) -> list[list[str]]:
    settings.SEAMS = settings.SEAMS | {"vertex.core.page_weigher": f"{__name__}.weigh_nothing"}
    weighed.clear()
    return weighed


def notes_of(job: Job, settings: Any) -> Path:
    return Path(settings.READING_DIR, str(job.pk))


def test_a_job_has_limits_until_it_ends(settings: Any) -> None:
    before = [resource.getrlimit(which) for which in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)]
    name = page_store().put(b"<p>a page")
    seen: dict[str, Any] = {}

    def work(run: jobs.JobRun) -> None:
        seen["processor"] = resource.getrlimit(resource.RLIMIT_CPU)[0]
        seen["memory"] = resource.getrlimit(resource.RLIMIT_DATA)[0]
        page_store().read(name)
        seen["read"] = notes_of(run.job, settings).read_text().split()
        run.renew()
        seen["next step"] = notes_of(run.job, settings).read_text()

    job = jobs.run_job(job_of().pk, within_limits(work))

    assert Job.State.DONE == job.state, job.error
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    assert 0 < seen["processor"] <= used + 1 + settings.STEP_SECONDS
    assert settings.JOB_MEMORY_MB << 20 == seen["memory"]
    assert [name] == seen["read"]
    assert "" == seen["next step"], "what was read before a step is not to blame for it"
    assert not notes_of(job, settings).exists()
    assert not reads_are_noted()
    assert before == [
        resource.getrlimit(which) for which in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)
    ]


def test_a_job_within_a_limited_process_changes_no_limit(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_CPU)
    seen = []

    def work(run: jobs.JobRun) -> None:
        run.renew()
        seen.append(resource.getrlimit(resource.RLIMIT_CPU))

    with (tmp_path / "notes").open("wb") as notes:
        note_reads_in(notes.fileno())
        try:
            jobs.run_job(job_of().pk, within_limits(work))
            assert reads_are_noted()
        finally:
            note_reads_in(None)
    assert [before] == seen


def test_memory_has_an_end_and_the_pages_are_weighed_before_the_next_try(
    settings: Any, weigher: list[list[str]]
) -> None:
    name = page_store().put(b"<p>a page")

    def take_all(_run: jobs.JobRun) -> None:
        page_store().read(name)
        bytearray(settings.JOB_MEMORY_MB << 20)

    job = jobs.run_job(job_of().pk, within_limits(take_all))

    assert Job.State.DUE == job.state
    assert job.error.startswith("MemoryError")
    assert [] == weigher
    Job.objects.filter(pk=job.pk).update(due_at=timezone.now())
    jobs.run_job(job.pk, within_limits(lambda _run: None))
    assert [[name]] == weigher


def test_the_pages_of_a_process_that_ended_are_weighed_once_by_the_next(
    settings: Any, weigher: list[list[str]]
) -> None:
    job = left_job()
    names = [page_store().put(text) for text in (b"first", b"second")]
    Path(settings.READING_DIR).mkdir()
    notes_of(job, settings).write_text(f"{names[0]}\n{names[1]}\n{names[0]}\n")
    weighed_before_work = []

    def work(_run: jobs.JobRun) -> None:
        weighed_before_work.extend(weigher)

    done = jobs.run_job(job.pk, within_limits(work))

    assert Job.State.DONE == done.state, done.error
    assert [[names[0], names[1]]] == weighed_before_work == weigher, "the last one read is first"
    assert [] == step_limits.take_notes_left(job.pk)


def test_a_step_that_takes_too_long_ends_its_process_and_leaves_its_pages(
    tmp_path: Path, settings: Any
) -> None:
    with new_installation(tmp_path) as installation:
        ended = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "--verbosity=0", "-c", SPIN],
            cwd=ROOT,
            env=installation.environ,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert -signal.SIGXCPU == ended.returncode
    settings.READING_DIR = tmp_path / "reading"
    assert [ended.stdout.strip()] == step_limits.take_notes_left(7)


def test_old_notes_are_swept(settings: Any) -> None:
    Path(settings.READING_DIR).mkdir()
    old, young = (Path(settings.READING_DIR, name) for name in ("1", "2"))
    for path in (old, young):
        path.touch()
    os.utime(old, (0, 0))

    step_limits.sweep_notes(now=timezone.now())

    assert [young] == list(Path(settings.READING_DIR).iterdir())
