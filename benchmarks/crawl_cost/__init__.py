"""A crawled page's processor time: one site at full speed, and many politely in one process.

At the end of many, some crawls are cancelled one after the other, and the process is told to end.

`python -m benchmarks.crawl_cost` prints both. With `--against FOLDER`, another checkout of the
product, the one site is crawled by both in turns, and the ratio is printed: figures of one machine
at two times say little.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from benchmarks.crawl_cost.ground import ROOT, installation, manage, serving
from benchmarks.report import markdown_table
from tests.servers import own_postgres

TITLE = "Cost of crawling"
N_ROUNDS = 3
N_SITES, DELAY = 500, 5.0  # an ideal of 100 pages a second
SECONDS = 3_600.0 if os.environ.get("VERTEX_FULL") else 60.0
SITES_PER_NETWORK = 200  # 127.1.0.1, 127.1.0.2, …
MAX_RATIO = 1.2
N_LOOKS = 10  # at the memory of many sites
N_CANCELLED = 20
COLUMNS = (
    "crawl",
    "ms of processor a page",
    "pages a second",
    "MB",
    "MB after a tenth of the time",
    "s until a crawl is cancelled",
    "s until the process has ended",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run of the product took."""

    n_pages: int
    seconds: float
    processor_seconds: float
    megabytes: float = 0.0  # at most
    first_megabytes: float = 0.0  # after a tenth of the time
    cancel_seconds: float = 0.0  # at most
    end_seconds: float = 0.0

    @property
    def milliseconds_a_page(self) -> float:
        return 1000 * self.processor_seconds / self.n_pages


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    many = partial(many_sites, n_sites=N_SITES, delay=DELAY, seconds=SECONDS)
    with serving() as port:
        alone = min((one_site(ROOT, port) for _ in range(N_ROUNDS)), key=processor_seconds)
        on_sqlite = many(port)
        with own_postgres() as server:
            on_postgres = many(port, database_url=server.address)
    polite = f"{N_SITES} sites, {DELAY:g} s between two requests, one process"
    rows = [
        row_of("one site, no delay, SQLite", alone),
        row_of(f"{polite}, SQLite", on_sqlite),
        row_of(f"{polite}, PostgreSQL", on_postgres),
    ]
    watched = (
        f"The {N_SITES} sites were watched for {SECONDS:,.0f} seconds; "
        "MB are the most that was seen."
    )
    return f"{watched}\n\n{markdown_table(list(COLUMNS), rows)}"


def processor_seconds(cost: Cost) -> float:
    return cost.processor_seconds


def row_of(name: str, cost: Cost) -> list[object]:
    return [
        name,
        f"{cost.milliseconds_a_page:.2f}",
        f"{cost.n_pages / cost.seconds:.1f}",
        f"{cost.megabytes:.0f}",
        f"{cost.first_megabytes:.0f}" if cost.first_megabytes else "",
        f"{cost.cancel_seconds:.1f}" if cost.cancel_seconds else "",
        f"{cost.end_seconds:.1f}" if cost.end_seconds else "",
    ]


def compare(other: Path) -> str:
    """Crawl one site by two checkouts in turns; return the best of each and the ratio."""
    with serving() as port:
        rounds = [(one_site(other, port), one_site(ROOT, port)) for _ in range(N_ROUNDS)]
    theirs = min((each for each, _ in rounds), key=processor_seconds)
    ours = min((each for _, each in rounds), key=processor_seconds)
    ratio = ours.milliseconds_a_page / theirs.milliseconds_a_page
    table = markdown_table(
        ["one site, no delay", *COLUMNS[1:]],
        [row_of("other checkout", theirs), row_of("this one", ours)],
    )
    return f"{table}\n\nratio {ratio:.2f} (bar: {MAX_RATIO})"


# One site


def one_site(checkout: Path, port: int) -> Cost:
    """Crawl a site of 1,000 pages by the command of a checkout."""
    with installation(checkout) as environ:
        manage(checkout, environ, "add_site", "site", "--url", f"http://127.0.0.1:{port}/0")
        command = [sys.executable, "manage.py", "crawl_site", "site", "--delay", "0"]
        begun = time.monotonic()
        process = subprocess.Popen(
            [*command, "--entry", f"http://127.0.0.1:{port}/0"],
            cwd=checkout,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        n_pages = sum(json.loads(line)["snapshot"] == "new" for line in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        seconds = time.monotonic() - begun
    return Cost(n_pages, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


# Many sites


def many_sites(
    port: int, *, n_sites: int, delay: float, seconds: float, database_url: str = ""
) -> Cost:
    """Crawl many sites in one process for some time; return what it took once all were begun."""
    with installation(ROOT, database_url) as environ:
        manage(ROOT, environ, "shell", "-v0", "-c", new_crawls(port, n_sites, delay))
        process = subprocess.Popen(
            [sys.executable, "manage.py", "fetch"], cwd=ROOT, env=environ, stdout=sys.stderr
        )
        try:
            wait_for_pages(environ, at_least=n_sites)
            watched = psutil.Process(process.pid)
            n_before, begun, before = n_stored(environ), time.monotonic(), watched.cpu_times()
            megabytes = []
            for _ in range(N_LOOKS):
                time.sleep(seconds / N_LOOKS)
                megabytes.append(watched.memory_info().rss / 2**20)
            n_after, ended, after = n_stored(environ), time.monotonic(), watched.cpu_times()
            cancel_seconds = float(manage(ROOT, environ, "shell", "-v0", "-c", CANCELLING))
        finally:
            told_at = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait()
            end_seconds = time.monotonic() - told_at
        n_held = int(manage(ROOT, environ, "shell", "-v0", "-c", COUNTING_LEASES))
        assert n_held == 0, f"{n_held} jobs and hosts are leased by a process that has ended"
    used = after.user + after.system - before.user - before.system
    return Cost(
        n_after - n_before,
        ended - begun,
        used,
        max(megabytes),
        megabytes[0],
        cancel_seconds,
        end_seconds,
    )


# Prints the seconds until the slowest of some crawls was cancelled.
CANCELLING = f"""
import time
from vertex.core.models import Job
from vertex.core.services.jobs import jobs
seconds = []
for job in Job.objects.filter(state="running").order_by("pk")[:{N_CANCELLED}]:
    begun = time.monotonic()
    jobs.cancel_job(job=job, actor=None)
    while Job.objects.get(pk=job.pk).state == "running":
        time.sleep(0.02)
    seconds.append(time.monotonic() - begun)
print(max(seconds))
"""
COUNTING_LEASES = """
from clustering.models import Host
from vertex.core.models import Job
print(Host.objects.exclude(leased_by="").count() + Job.objects.filter(state="running").count())
"""


def new_crawls(port: int, n_sites: int, delay: float) -> str:
    return (
        "from clustering.services.crawl.crawling import crawl_request\n"
        "from vertex.core.models import Site\n"
        "from vertex.core.services.jobs.requests import enqueue\n"
        f"for n in range({n_sites}):\n"
        f"    url = f'http://127.1.{{n // {SITES_PER_NETWORK}}}.{{n % {SITES_PER_NETWORK} + "
        f"1}}:{port}/0'\n"
        f"    site = Site.objects.create(name=f'site-{{n}}', root_url=url, crawl_delay={delay})\n"
        "    enqueue(crawl_request(site=site))\n"
    )


def wait_for_pages(environ: dict[str, str], at_least: int) -> None:
    while n_stored(environ) < at_least:
        time.sleep(1.0)


def n_stored(environ: dict[str, str]) -> int:
    code = "from clustering.models import Snapshot; print(Snapshot.objects.count())"
    return int(manage(ROOT, environ, "shell", "-v0", "-c", code))
