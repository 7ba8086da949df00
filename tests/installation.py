"""An installation of one's own for tests that start real processes: settings, database, workers."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0


@dataclass
class Installation:
    """Processes of the product with a VERTEX_VAR, a database and a broker of their own."""

    var: Path
    database_url: str = ""  # blank: SQLite
    broker_url: str = ""  # blank: a folder
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)  # settings of its own, in the environment

    @property
    def environ(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VERTEX_", "DATABASE_URL", "BROKER_URL", "DJANGO_", "PYTEST_"))
        }
        own = {
            "VERTEX_VAR": str(self.var),
            "DATABASE_URL": self.database_url,
            "BROKER_URL": self.broker_url,
            "PYTHONUNBUFFERED": "1",
            "CELERY_SKIP_CHECKS": "1",
        }
        return kept | own | self.more

    def manage(self, *arguments: str) -> str:
        """Run a management command and return what it prints."""
        command = [sys.executable, "manage.py", *arguments]
        result = subprocess.run(
            command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def start(self, *arguments: str, log: str) -> subprocess.Popen[bytes]:
        """Start a Python process in a group of its own; what it prints goes to a file."""
        with (self.var / f"{log}.log").open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def log(self, name: str) -> str:
        return (self.var / f"{name}.log").read_text(errors="replace")

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database directly, past the product's own code."""
        if self.database_url:
            with psycopg.connect(self.database_url) as connection:
                return connection.execute(sql).fetchall()
        with closing(
            sqlite3.connect(self.var / "vertex.sqlite3", timeout=20)
        ) as connection_to_file:
            return connection_to_file.execute(sql).fetchall()

    def stop(self) -> None:
        for process in self.processes:
            kill_group(process)


@contextmanager
def installation(
    var: Path, *, database_url: str = "", broker_url: str = ""
) -> Iterator[Installation]:
    """Yield a migrated installation; its processes end with the context."""
    var.mkdir(parents=True, exist_ok=True)
    with _own_database(database_url) as url:
        made = Installation(var, url, broker_url)
        try:
            made.manage("migrate", "--verbosity", "0", "--skip-checks")
            yield made
        finally:
            made.stop()


@contextmanager
def _own_database(server_url: str) -> Iterator[str]:
    """Yield the address of a new database on the server; blank stays blank."""
    if not server_url:
        yield ""
        return
    name = f"vertex_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server_url.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, as a power cut would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(is_so: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Ask again and again; return the first answer that is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := is_so():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds:.0f} s: {what}")
