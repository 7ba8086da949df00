"""An installation of one's own for tests that start real processes: settings, database, workers."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
MIGRATED_DATABASE = "VERTEX_TEST_MIGRATED_DATABASE"  # the address of one on the server of all tests
PATIENCE = 180.0  # seconds: three processes that start on a busy machine take a while

# What a browser keeps of a person who is logged in and has chosen a password.
NEW_SESSION = """
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from vertex.core.models import User
User.objects.filter(username={username!r}).update(must_change_password=False)
user = User.objects.get(username={username!r})
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
print(session.session_key)
"""


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
        inherited = {
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
        return inherited | own | self.more

    def manage(self, *arguments: str) -> str:
        """Run a management command and return what it prints."""
        command = [sys.executable, "manage.py", *arguments]
        result = subprocess.run(
            command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def new_session(self, username: str) -> str:
        """Log somebody in and return the key of the session."""
        code = NEW_SESSION.format(username=username)
        return self.manage("shell", "--no-imports", "--verbosity=0", "-c", code)

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
def new_installation(
    var: Path, *, database_url: str = "", broker_url: str = ""
) -> Iterator[Installation]:
    """Yield a migrated installation; its processes end with the context."""
    installation = Installation(var, own_database(var, database_url), broker_url)
    try:
        yield installation
    finally:
        installation.stop()


def own_database(var: Path, server_url: str) -> str:
    """Give an installation a migrated database and return its address; blank for SQLite.

    It is a copy of one that is migrated once: that takes seven seconds of a processor.
    """
    var.mkdir(parents=True, exist_ok=True)
    if not server_url:
        shutil.copy(migrated_file(), var / "vertex.sqlite3")
        return ""
    return _create_database(server_url, template=migrated_database(server_url))


def migrated_file() -> Path:
    """Return an SQLite file that is migrated and empty, the same for all tests of this checkout.

    It is made anew once migrations or models have changed; processes that come meanwhile
    wait for it.
    """
    folder = ROOT / "var" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    migrated = folder / f"migrated-{_schema_key()}.sqlite3"
    with (folder / "migrating.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not migrated.exists():
            for outdated in folder.glob("migrated-*"):
                outdated.unlink()
            with tempfile.TemporaryDirectory() as var:
                _migrate(Installation(Path(var)))
                half_copied = folder / "migrated-half-copied"
                shutil.copy(Path(var) / "vertex.sqlite3", half_copied)
                half_copied.rename(migrated)
    return migrated


def migrated_database(server_url: str) -> str:
    """Return the name of a database on the server that is migrated and empty.

    The parent of pytest's workers names one on the server of all tests; a server of a test's own
    gets its own.
    """
    shared_server, _, name = os.environ.get(MIGRATED_DATABASE, "").rpartition("/")
    if name and shared_server == server_url.rpartition("/")[0]:
        return name
    return _new_migrated_database(server_url)


@functools.cache
def _new_migrated_database(server_url: str) -> str:
    address = _create_database(server_url, template="template1")
    with tempfile.TemporaryDirectory() as var:
        _migrate(Installation(Path(var), address))
    return address.rpartition("/")[2]


@functools.cache
def _schema_key() -> str:
    """Return a hash of all that a migrated database is made from."""
    sources = [ROOT / "requirements.txt", ROOT / "vertex" / "settings.py"]
    for app in ("vertex/core", "clustering", "annotation", "rules", "monitoring"):
        sources += [*ROOT.glob(f"{app}/migrations/*.py"), *ROOT.glob(f"{app}/models/*.py")]
    digest = sha256()
    for source in sorted(sources):
        digest.update(f"{source.relative_to(ROOT)}\0".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _migrate(installation: Installation) -> None:
    installation.manage("migrate", "--verbosity", "0", "--skip-checks")


def _create_database(server_url: str, *, template: str) -> str:
    """Create a database on the server and return its address; it is dropped when the tests end."""
    name = f"vertex_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    atexit.register(_drop_database, server_url, name)
    return f"{server_url.rpartition('/')[0]}/{name}"


def _drop_database(server_url: str, name: str) -> None:
    with (
        contextlib.suppress(psycopg.OperationalError),  # a server that was only for the tests
        psycopg.connect(server_url, autocommit=True) as connection,
    ):
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, as a power cut would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def is_alive(pid: int) -> bool:
    """A process that ended is not, though nobody has collected it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(is_so: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Ask again and again; return the first answer that is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := is_so():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds:.0f} s: {what}")
