"""Kill an import in the middle, again and again: nothing lost, nothing doubled, the same end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from tests.installation import own_database

ROOT = Path(__file__).resolve().parents[2]
SERVER = os.environ.get("DATABASE_URL", "")  # blank: SQLite
IS_FULL = os.environ.get("VERTEX_FULL") == "1"
N_KILLS = 100 if IS_FULL else 3
N_PAGES = 1500 if IS_FULL else 800
N_REPEATED = 60  # pages that the source holds twice, the second time with other bytes
N_BAD = 40
MAX_IDLE_ROUNDS = 10  # imports that end before they can be killed
PATIENCE = 600  # seconds for a command

PAGES = "SELECT url, given_url, state, status FROM clustering_page ORDER BY url"
SNAPSHOTS = """SELECT page.url, snapshot.body, snapshot.status FROM clustering_snapshot AS snapshot
    JOIN clustering_page AS page ON page.id = snapshot.page_id ORDER BY page.url, snapshot.id"""
LINKS = """SELECT page.url, link.position, link.url FROM clustering_link AS link
    JOIN clustering_page AS page ON page.id = link.page_id ORDER BY page.url, link.position"""
REFUSALS = "SELECT subject, code, reason FROM core_refusal ORDER BY subject"
SITE = "SELECT n_pages FROM core_site"
JOB = "SELECT state, n_done FROM core_job ORDER BY id DESC LIMIT 1"
COMPARED = (PAGES, SNAPSHOTS, LINKS, REFUSALS, SITE)


class Installation:
    """A product of its own under a folder, driven by its commands as a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("VERTEX_")
        }
        self.environ = inherited | {"VERTEX_VAR": str(folder)}
        for name in ("DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE"):
            self.environ.pop(name, None)
        self.environ["DATABASE_URL"] = own_database(folder, SERVER)
        assert self.do("add_site", "shop", "--url", "http://shop.example/") == 0

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", *arguments]
        with (self.folder / "errors").open("wb") as errors:
            return subprocess.Popen(command, cwd=ROOT, env=self.environ, stderr=errors)

    def errors(self) -> str:
        """Return what the last run told."""
        return (self.folder / "errors").read_text()

    def do(self, *arguments: str) -> int:
        with self.start(*arguments) as process:
            return process.wait(PATIENCE)

    def rows(self, query: str) -> list[Any]:
        if SERVER:
            with psycopg.connect(self.environ["DATABASE_URL"], autocommit=True) as server:
                return server.execute(query.encode()).fetchall()
        with closing(sqlite3.connect(self.folder / "vertex.sqlite3", timeout=20)) as database:
            return database.execute(query).fetchall()

    def all_rows(self) -> dict[str, list[Any]]:
        return {query: self.rows(query) for query in COMPARED}

    def bodies(self) -> set[str]:
        """Return the names of what lies in the page store."""
        return {path.name for path in (self.folder / "pages").rglob("*.zst")}

    def lines(self) -> list[dict[str, str]]:
        """Return what the last run wrote."""
        return [
            orjson.loads(line) for line in (self.folder / "out.jsonl").read_bytes().splitlines()
        ]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a manifest with all that an import meets.

    It holds pages, pages again with other bytes, and bad lines of each kind.
    """
    folder = tmp_path / "source"
    folder.mkdir()
    numbers = random.Random(4)
    lines = []
    for number in range(N_PAGES):
        name = f"{number}.html"
        links = "".join(
            f"<li><a href='/{other}'>page {other}</a>" for other in range(number, number + 20)
        )
        (folder / name).write_text(
            f"<html><h1>Page {number}</h1><ul>{links}</ul>{'<p>text' * 400}</html>"
        )
        lines.append(
            orjson.dumps({"url": f"http://shop.example/{number}", "file": name, "status": 200})
        )
    for number in range(N_REPEATED):
        place = numbers.randrange(N_PAGES // 2, len(lines))
        lines.insert(
            place,
            orjson.dumps({"url": f"http://shop.example/{number}", "file": f"{number + 1}.html"}),
        )
    for number in range(N_BAD):
        bad = (
            b"{"
            if number % 2
            else orjson.dumps({"url": f"http://shop.example/no/{number}", "file": "none.html"})
        )
        lines.insert(numbers.randrange(len(lines)), bad)
    (folder / "pages.jsonl").write_bytes(b"\n".join(lines))
    return folder / "pages.jsonl"


def arguments(installation: Installation, source: Path) -> list[str]:
    return ["import_pages", "shop", str(source), "--output", str(installation.folder / "out.jsonl")]


def kill_in_the_middle(installation: Installation, source: Path, numbers: random.Random) -> bool:
    """Start the import, kill it soon after another batch; return whether it was at work then."""
    n_before = installation.rows(JOB)[0][1] if installation.rows(JOB) else 0
    with installation.start(*arguments(installation, source)) as process:
        while process.poll() is None:
            job = installation.rows(JOB)
            if job and job[0][1] > n_before:
                break
            time.sleep(0.005)
        time.sleep(numbers.random() * 0.15)  # while it reads, parses, keeps bodies or writes rows
        process.kill()
        process.wait()
        return process.returncode == -signal.SIGKILL and installation.rows(JOB)[0][0] == "running"


@pytest.mark.slow
@pytest.mark.both_databases
def test_an_import_that_is_killed_again_and_again_ends_like_an_undisturbed_one(
    source: Path, tmp_path: Path
) -> None:
    calm = Installation(tmp_path / "calm")
    assert calm.do(*arguments(calm, source)) == 1  # it has bad lines
    assert f"{N_BAD} bad line(s)" in calm.errors()
    expected = calm.all_rows()
    assert [N_PAGES, N_PAGES + N_REPEATED, N_BAD] == [
        len(expected[query]) for query in (PAGES, SNAPSHOTS, REFUSALS)
    ]

    n_kills = n_rounds = 0
    numbers = random.Random(7)
    while n_kills < N_KILLS:  # an import of its own for as many kills as it takes
        n_rounds += 1
        disturbed = Installation(tmp_path / f"disturbed-{n_rounds}")
        n_killed = 0
        while n_kills + n_killed < N_KILLS and kill_in_the_middle(disturbed, source, numbers):
            n_killed += 1
            n_stored = len(disturbed.rows(PAGES))
            assert 0 < n_stored <= N_PAGES
            # The comparison below can fail.
            assert n_stored == N_PAGES or disturbed.all_rows() != expected
        n_kills += n_killed
        assert n_rounds <= n_kills + MAX_IDLE_ROUNDS
        assert disturbed.do(*arguments(disturbed, source)) == 1
        for query, rows in expected.items():
            assert rows == disturbed.rows(query)
        assert [("done",)] == disturbed.rows("SELECT state FROM core_job")
        assert calm.bodies() <= disturbed.bodies()
        assert [line["url"] for line in calm.lines()] == [line["url"] for line in disturbed.lines()]
    assert n_kills == N_KILLS


@pytest.mark.slow
def test_an_import_whose_progress_is_forgotten_does_not_end_the_same(
    source: Path, tmp_path: Path
) -> None:
    """If the place where the last batch ended is lost, pages twice in the source are doubled."""
    calm = Installation(tmp_path / "calm")
    calm.do(*arguments(calm, source))
    expected = calm.all_rows()
    calm.do(*arguments(calm, source))
    assert expected[PAGES] == calm.rows(PAGES)
    assert len(expected[SNAPSHOTS]) < len(calm.rows(SNAPSHOTS))
