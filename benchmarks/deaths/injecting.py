"""Run jobs that die, or lose their database, at chosen points, and compare what they come to."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from django.apps import apps
from django.db import connection
from django.utils import timezone

from benchmarks.deaths import CUT, KILL
from benchmarks.deaths.beginnings import KINDS, WORK_BY_TASK
from clustering.services.children.limits import end_idle_children
from vertex.core.models import Job
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.limited_work import within_limits

MAX_RUNS: Final = 6  # of a job after a fault; more would not be told from one that never ends
RETURN: Final = 0.2  # seconds after which a job is tried whose database was away; a worker waits 30

# What is another one in each run: who, when, and numbers of rows.
NOT_COMPARED: Final = {"core_job", "core_heartbeat", "core_auditentry", "core_installation"}
NOT_COMPARED_FIELDS: Final = {
    "clustering_clustering": frozenset({"seconds"}),
    "clustering_pagemembership": frozenset({"snapshot_seen"}),  # the number of a row
}


class Point(NamedTuple):
    """Where a fault comes: at the n-th of these moments of a job."""

    moment: str
    n: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fault came to."""

    kind: str
    fault: str
    point: Point
    seconds: float
    lost: int  # rows
    doubled: int
    gone: int  # records that are called gone and are not
    problem: str  # blank: the job is done


def main(server: str, n_faults: int, seconds: float, kinds: Sequence[str]) -> None:
    """Print what each fault came to, one JSON object a line, for so many seconds at most."""
    jobs.WAIT_FOR_RETURN = timedelta(seconds=RETURN)
    numbers = random.Random(n_faults)
    stages = Stages(server)
    trials = [stages.prepare(kind) for kind in kinds or KINDS]
    until = time.monotonic() + seconds
    for n in range(n_faults):
        if time.monotonic() > until:
            break
        n_round, place = divmod(n, len(trials))
        trial = trials[place]
        fault = KILL if n_round % 4 else CUT
        outcome = stages.suffer(trial, fault, numbers.choice(trial.points))
        sys.stdout.write(json.dumps(asdict(outcome)) + "\n")
        sys.stdout.flush()


class Trial(NamedTuple):
    """A job that is about to begin, and what it comes to without a fault."""

    kind: str
    database: str  # the template of its database
    job: int
    points: list[Point]
    rows: dict[str, Counter[str]]


class Stages:
    """Databases in which a job is about to begin, as many copies as there are faults."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._own = connection.settings_dict["NAME"]

    def prepare(self, kind: str) -> Trial:
        """Set the stage for a kind of job, and run it once without a fault."""
        template = f"deaths_{kind}"
        self._copy(self._own, template)
        with self._using(template):
            job = KINDS[kind]()
            connection.close()
        with self._copied(template):
            points = _moments_of(job)
            rows = _all_rows()
            problem = _problem_of(job)
            if problem:
                raise SystemExit(f"{kind} does not end without a fault: {problem}")
        return Trial(kind, template, job, points, rows)

    def suffer(self, trial: Trial, fault: str, point: Point) -> Outcome:
        """Let a fault come at a point of a job, let others go on with it, and compare."""
        with self._copied(trial.database):
            died_at = _run_in_fork(trial.job, fault, point)
            for _ in range(MAX_RUNS):
                wait = _wait_of(trial.job)
                if wait is None:
                    break
                time.sleep(wait)
                _run_in_fork(trial.job)
            seconds = time.monotonic() - died_at
            rows, problem = _all_rows(), _problem_of(trial.job)
        lost = sum(sum((trial.rows[table] - rows[table]).values()) for table in trial.rows)
        doubled = sum(sum((rows[table] - trial.rows[table]).values()) for table in trial.rows)
        gone = _n_gone(rows) - _n_gone(trial.rows)
        if lost or doubled:
            problem = (problem + " " + _difference(trial.rows, rows)).strip()
        return Outcome(trial.kind, fault, point, seconds, lost, doubled, max(gone, 0), problem)

    @contextmanager
    def _copied(self, template: str) -> Iterator[None]:
        copy = "deaths_now"
        self._copy(template, copy)
        with self._using(copy):
            yield

    @contextmanager
    def _using(self, name: str) -> Iterator[None]:

        before = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = before

    def _copy(self, template: str, name: str) -> None:

        connection.close()
        with psycopg.connect(self._server, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            server.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())


def _moments_of(job: int) -> list[Point]:
    """Run a job to its end and return all the points of it at which a fault may come."""
    with tempfile.NamedTemporaryFile() as file:
        _run_in_fork(job, counts=file.name)
        counts = json.loads(Path(file.name).read_bytes() or b"{}")
    return [Point(moment, n) for moment, most in counts.items() for n in range(1, most + 1)]


def _run_in_fork(job: int, fault: str = "", point: Point | None = None, counts: str = "") -> float:
    """Run a job in a process of its own, as a worker does; return when it ended or died."""

    connection.close()
    pid = os.fork()
    if not pid:
        try:
            _run_here(job, fault, point, counts)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    return time.monotonic()


def _run_here(job: int, fault: str, point: Point | None, counts: str) -> None:

    clock = FaultClock(connection, fault, point)
    task = Job.objects.get(pk=job).task
    with clock.watching():
        try:
            jobs.run_job(job, within_limits(WORK_BY_TASK[task]))
        except jobs.JobNotClaimed as error:
            sys.stderr.write(f"{error}\n")
    if counts:
        Path(counts).write_text(json.dumps(clock.seen))
    end_idle_children()


class FaultClock:
    """Count the writes and commits of a connection, and let the fault come at its point."""

    def __init__(self, connection: Any, fault: str, point: Point | None) -> None:
        self._connection, self._fault, self._point = connection, fault, point
        self.seen: Counter[str] = Counter()

    @contextmanager
    def watching(self) -> Iterator[None]:
        commit = self._connection._commit  # noqa: SLF001 - the one place that all transactions pass

        def watched() -> None:
            self._pass("before a COMMIT")
            commit()
            self._pass("after a COMMIT")

        self._connection._commit = watched  # noqa: SLF001
        with self._connection.execute_wrapper(self._on_statement):
            yield

    def _on_statement(
        self, execute: Callable[..., Any], sql: str, params: Any, many: Any, context: Any
    ) -> Any:
        if sql.lstrip()[:6].upper() in {"INSERT", "UPDATE", "DELETE"}:
            self._pass("before a write")
        return execute(sql, params, many, context)

    def _pass(self, moment: str) -> None:
        self.seen[moment] += 1
        if self._point != (moment, self.seen[moment]):
            return
        if self._fault == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._connection.connection is not None:
            settings = self._connection.get_connection_params()
            pid = self._connection.connection.info.backend_pid
            with psycopg.connect(
                host=settings["host"],
                port=settings["port"],
                user=settings["user"],
                dbname="postgres",
                autocommit=True,
            ) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [pid])
                while other.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]
                ).fetchone():
                    time.sleep(0.01)


def _wait_of(job: int) -> float | None:
    """Return in how many seconds a job may be tried again, None where it has ended."""
    row = Job.objects.unfinished().filter(pk=job).first()
    if row is None:
        return None
    if row.state == Job.State.RUNNING:
        return 0.0  # its process is dead
    return max(0.0, (row.due_at - timezone.now()).total_seconds()) + 0.01


def _problem_of(job: int) -> str:
    """Return how a job ended, blank where it is done."""

    row = Job.objects.get(pk=job)
    return "" if row.state == Job.State.DONE else f"{row.state}: {row.error}"


def _all_rows() -> dict[str, Counter[str]]:
    """Return the rows of each table, without what is another one in each run."""

    rows: dict[str, Counter[str]] = {}
    for model in apps.get_models():
        table = model._meta.db_table
        if (
            not model._meta.managed
            or table in NOT_COMPARED
            or table.startswith(("django_", "auth_"))
        ):
            continue
        names = [
            field.attname
            for field in model._meta.concrete_fields
            if not (field.primary_key or field.is_relation)
            and field.get_internal_type() not in {"DateTimeField", "UUIDField", "JSONField"}
            and field.attname not in NOT_COMPARED_FIELDS.get(table, frozenset())
        ]
        values = model._base_manager.values_list("pk", *names)  # noqa: SLF001 - which Django documents
        rows[table] = Counter(repr(tuple(map(_plain, row[1:]))) for row in values)
    return rows


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def _n_gone(rows: Mapping[str, Counter[str]]) -> int:
    return sum(n for row, n in rows["rules_record"].items() if "'gone'" in row)


def _difference(wanted: Mapping[str, Counter[str]], rows: Mapping[str, Counter[str]]) -> str:
    """Return a row lost or one too many in the first table that differs; blank if none differs."""
    for table in wanted:
        lost = wanted[table] - rows[table]
        doubled = rows[table] - wanted[table]
        if lost or doubled:
            return f"{table}: lost {list(lost)[:1]}, more {list(doubled)[:1]}"[:400]
    return ""
