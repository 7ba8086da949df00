"""Kill the process that crawls many sites, again and again: no site loses or doubles anything."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, page
from tests.apps.clustering.members_club import LOG_IN, Club
from tests.conftest import IS_FULL
from tests.installation import PATIENCE, Installation, kill_group, new_installation, wait_until
from tests.journeys.dying_fetcher import STEPS
from tests.journeys.test_crawl_survives_kill import slowly

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

SERVER = os.environ.get("DATABASE_URL", "")
N_KILLS = 100 if IS_FULL else 3
# At which steps of the engine it dies, in turns; see `dying_fetcher`.
WRITER_STEPS = (
    "a page is asked for",
    "bodies are stored, rows are not",
    "rows are written, not committed",
    "a batch is committed, nobody knows",
    "all pages are stored, the job is not done",
)
N_STEP_KILLS = 100 if IS_FULL else len(WRITER_STEPS)
N_SITES = 50 if IS_FULL else 5
N_PAGES = 200 if IS_FULL else 80
PAGES_PER_KILL = 10
TAKEN_UP_WITHIN = 60.0 if IS_FULL else PATIENCE  # seconds

STORED = "SELECT count(*) FROM clustering_page WHERE state = 'stored'"
STATES = "SELECT DISTINCT state FROM core_job"
LEFT = "SELECT count(*) FROM clustering_host WHERE leased_by <> ''"
# By site, with what must be the same however often the process was killed.
PAGES = """SELECT site.name, page.url, page.state, page.status, page.depth
    FROM clustering_page AS page
    JOIN core_site AS site ON site.id = page.site_id ORDER BY site.name, page.depth, page.id"""
SNAPSHOTS = """SELECT page.url, snapshot.body FROM clustering_snapshot AS snapshot
    JOIN clustering_page AS page ON page.id = snapshot.page_id ORDER BY page.url"""
LINKS = """SELECT page.url, link.position, link.url, link.xpath FROM clustering_link AS link
    JOIN clustering_page AS page ON page.id = link.page_id ORDER BY page.url, link.position"""


def routes(name: str) -> dict[str, Any]:
    pages: dict[str, Any] = {"/": page("/1", "/2", "/3", "/moved", "/gone", text=name)}
    for number in range(1, N_PAGES):
        below = [f"/{each}" for each in range(3 * number + 1, min(3 * number + 4, N_PAGES))]
        pages[f"/{number}"] = page("/", *below, text=f"{name}, page {number}")
    pages |= {
        "/moved": Answer(status=301, headers={"Location": "/5"}),
        "/gone": Answer(b"<p>gone", 404, {"Content-Type": "text/html"}),
    }
    return {path: slowly(answer) for path, answer in pages.items()}


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[FakeHost]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(FakeHost(routes(f"site {n}"))) for n in range(N_SITES)]


@pytest.fixture(scope="module")
def expected(
    hosts: list[FakeHost], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[tuple[Any, ...]]]:
    """Return what an installation has in the end whose process nobody kills."""
    with new_installation(tmp_path_factory.mktemp("calm"), database_url=SERVER) as calm:
        calm.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        ask_for_crawls(calm, hosts)
        calm.start("manage.py", "fetch", log="fetch")
        wait_until(lambda: are_done(calm), "the end of all crawls", seconds=600)
        return {query: calm.query(query) for query in (PAGES, SNAPSHOTS, LINKS)}


def ask_for_crawls(installation: Installation, hosts: list[FakeHost]) -> None:
    urls = [f"{host.url}/" for host in hosts]
    installation.manage(
        "shell",
        "--no-imports",
        "--verbosity=0",
        "-c",
        "from clustering.services.crawl.crawling import crawl_request\n"
        "from vertex.core.models import Site\n"
        "from vertex.core.services.jobs.requests import enqueue\n"
        f"for n, url in enumerate({urls}):\n"
        "    site = Site.objects.create(name=f'site-{n:02}', root_url=url, crawl_delay=0)\n"
        "    enqueue(crawl_request(site=site))\n",
    )


def n_stored(installation: Installation) -> int:
    return int(installation.query(STORED)[0][0])


def are_done(installation: Installation) -> bool:
    return installation.query(STATES) == [("done",)]


def test_many_crawls_survive_the_kill_of_their_process(
    hosts: list[FakeHost], expected: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    with new_installation(tmp_path / "killed", database_url=SERVER) as killed:
        killed.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        ask_for_crawls(killed, hosts)
        n_kills = kill_until_done(killed)
        assert n_kills >= min(2, N_KILLS)
        for query, rows in expected.items():
            assert killed.query(query) == rows
        wait_until(lambda: killed.query(LEFT)[0][0] == 0, "the release of all hosts")

    assert len(expected[SNAPSHOTS]) == N_SITES * (N_PAGES + 1)


def test_many_crawls_survive_a_death_at_each_step_of_the_engine(
    hosts: list[FakeHost], expected: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    steps = tuple(STEPS) if IS_FULL else WRITER_STEPS
    with new_installation(tmp_path / "dying", database_url=SERVER) as dying:
        dying.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        ask_for_crawls(dying, hosts)
        died_at = []
        for number in range(N_STEP_KILLS):
            step, n_times = steps[number % len(steps)], str(1 + number % 3)
            process = dying.start("-m", "tests.journeys.dying_fetcher", step, n_times, log="fetch")
            wait_until(
                partial(has_ended, process, dying),
                f"the death where {step}",
                seconds=TAKEN_UP_WITHIN * 4,
            )
            if process.poll() is None:
                break  # all is done
            assert process.returncode == -signal.SIGKILL, dying.log("fetch")
            died_at.append(step)
        last = dying.start("manage.py", "fetch", log="fetch")
        wait_until(lambda: are_done(dying), "the end of all crawls", seconds=600)
        for query, rows in expected.items():
            assert dying.query(query) == rows
        wait_until(lambda: dying.query(LEFT)[0][0] == 0, "the release of all hosts")
        kill_group(last)
    assert set(WRITER_STEPS) <= set(died_at)


def test_whoever_is_logged_in_stays_so_when_the_process_is_killed(tmp_path: Path) -> None:
    is_killed = threading.Event()
    paths = [f"p{n}" for n in range(40)]
    with Club(*paths) as club, new_installation(tmp_path / "var", database_url=SERVER) as killed:
        for path in paths[20:]:  # so that there is a middle
            club.routes[f"/{path}"] = after(is_killed, club.routes[f"/{path}"])
        killed.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        killed.manage(
            "shell",
            "--no-imports",
            "--verbosity=0",
            "-c",
            "from clustering.services.crawl.crawling import crawl_request\n"
            "from clustering.services.sites.site_fetching import change_fetching\n"
            "from vertex.core.models import Site\n"
            "from vertex.core.services.jobs.requests import enqueue\n"
            f"site = Site.objects.create(name='club', root_url='{club.url}/', crawl_delay=0)\n"
            f"change_fetching(site=site, actor=None, log_in_url='{club.url}/login', **{LOG_IN})\n"
            "enqueue(crawl_request(site=site))\n",
        )
        process = killed.start("manage.py", "fetch", log="fetch")
        wait_until(lambda: n_stored(killed) >= PAGES_PER_KILL, "the first pages")
        assert not are_done(killed)
        kill_group(process)
        is_killed.set()
        killed.start("manage.py", "fetch", log="fetch")
        wait_until(lambda: are_done(killed), "the end of the crawl", seconds=600)
        stored = killed.query(f"{STORED} AND url LIKE '%/p%'")
        snapshots = [url for url, _ in killed.query(SNAPSHOTS)]

    of_members = [each for each in club.asked if each.path.startswith("/p")]
    assert club.n_logins == 1
    assert {"session=1"} == {each.headers.get("Cookie") for each in of_members}
    assert stored == [(len(paths),)]
    assert sorted(snapshots) == sorted(f"{club.url}/{path}" for path in ["", *paths])


def after(is_so: threading.Event, reply: Any) -> Any:
    """Answer as `reply` does, once it is so."""

    def wait(asked: Asked) -> Answer:
        is_so.wait(PATIENCE)
        answer: Answer = reply(asked)
        return answer

    return wait


def has_ended(process: Popen[bytes], installation: Installation) -> bool:
    return process.poll() is not None or are_done(installation)


def is_at_work(installation: Installation, n_enough: int) -> bool:
    return n_stored(installation) >= n_enough or are_done(installation)


def kill_until_done(installation: Installation) -> int:
    """Kill the process in the middle of its crawls until all are done or it died often enough."""
    n_kills = 0
    process = installation.start("manage.py", "fetch", log="fetch")
    while n_kills < N_KILLS and not are_done(installation):
        n_enough, begun = n_stored(installation) + PAGES_PER_KILL, time.monotonic()
        wait_until(partial(is_at_work, installation, n_enough), "pages of a process that took over")
        assert time.monotonic() - begun < TAKEN_UP_WITHIN
        if not are_done(installation):
            kill_group(process)
            n_kills += 1
            process = installation.start("manage.py", "fetch", log="fetch")
    wait_until(lambda: are_done(installation), "the end of all crawls", seconds=600)
    return n_kills


def test_a_process_that_is_told_to_end_gives_its_jobs_back(
    hosts: list[FakeHost], tmp_path: Path
) -> None:
    with new_installation(tmp_path / "var", database_url=SERVER) as installation:
        installation.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        ask_for_crawls(installation, hosts)
        process = installation.start("manage.py", "fetch", log="fetch")
        wait_until(lambda: n_stored(installation) >= PAGES_PER_KILL, "the first pages")
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 0, installation.log("fetch")
        assert time.monotonic() - begun < (10 if IS_FULL else PATIENCE)
        states = {state for (state,) in installation.query(STATES)}
        assert states <= {"due", "done"}
        assert "due" in states
        assert installation.query(LEFT)[0][0] == 0
