"""How long an open page shows the former state once a job has ended, measured in a real browser.

The demo runs in an installation of its own with all its processes. A person opens the pages that a
job changes and begins the job by its button. A page is up to date as soon as it shows what it shows
when it is loaded again.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from benchmarks.report import markdown_table
from tests.installation import Installation
from vertex.demo.sites.server import free_ports

TITLE = "Pages after a job has ended"
CHROMIUM = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
PATIENCE: Final = 300_000  # milliseconds that anything may take
WANTED: Final = 2.0  # seconds
SIGN_OF_LIFE: Final = 30  # seconds in which clock and workers have given a sign of life
TRIES: Final = 3
EVERY: Final = 1.0  # seconds between two looks of a page
SHOP: Final = "/sites/alpine-shop"
AFTERWARDS: Final = 3_000  # milliseconds that pages have after the end of a job
# What the page says, and when it began to say so. Times say another thing at each look, and are
# left out.
RECORDER: Final = """
() => {
  window.said = [];
  const look = () => {
    const copy = document.querySelector(".main").cloneNode(true);
    for (const time of copy.querySelectorAll("time, .toast, iframe, noscript")) time.remove();
    const text = copy.textContent.replace(/\\s+/g, " ");
    if (text !== window.said.at(-1)?.text) window.said.push({ at: Date.now() / 1000, text });
  };
  new MutationObserver(look).observe(document.querySelector(".main"), {
    subtree: true, childList: true, characterData: true, attributes: true });
  look();
}
"""
# Words that change though nothing was done.
PASSING: Final = re.compile(r"\d+ (?:s|min|h|d) ago|in \d+ (?:s|min|h|d)|just now|now")


class Begun(NamedTuple):
    """A job that a person begins in the browser, and the open pages that show what it changes."""

    name: str
    task: str
    begin: Callable[[Page], None]
    pages: Sequence[str]


class Seen(NamedTuple):
    """How long after the end of a job a page said what it says when it is loaded again."""

    job: str
    page: str
    seconds: float | None  # None: never; 0: the last job changed nothing on it
    loading: float  # seconds


def run(data: Path | None) -> str:  # noqa: ARG001 - this one makes its own pages
    """Begin each job on its page and return how long the pages were out of date."""
    seen: list[Seen] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder)) as (address, password),
        sync_playwright() as playwright,
    ):
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        log_in(context, password)
        for begun in JOBS:
            seen += watch(context, begun, Path(folder) / "vertex.sqlite3")
        browser.close()
    return report(seen)


def report(seen: Sequence[Seen]) -> str:
    """Return the figures as Markdown."""
    waits = [math.inf if each.seconds is None else each.seconds for each in seen]
    n_early = sum(wait <= WANTED for wait in waits)
    n_asked = sum(wait <= EVERY + each.loading for wait, each in zip(waits, seen, strict=True))
    rows = [
        [
            each.job,
            f"`{each.page}`",
            "never" if each.seconds is None else f"{each.seconds:.1f}",
            f"{each.loading:.1f}",
        ]
        for each in seen
    ]
    head = ["job", "page", "seconds after the end", "seconds in which the page loads"]
    return (
        "Pages of the demo, of which 80 pages a site are stored at first; "
        "a crawl brings the others. Times are "
        "those from the last end or beginning of a job to the last change of the page, "
        "the jobs that come of "
        "the one that was begun included; 0: the page said so before. "
        "A page looks for ended jobs once a "
        "second and is then loaded: where that takes longer than a second, on a busy machine, "
        "it is late.\n\n"
        f"{n_early} of {len(seen)} pages were up to date within {WANTED:.0f} s (wanted: "
        f"all), {n_asked} "
        "within a second and the time that the page takes to load.\n\n" + markdown_table(head, rows)
    )


@contextmanager
def running(var: Path) -> Iterator[tuple[str, str]]:
    """Yield the address of an installation with the demo, and its administrator's password."""
    port = free_ports(5)
    demo_port = str(port + 1)
    more = {"VERTEX_DEMO_PORT": demo_port, "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8"}
    installation = Installation(var, more=more)
    installation.manage("demo", "--max-pages", "80")
    installation.start("manage.py", "demo", "--serve", log="sites")
    installation.start("manage.py", "up", "--port", str(port), log="up")
    try:
        until = time.monotonic() + PATIENCE / 1000
        while "answers at" not in (var / "up.log").read_text():
            assert time.monotonic() < until, (var / "up.log").read_text()
            time.sleep(0.2)
        time.sleep(SIGN_OF_LIFE)
        logins = (var / "demo-logins.txt").read_text()
        yield f"http://127.0.0.1:{port}", re.findall(r"^admin (\S+)", logins, re.MULTILINE)[0]
    finally:
        installation.stop()


def log_in(context: BrowserContext, password: str) -> None:
    """Log in as the administrator of the demo."""
    page = context.new_page()
    page.goto("/log-in/")
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    expect(page.get_by_role("button", name="Log out").first).to_be_attached()
    page.close()


def watch(context: BrowserContext, begun: Begun, database: Path) -> list[Seen]:
    """Open the pages, start a job on another one, and return when each page showed the change."""
    first = last_job(database)
    pages = {path: context.new_page() for path in begun.pages}
    for path, page in pages.items():
        page.goto(path)
        page.wait_for_load_state("networkidle")
        page.evaluate(RECORDER)
    other = context.new_page()
    begun.begin(other)
    wait_for_end(other, database, first, begun.task)
    other.wait_for_timeout(AFTERWARDS)
    seen = []
    for path, page in pages.items():
        for _ in range(TRIES):  # another job may have ended between the two pages
            said = page.evaluate("said")
            turns = turns_of_jobs(database, first)
            latest = seen_on(begun.name, path, said, other, turns)
            if latest.seconds is not None:
                break
            wait_for_end(other, database, first, begun.task)
            other.wait_for_timeout(AFTERWARDS)
        seen.append(latest)
    for page in [other, *pages.values()]:
        page.close()
    return seen


def seen_on(
    job: str, path: str, history: Sequence[dict[str, Any]], page: Page, turns: Sequence[float]
) -> Seen:
    """Return when what was said on a page became what the same page says that is loaded now."""
    before = time.monotonic()
    page.goto(path)
    loading = time.monotonic() - before
    page.wait_for_load_state("networkidle")
    page.evaluate(RECORDER)
    now = lasting(page.evaluate("said.at(-1).text"))
    said = [(each["at"], lasting(each["text"])) for each in history]
    if said[-1][1] != now:
        return Seen(job, path, None, loading)
    since = said[-1][0]
    for at, text in reversed(said):
        if text != now:
            break
        since = at
    if since == said[0][0]:  # it said so when it was opened, whatever ended before
        return Seen(job, path, 0.0, loading)
    earlier = [turn for turn in turns if turn <= since]
    return Seen(job, path, since - max(earlier) if earlier else 0.0, loading)


def lasting(text: str) -> str:
    """Return what a page says without what passes by itself."""
    return PASSING.sub("", text)


def last_job(database: Path) -> int:
    """Return the number of the newest job."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT max(id) FROM core_job").fetchone()[0] or 0)


def wait_for_end(page: Page, database: Path, first: int, task: str) -> None:
    """Wait until a job of a task and all others since the first have ended."""
    until = time.monotonic() + PATIENCE / 1000
    while True:
        jobs = jobs_since(database, first)
        if any(job[0] == task for job in jobs) and all(job[-1] for job in jobs):
            return
        assert time.monotonic() < until, f"{task} or what came of it did not end: {jobs}"
        page.wait_for_timeout(100)


def turns_of_jobs(database: Path, first: int) -> list[float]:
    """Return when the jobs since the first were created, began and ended."""
    turns = []
    for _, *times in jobs_since(database, first):
        for time_of_turn in times:
            if time_of_turn:  # a job that waits has not begun
                turn = datetime.fromisoformat(time_of_turn).replace(tzinfo=UTC)
                turns.append(turn.timestamp())
    return turns


def jobs_since(database: Path, first: int) -> list[tuple[str, str, str | None, str | None]]:
    """Return of each job after the first its task and when it was created, began and ended."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute(
            "SELECT task, created_at, started_at, finished_at FROM core_job WHERE id > ?", [first]
        ).fetchall()


def press(path: str, name: str) -> Callable[[Page], None]:
    """Return what opens a page and presses a button there."""

    def open_and_press(page: Page) -> None:
        page.goto(path)
        page.get_by_role("button", name=name, exact=True).first.click()
        page.wait_for_load_state()

    return open_and_press


def crawl(page: Page) -> None:
    """Ask for a crawl of a few pages."""
    page.goto(f"{SHOP}/crawl/")
    page.get_by_label("Pages at most").first.fill("12")
    page.get_by_role("button", name="Crawl", exact=True).click()
    page.wait_for_load_state()


JOBS: Final = (
    Begun(
        "extract records",
        "rules.extract_records",
        press(f"{SHOP}/records/", "Extract records"),
        [f"{SHOP}/records/", f"{SHOP}/", f"{SHOP}/rules/", "/sites/", "/operations/jobs/"],
    ),
    Begun(
        "check",
        "monitoring.run_checks",
        press(f"{SHOP}/monitoring/", "Check now"),
        [f"{SHOP}/monitoring/", "/monitoring/", f"{SHOP}/", f"{SHOP}/stream/", "/sites/"],
    ),
    Begun(
        "learn rules",
        "rules.learn_rules",
        press(f"{SHOP}/rules/", "Learn rules"),
        [f"{SHOP}/rules/", f"{SHOP}/rules/product/", "/review/", "/annotate/"],
    ),
    Begun(
        "crawl",
        "clustering.crawl_site",
        crawl,
        [f"{SHOP}/pages/", f"{SHOP}/", f"{SHOP}/crawl-picture/", "/operations/hosts/", "/sites/"],
    ),
    Begun(
        "cluster",
        "clustering.cluster_site",
        press(f"{SHOP}/cluster/", "Cluster pages"),
        [
            f"{SHOP}/clusters/",
            f"{SHOP}/clusters/product/",
            f"{SHOP}/clusterings/",
            f"{SHOP}/",
            "/annotate/",
        ],
    ),
)
