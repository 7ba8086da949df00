"""Measure how long others wait while two editors look at hostile pages.

Run it with: python -m benchmarks.run hostile_web
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from benchmarks.hostile.pages import KINDS
from benchmarks.report import markdown_table
from benchmarks.slow_clients import Door, waits_at
from tests.installation import Installation, new_installation, wait_until
from tests.servers import free_port

TITLE = "The web beside hostile pages"
N_BYTES: Final = 3_000_000
N_EDITORS: Final = 2
N_ROUNDS: Final = 5  # of thirty requests
LOOKS: Final = (
    "pages/{page}/annotate/",
    "pages/{page}/table/",
    "pages/{page}/snapshots/{snapshot}/outline/",
    "pages/{page}/snapshots/{snapshot}/suggestions/",
)


def run(_data: Path | None) -> str:
    """Return the body of the page."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder, "web")) as (web, port):
        door = Door("", port)
        alone = waits(door)
        answers: list[int] = []
        with editors(web, port, answers):
            beside = waits(door)
    rows = [["nobody", *figures(alone)], [f"{N_EDITORS} editors", *figures(beside)]]
    table = markdown_table(["beside whom", "median s", "p95 s", "longest s", "not answered"], rows)
    n_stopped = sum(status == 503 for status in answers)
    return (
        "A gunicorn of two processes with four threads each, "
        f"and {len(KINDS)} kinds of hostile pages of"
        f" {N_BYTES:,} bytes. {N_EDITORS} editors open one after the other to be annotated, "
        "as a table, with"
        f" outline and suggestions; they asked {len(answers)} times, "
        f"and {n_stopped} times were told that it"
        " was stopped or that many pages are read. Meanwhile somebody asks for the "
        "page of the log-in."
        f" Wanted: p95 at most 0.3 s.\n\n{table}"
    )


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Installation, int]]:
    """Serve an installation with one site of hostile pages; yield it and its port."""
    port = free_port()
    with new_installation(folder) as installation:
        installation.more = {"VERTEX_BIND": f"127.0.0.1:{port}", "VERTEX_WEB_WORKERS": "2"}
        source = folder / "source"
        source.mkdir()
        for number, make in enumerate(KINDS.values()):
            (source / f"{number}.html").write_bytes(make(N_BYTES))
        installation.manage("add_site", "shop", "--url", "https://shop.example/")
        installation.manage("import_pages", "shop", str(source))
        installation.manage("create_user", "eddy", "--role", "editor")
        arguments = ["-m", "gunicorn", "--config=python:vertex.running.gunicorn"]
        installation.start(*arguments, "--no-control-socket", "vertex.wsgi", log="web")
        wait_until(lambda: None not in waits_at(Door("", port), 1), "an answer of gunicorn")
        yield installation, port


@contextmanager
def editors(web: Installation, port: int, answers: list[int]) -> Iterator[None]:
    """Let editors look at all pages, again and again; note what they were answered."""
    session = web.new_session("eddy")
    pages = web.query("SELECT page_id, id FROM clustering_snapshot ORDER BY id")
    is_over = threading.Event()

    def look(first: int) -> None:
        for page, snapshot in cycle([*pages[first:], *pages[:first]]):
            for address in LOOKS:
                if is_over.is_set():
                    return
                path = address.format(page=page, snapshot=snapshot)
                answers.append(status_of(f"http://127.0.0.1:{port}/sites/shop/{path}", session))

    threads = [
        threading.Thread(target=look, args=(number * len(pages) // N_EDITORS,))
        for number in range(N_EDITORS)
    ]
    for thread in threads:
        thread.start()
    yield
    is_over.set()
    for thread in threads:
        thread.join()


def status_of(url: str, session: str) -> int:
    """Return with which status a page is answered."""
    try:
        with urlopen(
            Request(url, headers={"Cookie": f"sessionid={session}"}), timeout=180
        ) as answer:
            answer.read()
            return int(answer.status)
    except HTTPError as error:
        return error.code


def waits(door: Door) -> list[float | None]:
    return [wait for _ in range(N_ROUNDS) for wait in waits_at(door)]


def figures(times: Sequence[float | None]) -> list[str]:
    """Return median, 95th percentile and longest of the waits, and how many had no answer."""
    answered = sorted(wait for wait in times if wait is not None)
    middle, late = answered[len(answered) // 2], answered[int(0.95 * (len(answered) - 1))]
    n_missing = len(times) - len(answered)
    return [f"{middle:.3f}", f"{late:.3f}", f"{answered[-1]:.3f}", str(n_missing)]
