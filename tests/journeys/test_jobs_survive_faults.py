"""Database, broker and page store fail and return in the middle of jobs: the jobs still end.

Nothing is lost, nothing is doubled, and the clock ticks again. Each fault is preceded by the proof
that work was in progress. The rarer ones belong to the full runs: a standby takes over, all
connections are taken, the broker starts anew, the clock jumps, the disk is full.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

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
# Only whoever may mount can make a disk that is really full.
MOUNTS = ("mount", "-t", "tmpfs", "-o", "size=1m", "vertex-tests")

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]


@pytest.fixture(scope="module")
def server() -> Iterator[servers.PostgresServer]:
    with servers.own_postgres() as server:
        yield server


@pytest.fixture
def redis_url() -> Iterator[str]:
    """Return the address of a Redis of the test's own, which it empties or stops."""
    with servers.own_redis() as url:
        yield url


@pytest.fixture
def installation(
    tmp_path: Path, server: servers.PostgresServer, redis_url: str
) -> Iterator[Installation]:
    with new_installation(
        tmp_path / "var", database_url=server.address, broker_url=redis_url
    ) as installation:
        yield installation


def start_processes(installation: Installation) -> None:
    start_clock(installation)
    Worker(installation)
    wait_until(lambda: heartbeats(installation), "the first tick")


def begin_work(installation: Installation) -> None:
    """Create jobs, and wait until they are at work."""
    create_jobs(installation, STORING_TASK, N_STEPS)
    wait_for_work(installation)


def test_faults_in_the_middle_of_jobs_lose_and_double_nothing(
    installation: Installation, server: servers.PostgresServer, redis_url: str
) -> None:
    start_processes(installation)

    begin_work(installation)
    server.stop()
    with pytest.raises(psycopg.OperationalError):  # the control: it is away
        installation.query("SELECT 1")
    server.start()
    assert_all_is_done(installation, n_rounds=1)

    begin_work(installation)
    empty_redis(redis_url)
    assert_all_is_done(installation, n_rounds=2)

    begin_work(installation)
    store, away = installation.var / "pages", installation.var / "pages-away"
    store.rename(away)
    wait_until(lambda: n_waiting(installation) > 0, "jobs that wait for the page store")
    assert "failed" not in states(installation)
    assert not store.exists() or not any(store.glob("??")), "nothing is stored elsewhere meanwhile"
    if store.exists():
        store.rmdir()
    away.rename(store)
    assert_all_is_done(installation, n_rounds=3)


@pytest.mark.bar
def test_a_standby_takes_over(installation: Installation, server: servers.PostgresServer) -> None:
    start_processes(installation)
    standby = start_standby(server)
    begin_work(installation)
    server.stop()
    promote(standby)
    # Where an address would move to the new server, it moves to the address.
    standby.stop()
    successor = servers.PostgresServer(standby.binaries, standby.folder, server.port)
    successor.start()
    try:
        assert_all_is_done(installation, n_rounds=1)
    finally:
        installation.stop()
        successor.stop()
        server.start()


def start_standby(server: servers.PostgresServer) -> servers.PostgresServer:
    """Start a server that follows another one, and wait until it has all that the other has."""
    folder = server.folder / "standby"
    run = servers._command_runner(server.folder)
    run(["mkdir", folder])
    address = ["--host", "127.0.0.1", "--port", server.port, "--username", "vertex"]
    how = ["--write-recovery-conf", "--checkpoint", "fast", "--pgdata", folder / "data"]
    run([server.binaries / "pg_basebackup", *address, *how])
    standby = servers.PostgresServer(server.binaries, folder, servers.free_port())
    standby.start()
    wait_until(
        lambda: ask(server, "SELECT state FROM pg_stat_replication") == [("streaming",)],
        "a standby that follows",
    )
    return standby


def promote(standby: servers.PostgresServer) -> None:
    assert [(True,)] == ask(standby, "SELECT pg_is_in_recovery()")
    assert [(True,)] == ask(standby, "SELECT pg_promote()")
    assert [(False,)] == ask(standby, "SELECT pg_is_in_recovery()")


def ask(server: servers.PostgresServer, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(server.address, autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


@pytest.mark.bar
def test_no_connection_is_free(installation: Installation, server: servers.PostgresServer) -> None:
    start_processes(installation)
    begin_work(installation)
    with all_connections_taken(installation.database_url) as connection:
        with pytest.raises(psycopg.OperationalError, match="too many clients"):
            installation.query("SELECT 1")
        left_alone = (
            "SELECT count(*) FROM core_job WHERE state = 'running' AND leased_until < now()"
        )
        wait_until(lambda: connection.execute(left_alone).fetchone() != (0,), "leases that ran out")
    assert_all_is_done(installation, n_rounds=1)


@contextmanager
def all_connections_taken(address: str) -> Iterator[psycopg.Connection[Any]]:
    """Cut off whoever is connected, and leave no connection for them."""
    first = psycopg.connect(address, autocommit=True)
    taken = [first]
    cut_off = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> ALL(%s)"
    )
    try:
        while first.execute(cut_off, [[each.info.backend_pid for each in taken]]).fetchone() != (
            0,
        ):
            with suppress(psycopg.OperationalError):
                while True:
                    taken.append(psycopg.connect(address, autocommit=True))
        yield first
    finally:
        for each in taken:
            each.close()


@pytest.mark.bar
def test_the_broker_starts_anew(installation: Installation, redis_url: str) -> None:
    start_processes(installation)
    begin_work(installation)
    redis.Redis.from_url(redis_url).shutdown(nosave=True)
    with pytest.raises(redis.ConnectionError):
        redis.Redis.from_url(redis_url).ping()
    create_jobs(installation, STORING_TASK, N_STEPS)  # nobody is told of them
    with servers.own_redis(urlsplit(redis_url).port or 0):
        assert_all_is_done(installation, n_rounds=2)


@pytest.mark.bar
@pytest.mark.parametrize("days", [1, -1])
def test_the_clock_jumps(installation: Installation, days: int) -> None:
    jump = installation.var / "jump"
    installation.more = {"CLOCK_JUMPS_BY_FILE": str(jump)}
    start_processes(installation)
    begin_work(installation)
    unfinished = jump.with_suffix(".new")
    unfinished.write_text(str(days * 86_400))
    unfinished.rename(jump)
    assert_all_is_done(installation, n_rounds=1)


@pytest.mark.bar
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")
def test_the_disk_is_full(installation: Installation) -> None:
    installation.more = {"VERTEX_MIN_FREE_MB": "0"}
    store = installation.var / "pages"
    with small_disk(store):
        start_processes(installation)
        begin_work(installation)
        filler = store / "filler"
        fill(filler)
        wait_until(lambda: states(installation) == {"failed"}, "jobs that say so")
        errors = installation.query("SELECT DISTINCT error FROM core_job")
        assert all(error.startswith("The disk is full") for (error,) in errors)
        filler.unlink()
        retry_all(installation)
        assert_all_is_done(installation, n_rounds=1)
        installation.stop()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True)
    if subprocess.run([*MOUNTS, folder], check=False).returncode != 0:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(filler: Path) -> None:
    """Write until nothing more can be written."""
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


def retry_all(installation: Installation) -> None:
    installation.manage(
        "shell",
        "--no-imports",
        "--verbosity=0",
        "-c",
        "from vertex.core.models import Job\n"
        "from vertex.core.services.jobs import jobs\n"
        "for job in Job.objects.filter(state='failed'):\n"
        "    jobs.retry_job(job=job, actor=None)",
    )


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
    ends = "SELECT id, state, n_done, n_tries, error FROM core_job"
    wait_until(
        lambda: states(installation) == {"done"},
        f"the end of all jobs {installation.query(ends)}",
        seconds=300,
    )
    rows = rows_by_job(installation)
    assert n_rounds * N_JOBS == len(rows)
    assert all(steps == list(range(N_STEPS)) for steps in rows.values())
    ticked_at = heartbeats(installation)
    wait_until(lambda: heartbeats(installation) != ticked_at, "another tick", seconds=300)


def heartbeats(installation: Installation) -> list[tuple[Any, ...]]:
    """Return the last signs of life."""
    return installation.query("SELECT name, at FROM core_heartbeat ORDER BY name")
