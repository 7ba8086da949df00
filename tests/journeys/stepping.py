"""Tasks for real workers: a row in each step, with a little time in which the worker can be killed.

`celery -A tests.journeys.stepping worker …` is the product's own worker that knows these
tasks as well.
"""

from __future__ import annotations

import os
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import time_machine
from celery.signals import worker_process_init, worker_ready

from vertex.celery import app

TASK, UNFENCED_TASK = "tests.take_steps", "tests.take_unfenced_steps"
STORING_TASK = "tests.take_storing_steps"
LEASE = timedelta(seconds=3)
WAIT_FOR_RETURN = timedelta(seconds=1)
JUMP = os.environ.get("CLOCK_JUMPS_BY_FILE", "")
# The ticks that a test waits for come sooner; the others would only keep the workers busy.
for tick in os.environ.get("TICKS_WAITED_FOR", "sweep_jobs").split():
    app.conf.beat_schedule[tick]["schedule"] = timedelta(seconds=0.5)


@worker_ready.connect
@worker_process_init.connect
def hurry(**_: object) -> None:
    """Let leases run out, and the sweeper ring again, sooner than a test would wait."""
    from vertex.core.services.jobs import jobs

    jobs.LEASE = LEASE
    jobs.WAIT_FOR_RETURN = WAIT_FOR_RETURN


@worker_process_init.connect
def wait_for_jump(**_: object) -> None:
    """Move this process's clock by the seconds that a file of the test holds, once it exists."""
    if JUMP and not time_machine.escape_hatch.is_travelling():
        threading.Thread(target=_jump, daemon=True).start()


def _jump() -> None:
    file = Path(JUMP)
    while not file.exists():
        time.sleep(0.1)
    time_machine.travel(time.time() + float(file.read_text()), tick=True).start()


wait_for_jump()  # the clock, and the parents of workers


@app.task(name=TASK)
def take_steps(job_id: int) -> None:
    from vertex.core import tasks

    tasks.answer(job_id, _take_steps)


@app.task(name=UNFENCED_TASK)
def take_unfenced_steps(job_id: int) -> None:
    from vertex.core import tasks

    tasks.answer(job_id, _take_unfenced_steps)


@app.task(name=STORING_TASK)
def take_storing_steps(job_id: int) -> None:
    from vertex.core import tasks

    tasks.answer(job_id, _take_storing_steps)


def _take_storing_steps(run: Any) -> dict[str, Any]:
    """Keep a body with each step, as jobs do that store pages."""
    from django.db import transaction

    from vertex.core.storage import page_store

    for step in _steps_left(run):
        store = page_store()
        store.check()
        store.put_many([f"step {step} of job {run.job.pk}".encode()])
        with transaction.atomic():
            _write(run, step)
            run.renew(n_done=step + 1)
    return {"rows": run.job.n_total}


def _take_steps(run: Any) -> dict[str, Any]:
    from django.db import transaction

    for step in _steps_left(run):
        with transaction.atomic():
            _write(run, step)
            run.renew(n_done=step + 1)
    return {"rows": run.job.n_total}


def _take_unfenced_steps(run: Any) -> dict[str, Any]:
    """Write results and progress one after the other: what no job of the product may do."""
    for step in _steps_left(run):
        _write(run, step)
        run.renew(n_done=step + 1)
    return {"rows": run.job.n_total}


def _steps_left(run: Any) -> range:
    run.renew(n_total=run.job.params["n_steps"])
    return range(run.job.n_done, run.job.params["n_steps"])


def _write(run: Any, step: int) -> None:
    from vertex.core.models import Refusal

    Refusal.objects.create(
        job=run.job, subject=f"{step}", code="step", reason="a result of the job"
    )
    time.sleep(run.job.params["seconds"])
