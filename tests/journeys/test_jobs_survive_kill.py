"""Workers are killed in the middle of their jobs, again and again: each result counts once.

The workers, the broker and the database are real; each kill is preceded by the proof that work
was in progress.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis

from tests import servers
from tests.conftest import IS_FULL
from tests.installation import Installation, kill_group, new_installation, wait_until
from tests.journeys.stepping import TASK, UNFENCED_TASK

N_KILLS = 100 if IS_FULL else 3
N_JOBS = 3
STEPS_PER_KILL = 60
SECONDS_PER_STEP = 0.02

pytestmark = pytest.mark.slow


class Worker:
    """The installation's worker, which somebody keeps starting again."""

    def __init__(self, installation: Installation) -> None:
        self.made = installation
        self.start()

    def start(self) -> None:
        self.process = self.made.start(
            *celery("worker", "-Q", "keep", "-c", "2", "-n", "work@%h"), log="work"
        )

    def kill(self, *, wholly: bool) -> None:
        """Kill the process in the middle of a job, or the whole worker."""
        n_done = progress(self.made)
        wait_until(lambda: progress(self.made) > n_done, "a step", seconds=120)
        (job, holder), *_ = wait_until(lambda: running(self.made), "a running job")
        if wholly:
            kill_group(self.process)
        else:
            with suppress(ProcessLookupError):
                os.kill(int(holder.split(":")[1]), signal.SIGKILL)
        (row,) = self.made.query(f"SELECT state, n_done, n_total FROM core_job WHERE id = {job}")
        assert row[0] == "running"
        assert 0 < row[1] < row[2], "no work was in progress"
        if wholly:
            self.start()


def celery(command: str, *options: str) -> list[str]:
    words = ["-m", "celery", "--quiet", "-A", "tests.journeys.stepping", command, *options]
    return [*words, "--without-gossip", "--without-mingle"] if command == "worker" else words


def start_clock(installation: Installation) -> None:
    installation.start(
        *celery("worker", "-Q", "clock", "-P", "solo", "-n", "clock@%h"), log="clock"
    )
    installation.start(*celery("beat"), log="beat")


def create_jobs(installation: Installation, task: str, n_steps: int) -> None:
    params = {"n_steps": n_steps, "seconds": SECONDS_PER_STEP}
    installation.manage(
        "shell",
        "--no-imports",
        "--verbosity=0",
        "-c",
        "from vertex.core.models import Job\n"
        "from vertex.core.services.jobs import jobs\n"
        f"for n in range({N_JOBS}):\n"
        f"    jobs.create_job(task={task!r}, queue=Job.Queue.KEEP, title=f'Steps {{n}}', "
        f"params={params})",
    )


def running(installation: Installation) -> list[tuple[Any, ...]]:
    return installation.query(
        "SELECT id, leased_by FROM core_job WHERE state = 'running' AND n_done > 0 AND "
        "n_done < n_total - 20"
    )


def progress(installation: Installation) -> int:
    return int(installation.query("SELECT coalesce(sum(n_done), 0) FROM core_job")[0][0])


def states(installation: Installation) -> set[str]:
    return {state for (state,) in installation.query("SELECT state FROM core_job")}


def rows_by_job(installation: Installation) -> dict[int, list[int]]:
    rows: dict[int, list[int]] = {}
    for job, step in installation.query("SELECT job_id, subject FROM core_refusal ORDER BY id"):
        rows.setdefault(job, []).append(int(step))
    return rows


def n_steps() -> int:
    return 40 + STEPS_PER_KILL * N_KILLS // N_JOBS


def work_through_kills(
    installation: Installation, task: str, *, wipe: Callable[[], object]
) -> None:
    """Do the jobs while workers are killed, once with an emptied broker, and wait for their end."""
    start_clock(installation)
    worker = Worker(installation)
    create_jobs(installation, task, n_steps())
    for kill in range(N_KILLS):
        worker.kill(wholly=kill % 5 == 0)
        if kill == N_KILLS // 2:
            wipe()
    wait_until(
        lambda: states(installation) == {"done"},
        f"the end of all jobs {installation.query(ENDS)}",
        seconds=600,
    )


ENDS = "SELECT id, state, n_done, n_tries, error FROM core_job"


def assert_nothing_lost_or_doubled(installation: Installation) -> None:
    rows = rows_by_job(installation)
    assert len(rows) == N_JOBS
    assert all(steps == list(range(n_steps())) for steps in rows.values())


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Installation]:
    with new_installation(tmp_path / "var") as installation:
        yield installation


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """Return the address of a Redis of this module's own: its tests empty it."""
    with servers.own_redis() as url:
        yield url


@pytest.fixture
def on_postgres(tmp_path: Path, redis_url: str) -> Iterator[Installation]:
    server = os.environ["DATABASE_URL"]
    with new_installation(
        tmp_path / "var", database_url=server, broker_url=redis_url
    ) as installation:
        yield installation


def empty_folder(installation: Installation) -> None:
    shutil.rmtree(installation.var / "broker", ignore_errors=True)


def empty_redis(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.flushall()


def test_on_sqlite_with_a_folder_as_broker(on_sqlite: Installation) -> None:
    work_through_kills(on_sqlite, TASK, wipe=lambda: empty_folder(on_sqlite))

    assert_nothing_lost_or_doubled(on_sqlite)


def test_without_the_fence_results_are_doubled(on_sqlite: Installation) -> None:
    work_through_kills(on_sqlite, UNFENCED_TASK, wipe=lambda: empty_folder(on_sqlite))

    rows = rows_by_job(on_sqlite)
    assert sum(len(steps) - len(set(steps)) for steps in rows.values()) > 0


@pytest.mark.postgres
@pytest.mark.redis
def test_on_postgres_with_redis(on_postgres: Installation, redis_url: str) -> None:
    work_through_kills(on_postgres, TASK, wipe=lambda: empty_redis(redis_url))

    assert_nothing_lost_or_doubled(on_postgres)


@pytest.mark.postgres
@pytest.mark.redis
def test_a_worker_that_hung_and_wakes_up_writes_nothing_more(on_postgres: Installation) -> None:
    start_clock(on_postgres)
    Worker(on_postgres)
    create_jobs(on_postgres, TASK, n_steps())
    (job, holder), *_ = wait_until(lambda: running(on_postgres), "a running job")
    pid = int(holder.split(":")[1])
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(
            lambda: holder_of(on_postgres, job) not in {"", holder}, "another worker takes over"
        )
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: states(on_postgres) == {"done"}, "the end of all jobs", seconds=120)

    assert_nothing_lost_or_doubled(on_postgres)
    assert "lease_lost" in on_postgres.log("work")


def holder_of(installation: Installation, job: int) -> str:
    return str(installation.query(f"SELECT leased_by FROM core_job WHERE id = {job}")[0][0])
