"""How fast a site is crawled, what a hanging host costs the others, what hostile hosts gain.

`python -m benchmarks.fetching` prints the figures; what it measures on is that of `crawl_cost`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.crawl_cost.ground import (
    BOMBING,
    DRIPPING,
    HANGING,
    HOSTILE,
    N_PAGES,
    N_PAGES_OF_A_HOST,
    ROOT,
    installation,
    manage,
    serving,
)
from benchmarks.hostile.pages import KINDS
from benchmarks.report import markdown_table
from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.fetching.refusals import FetchRefused
from tests.apps.clustering.fake_host import canary
from tests.apps.clustering.fetching.test_decompressing import ALL_BOMBS, BOMB
from tests.apps.clustering.fetching.test_guard import SPELLINGS

TITLE = "Fetching"
N_HOSTS = 5
N_ROUNDS = 3
N_GOOD, PAUSE = 20, 0.5  # sites beside hostile ones, seconds between two requests
SECONDS = 60.0  # of a crawl beside them
NEIGHBOURS = (
    f"Time between two pages of {N_GOOD} sites, asked every {PAUSE:g} s: "
    "p95 beside a site that hangs, one that "
    "drips, one of bombs and one of hostile pages, against without them"
)


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    rows: list[list[object]] = [
        [
            "Pages a second, site of 1,000 pages of 8 KB, no delay, SQLite",
            f"{crawl_speed():.0f}",
            "≥ 100",
        ],
        ["Speed kept by four hosts while a fifth hangs", f"{kept_speed():.0%}", "≥ 90 %"],
        [NEIGHBOURS, f"{slowed_p95():.0%}", "≤ 110 %"],
        [f"Connections to a canary, {len(SPELLINGS)} spellings of its address", n_reached(()), "0"],
        [
            "… with its network allowed (positive control)",
            n_reached(("127.0.0.0/8", "::1/128")),
            "> 0",
        ],
        [
            f"Memory for a bomb of 256 MiB, worst of {len(ALL_BOMBS)}",
            f"{worst_bomb()} MiB",
            "< 64 MiB",
        ],
    ]
    return markdown_table(["measure", "figure", "bar"], rows)


# Crawling


def crawl_speed() -> float:
    """Return pages a second, from the first line of the results to the last."""
    with serving() as port:
        speeds = [speed_of(crawl(f"http://127.0.0.1:{port}/0")) for _ in range(N_ROUNDS)]
    return max(speeds)


def kept_speed() -> float:
    """Return how fast four hosts are crawled beside a hanging one, compared with the four alone."""
    with serving() as port:
        alone = [f"127.0.0.{n}:{port}" for n in range(1, N_HOSTS)]
        ratios = []
        for _ in range(N_ROUNDS):
            calm = speed_of(
                crawl(f"http://127.0.0.1:{port}/hosts/4/0", alone, n_lines=4 * N_PAGES_OF_A_HOST)
            )
            five = [*alone, f"{HANGING}:{port}"]
            beside = crawl(
                f"http://127.0.0.1:{port}/hosts/5/0", five, n_lines=4 * N_PAGES_OF_A_HOST
            )
            ratios.append(speed_of(beside) / calm)
    return sorted(ratios)[N_ROUNDS // 2]


def slowed_p95() -> float:
    """Return the p95 of a site's times between pages beside hostile sites, over that without."""
    ratios = []
    with (
        serving() as port,
        serving() as other_port,
    ):  # what a hostile page costs its server counts for nobody
        good = [f"127.1.0.{number}:{port}" for number in range(1, N_GOOD + 1)]
        hostile = [f"{host}:{other_port}" for host in (HANGING, DRIPPING, BOMBING, HOSTILE)]
        for number in range(len(KINDS)):  # to make them costs more than to send them
            urlopen(f"http://{HOSTILE}:{other_port}/{number}").close()
        for _ in range(N_ROUNDS):
            calm = p95_of_gaps(good)
            ratios.append(p95_of_gaps(good, hostile) / calm)
    return sorted(ratios)[N_ROUNDS // 2]


def p95_of_gaps(good: Sequence[str], beside: Sequence[str] = ()) -> float:
    """Crawl sites in one process; return the p95 of the seconds between pages of a good site."""
    with installation() as environ:
        manage(ROOT, environ, "shell", "-v0", "-c", NEW_CRAWLS.format([*beside, *good], PAUSE))
        process = subprocess.Popen([sys.executable, "manage.py", "fetch"], cwd=ROOT, env=environ)
        time.sleep(SECONDS)
        process.terminate()
        process.wait()
        printed = manage(ROOT, environ, "shell", "-v0", "-c", PRINTING_GAPS)
    gaps = [float(gap) for host, gap in json.loads(printed) if host in good]
    assert len(gaps) > N_GOOD
    return sorted(gaps)[int(0.95 * len(gaps))]


NEW_CRAWLS = """
from clustering.services.crawl.crawling import crawl_request
from vertex.core.models import Site
from vertex.core.services.jobs.requests import enqueue
for number, host in enumerate({}):
    name, root = f"site-{{number}}", f"http://{{host}}/0"
    site = Site.objects.create(name=name, root_url=root, crawl_delay={})
    enqueue(crawl_request(site=site))
"""
PRINTING_GAPS = """
import json
from itertools import pairwise
from clustering.models import Snapshot
times = {}
rows = Snapshot.objects.order_by("fetched_at").values_list("page__url", "fetched_at")
for url, at in rows:
    times.setdefault(url.split("/")[2], []).append(at.timestamp())
print(json.dumps([[host, b - a] for host, of_host in times.items() for a, b in pairwise(of_host)]))
"""


def speed_of(times: list[float]) -> float:
    return (len(times) - 1) / (times[-1] - times[0])


def crawl(entry: str, extra_hosts: list[str] | None = None, n_lines: int = N_PAGES) -> list[float]:
    """Crawl by the command and return when each line came; end the crawl after `n_lines`."""
    with installation() as environ:
        manage(ROOT, environ, "shell", "-v0", "-c", new_site(entry, extra_hosts))
        command = [sys.executable, "manage.py", "crawl_site", "site", "--delay", "0"]
        with subprocess.Popen(
            [*command, "--entry", entry],
            cwd=ROOT,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            times = []
            for line in process.stdout:
                assert json.loads(line)["snapshot"] == "new"
                times.append(time.monotonic())
                if len(times) == n_lines:
                    process.terminate()
        return times


def new_site(entry: str, extra_hosts: list[str] | None) -> str:
    return (
        "from vertex.core.models import Site;"
        f"Site.objects.create(name='site', root_url={entry!r}, extra_hosts={extra_hosts or []!r})"
    )


# Hostile hosts


def n_reached(allowed: tuple[str, ...]) -> int:
    """Ask for every spelling of the canary's address and return how often it was reached."""
    with canary("127.0.0.1", "127.0.0.2", "::1") as bird:
        with Fetcher(Client("Vertex/benchmark", Guard(networks(allowed)))) as fetcher:
            for spelling in SPELLINGS:
                try:
                    fetcher.fetch(spelling.format(bird.port), seconds=5)
                except FetchRefused:
                    continue
        time.sleep(0.1)
    return bird.n_connections


def worst_bomb() -> int:
    """Return the MiB by which memory grew while the worst bomb was refused."""
    return max(memory_of(first, second) for first, second in ALL_BOMBS)


def memory_of(first: str, second: str) -> int:
    command: list[Any] = [sys.executable, "-c", BOMB, first, second]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    print(run(None))
