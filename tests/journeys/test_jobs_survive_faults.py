"""Database, broker and page store go away in the middle of jobs and come back: the jobs end by themselves.

Nothing is lost, nothing is doubled, and the clock ticks again. Each fault is preceded by the proof that work
was in progress.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests import servers
from tests.installation import Installation, new_installation, wait_until
from tests.journeys.stepping import STORING_TASK
from tests.journeys.test_jobs_survive_kill import (
    N_JOBS,
    Worker,
    create_jobs,
    empty_redis,
    progress,
    rows_by_job,
    start_clock,
    states,
)

N_STEPS = 40

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]


@pytest.fixture(scope="module")
def server() -> Iterator[servers.PostgresServer]:
    with servers.own_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """Return the address of a Redis of this module's own: its tests empty it."""
    with servers.own_redis() as url:
        yield url


@pytest.fixture
def installation(
    tmp_path: Path, server: servers.PostgresServer, redis_url: str
) -> Iterator[Installation]:
    with new_installation(
        tmp_path / "var", database_url=server.address, broker_url=redis_url
    ) as installation:
        start_clock(installation)
        Worker(installation)
        yield installation


def test_faults_in_the_middle_of_jobs_lose_and_double_nothing(
    installation: Installation, server: servers.PostgresServer, redis_url: str
) -> None:
    wait_until(lambda: beats(installation) > 0, "the first tick")

    create_jobs(installation, STORING_TASK, N_STEPS)
    wait_for_work(installation)
    server.stop()
    with pytest.raises(psycopg.OperationalError):  # the control: it is away
        installation.query("SELECT 1")
    server.start()
    assert_all_is_done(installation, n_rounds=1)

    create_jobs(installation, STORING_TASK, N_STEPS)
    wait_for_work(installation)
    empty_redis(redis_url)
    assert_all_is_done(installation, n_rounds=2)

    create_jobs(installation, STORING_TASK, N_STEPS)
    wait_for_work(installation)
    store, away = installation.var / "pages", installation.var / "pages-away"
    store.rename(away)
    wait_until(lambda: n_waiting(installation) > 0, "jobs that wait for the page store")
    assert "failed" not in states(installation)
    assert not store.exists() or not any(store.glob("??")), "nothing is stored elsewhere meanwhile"
    if store.exists():
        store.rmdir()
    away.rename(store)
    assert_all_is_done(installation, n_rounds=3)


def wait_for_work(installation: Installation) -> None:
    """Wait until jobs have done something, and prove that they are not done."""
    n_done = progress(installation)
    wait_until(lambda: progress(installation) > n_done + N_JOBS, "some steps")
    assert "running" in states(installation)


def n_waiting(installation: Installation) -> int:
    """Return how many jobs wait, with a part of their steps done, for what is away."""
    sql = (
        "SELECT count(*) FROM core_job WHERE state = 'due' AND n_done > 0 AND error LIKE 'Waits: %'"
    )
    return int(installation.query(sql)[0][0])


def assert_all_is_done(installation: Installation, *, n_rounds: int) -> None:
    """Wait for the end of all jobs; each step is there once, and the clock ticks."""
    began = time.time()
    ends = "SELECT id, state, n_done, n_tries, error FROM core_job"
    wait_until(
        lambda: states(installation) == {"done"},
        f"the end of all jobs {installation.query(ends)}",
        seconds=300,
    )
    rows = rows_by_job(installation)
    assert n_rounds * N_JOBS == len(rows)
    assert all(steps == list(range(N_STEPS)) for steps in rows.values())
    wait_until(lambda: beats(installation, since=began) > 0, "a tick after the fault", seconds=300)


def beats(installation: Installation, since: float = 0.0) -> int:
    """Return how many signs of life there are since then."""
    sql = f"SELECT count(*) FROM core_heartbeat WHERE at > to_timestamp({since})"
    return int(installation.query(sql)[0][0])
