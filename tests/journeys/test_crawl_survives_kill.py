"""Kill a crawl in the middle, again and again: nothing lost, nothing doubled, the same end."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, page
from tests.installation import own_database

pytestmark = pytest.mark.both_databases


ROOT = Path(__file__).resolve().parents[2]
SERVER = os.environ.get("DATABASE_URL", "")  # blank: SQLite
IS_FULL = os.environ.get("VERTEX_FULL") == "1"
N_KILLS = 100 if IS_FULL else 3
N_PAGES = 1500 if IS_FULL else 400
N_AT_LEAST = 8  # pages stored between two kills
MAX_IDLE_ROUNDS = 10  # crawls that end before they can be killed
PATIENCE = 600  # seconds for a command

PAGES = "SELECT url, state, status, depth, n_tries FROM clustering_page ORDER BY depth, id"
SNAPSHOTS = """SELECT page.url, snapshot.body FROM clustering_snapshot AS snapshot
    JOIN clustering_page AS page ON page.id = snapshot.page_id ORDER BY page.url"""
LINKS = """SELECT page.url, link.position, link.url, link.xpath FROM clustering_link AS link
    JOIN clustering_page AS page ON page.id = link.page_id ORDER BY page.url, link.position"""
JOB = "SELECT state, n_done FROM core_job ORDER BY id DESC LIMIT 1"


class Installation:
    """A product of its own under a folder, driven by its commands as a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("VERTEX_")
        }
        self.environ = inherited | {
            "VERTEX_VAR": str(folder),
            "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8",
        }
        for name in ("DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE"):
            self.environ.pop(name, None)
        self.environ["DATABASE_URL"] = own_database(folder, SERVER)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.Popen(command, cwd=ROOT, env=self.environ, stdout=subprocess.DEVNULL)

    def do(self, *arguments: str) -> int:
        with self.start(*arguments) as process:
            return process.wait(PATIENCE)

    def rows(self, query: str) -> list[Any]:
        if SERVER:
            with psycopg.connect(self.environ["DATABASE_URL"], autocommit=True) as server:
                return server.execute(query.encode()).fetchall()
        with closing(sqlite3.connect(self.folder / "vertex.sqlite3", timeout=20)) as database:
            return database.execute(query).fetchall()


def routes() -> dict[str, Any]:
    """Return a site with what a crawl meets: pages, redirects, errors, files, forbidden paths."""
    pages: dict[str, Any] = {"/": page("/1", "/2", "/3", "/moved", "/gone", "/file", "/private/x")}
    for number in range(1, N_PAGES):
        below = [f"/{each}" for each in range(3 * number + 1, min(3 * number + 4, N_PAGES))]
        pages[f"/{number}"] = page("/", *below, text=f"page {number}")
    return pages | {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /private"),
        "/moved": Answer(status=301, headers={"Location": "/5"}),
        "/gone": Answer(b"<p>gone", 404, {"Content-Type": "text/html"}),
        "/file": Answer(b"%PDF", headers={"Content-Type": "application/pdf"}),
    }


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with FakeHost({path: slowly(answer) for path, answer in routes().items()}) as serving:
        yield serving


def slowly(answer: Answer) -> Any:
    """Answer after a moment, so that there is a middle to be killed in."""

    def wait(_asked: Asked) -> Answer:
        time.sleep(0.02)
        return answer

    return wait


def crawl(installation: Installation, host: FakeHost) -> None:
    assert installation.do("add_site", "alpine-shop", "--url", f"{host.url}/") == 0
    assert installation.do("crawl_site", "alpine-shop", "--delay", "0") == 0


def kill_in_the_middle(installation: Installation) -> bool:
    """Start the crawl, kill it after some pages, and say whether it was at work then."""
    n_before = installation.rows(JOB)[0][1] if installation.rows(JOB) else 0
    with installation.start("crawl_site", "alpine-shop", "--delay", "0") as process:
        while process.poll() is None:
            job = installation.rows(JOB)
            if job and job[0][1] >= n_before + N_AT_LEAST:
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        return process.returncode == -signal.SIGKILL and installation.rows(JOB)[0][0] == "running"


def kill_until_done(installation: Installation, n_left: int) -> int:
    """Kill a crawl at most so often, let it finish, and return how often it was killed at work."""
    n_kills = 0
    while n_kills < n_left and kill_in_the_middle(installation):
        n_kills += 1
    if installation.rows(JOB)[0][0] != "done":
        assert installation.do("crawl_site", "alpine-shop", "--delay", "0") == 0
    return n_kills


@pytest.mark.slow
def test_a_crawl_that_is_killed_again_and_again_ends_like_an_undisturbed_one(
    host: FakeHost, tmp_path: Path
) -> None:
    calm = Installation(tmp_path / "calm")
    crawl(calm, host)
    expected = {query: calm.rows(query) for query in (PAGES, SNAPSHOTS, LINKS)}
    assert len(expected[SNAPSHOTS]) == N_PAGES + 1

    n_kills = n_rounds = 0
    while n_kills < N_KILLS:  # a crawl of its own for as many kills as it takes
        n_rounds += 1
        disturbed = Installation(tmp_path / f"disturbed-{n_rounds}")
        assert disturbed.do("add_site", "alpine-shop", "--url", f"{host.url}/") == 0
        n_kills += kill_until_done(disturbed, N_KILLS - n_kills)
        assert n_rounds <= n_kills + MAX_IDLE_ROUNDS
        for query, rows in expected.items():
            assert disturbed.rows(query) == rows
        assert disturbed.rows("SELECT state FROM core_job") == [("done",)]
