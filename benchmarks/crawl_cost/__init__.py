"""What a crawled page costs in processor time: one site as fast as it goes, and many politely in one process.

`python -m benchmarks.crawl_cost` prints both. With `--against FOLDER`, another checkout of the product, the one
site is crawled by both in turns, and the ratio is printed: figures of one machine at two times say little.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.report import markdown_table

TITLE = "Cost of crawling"
ROOT = Path(__file__).resolve().parents[2]
N_PAGES = 1000
N_LINKS = 40
N_PARAGRAPHS = 80  # 8 KB
N_ROUNDS = 3
SITES_PER_NETWORK = 200  # 127.1.0.1, 127.1.0.2, …
MAX_RATIO = 1.2


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run of the product took."""

    n_pages: int
    seconds: float
    processor_seconds: float
    megabytes: float = 0.0

    @property
    def milliseconds_a_page(self) -> float:
        return 1000 * self.processor_seconds / self.n_pages


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    with serving() as port:
        alone = min((one_site(ROOT, port) for _ in range(N_ROUNDS)), key=processor_seconds)
        many = many_sites(port, n_sites=100, delay=5.0, seconds=60.0)
    rows = [
        row_of("one site, no delay", alone),
        row_of("100 sites, 5 s between two requests, one process", many),
    ]
    return markdown_table(["crawl", "ms of processor a page", "pages a second", "MB"], rows)


def processor_seconds(cost: Cost) -> float:
    return cost.processor_seconds


def row_of(name: str, cost: Cost) -> list[object]:
    return [
        name,
        f"{cost.milliseconds_a_page:.2f}",
        f"{cost.n_pages / cost.seconds:.1f}",
        f"{cost.megabytes:.0f}",
    ]


def compare(other: Path) -> str:
    """Crawl one site by two checkouts in turns; return the best of each and the ratio."""
    with serving() as port:
        rounds = [(one_site(other, port), one_site(ROOT, port)) for _ in range(N_ROUNDS)]
    theirs = min((each for each, _ in rounds), key=processor_seconds)
    ours = min((each for _, each in rounds), key=processor_seconds)
    ratio = ours.milliseconds_a_page / theirs.milliseconds_a_page
    table = markdown_table(
        ["one site, no delay", "ms of processor a page", "pages a second", "MB"],
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


def many_sites(port: int, *, n_sites: int, delay: float, seconds: float) -> Cost:
    """Crawl many sites in one process for some time; return what it took once all were begun."""
    with installation(ROOT) as environ:
        manage(ROOT, environ, "shell", "-v0", "-c", new_crawls(port, n_sites, delay))
        process = subprocess.Popen(
            [sys.executable, "manage.py", "fetch"], cwd=ROOT, env=environ, stdout=sys.stderr
        )
        try:
            wait_for_pages(environ, at_least=n_sites)
            watched = psutil.Process(process.pid)
            n_before, begun, before = n_stored(environ), time.monotonic(), watched.cpu_times()
            time.sleep(seconds)
            n_after, ended, after = n_stored(environ), time.monotonic(), watched.cpu_times()
            megabytes = watched.memory_info().rss / 2**20
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
    used = after.user + after.system - before.user - before.system
    return Cost(n_after - n_before, ended - begun, used, megabytes)


def new_crawls(port: int, n_sites: int, delay: float) -> str:
    return (
        "from clustering.services.crawl.crawling import crawl_request\n"
        "from vertex.core.models import Site\n"
        "from vertex.core.services.jobs.requests import enqueue\n"
        f"for n in range({n_sites}):\n"
        f"    url = f'http://127.1.{{n // {SITES_PER_NETWORK}}}.{{n % {SITES_PER_NETWORK} + 1}}:{port}/0'\n"
        f"    site = Site.objects.create(name=f'site-{{n}}', root_url=url, crawl_delay={delay})\n"
        "    enqueue(crawl_request(site=site))\n"
    )


def wait_for_pages(environ: dict[str, str], at_least: int) -> None:
    while n_stored(environ) < at_least:
        time.sleep(1.0)


def n_stored(environ: dict[str, str]) -> int:
    code = "from clustering.models import Snapshot; print(Snapshot.objects.count())"
    return int(manage(ROOT, environ, "shell", "-v0", "-c", code))


# An installation and its server


@contextmanager
def installation(checkout: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a migrated installation of its own."""
    folder = tempfile.mkdtemp(prefix="vertex-benchmark-")
    environ = {**os.environ, "VERTEX_VAR": folder, "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8"}
    environ.pop("DATABASE_URL", None)
    try:
        manage(checkout, environ, "migrate", "-v0")
        yield environ
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def manage(checkout: Path, environ: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=checkout, env=environ, check=True, capture_output=True, text=True
    ).stdout


@contextmanager
def serving() -> Iterator[int]:
    """Run the pages' server as a process of its own, on all addresses of loopback; yield its port."""
    command = [sys.executable, "-m", "benchmarks.crawl_cost", "--serve"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def serve() -> None:
    """Answer until ended."""
    server = await asyncio.start_server(answer, "0.0.0.0", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    host = writer.get_extra_info("sockname")[0]
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            last = line.split()[1].decode().strip("/")
            body = page_at(int(last), host) if last.isdigit() else b""
            status = "200 OK" if body else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def page_at(number: int, host: str) -> bytes:
    """Return a page of a host's 1,000: ten pages below it, and the same menu as all others."""
    below = range(10 * number + 1, min(10 * number + 11, N_PAGES))
    numbers = [*below, *range(1, N_LINKS - len(below) + 1)]
    menu = "".join(f'<li><a href="/{each}">to {each}</a></li>' for each in numbers)
    text = "".join(
        f"<div class=t><p>Line {line} of page {number} of {host}: some words, as pages have.</p></div>"
        for line in range(N_PARAGRAPHS)
    )
    return f"<!doctype html><title>{number}</title><body><ul>{menu}</ul><h1>{number}</h1>{text}".encode()
