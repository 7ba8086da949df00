"""How fast a site is crawled, what a hanging host costs the others, and what hostile hosts get out of it.

`python -m benchmarks.fetching` prints the figures; the server of the crawled pages is a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.report import markdown_table
from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.fetching.refusals import FetchRefused
from tests.apps.clustering.fake_host import canary
from tests.apps.clustering.fetching.test_decoding import ALL_BOMBS, BOMB
from tests.apps.clustering.fetching.test_guard import SPELLINGS

TITLE = "Fetching"
ROOT = Path(__file__).resolve().parent.parent
N_PAGES = 1000
N_HOSTS = 5
N_PAGES_OF_A_HOST = 400
HANGING = "127.0.0.5"
N_ROUNDS = 3


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    rows: list[list[object]] = [
        [
            "Pages a second, site of 1,000 pages of 10 KB, no delay, SQLite",
            f"{crawl_speed():.0f}",
            "≥ 100",
        ],
        ["Speed kept by four hosts while a fifth hangs", f"{kept_speed():.0%}", "≥ 90 %"],
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
        speeds = [speed_of(crawl(f"http://127.0.0.1:{port}/flat/0")) for _ in range(N_ROUNDS)]
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


def speed_of(times: list[float]) -> float:
    return (len(times) - 1) / (times[-1] - times[0])


def crawl(entry: str, extra_hosts: list[str] | None = None, n_lines: int = N_PAGES) -> list[float]:
    """Crawl with the command and return when each line came; a crawl that goes on after them is ended."""
    with tempfile.TemporaryDirectory(prefix="vertex-benchmark-") as folder:
        environ = {**os.environ, "VERTEX_VAR": folder, "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8"}
        environ.pop("DATABASE_URL", None)
        manage = [sys.executable, "manage.py"]
        subprocess.run([*manage, "migrate", "-v0"], cwd=ROOT, env=environ, check=True)
        subprocess.run(
            [*manage, "shell", "-v0", "-c", new_site(entry, extra_hosts)],
            cwd=ROOT,
            env=environ,
            check=True,
        )
        command = [*manage, "crawl_site", "site", "--delay", "0", "--entry", entry]
        with subprocess.Popen(
            command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
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


# Serving


@contextmanager
def serving() -> Iterator[int]:
    """Run the pages' server as a process of its own and yield its port."""
    command = [sys.executable, "-m", "benchmarks.fetching", "serve"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def serve() -> None:
    """Answer on all five hosts until ended."""
    first = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = first.sockets[0].getsockname()[1]
    for number in range(2, N_HOSTS + 1):
        await asyncio.start_server(answer, f"127.0.0.{number}", port)
    print(port, flush=True)
    await first.serve_forever()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    host, port = writer.get_extra_info("sockname")
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            path = line.split()[1].decode()
            if host == HANGING:
                await asyncio.sleep(3600)
            body = page_at(path, host, port)
            status = "200 OK" if body else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def page_at(path: str, host: str, port: int) -> bytes:
    """Return a page of one host's 1,000 (`/flat/N`), or of the 400 of each of several (`/hosts/H/N`)."""
    *words, last = path.strip("/").split("/")
    if not last.isdigit():
        return b""
    number = int(last)
    n_pages = N_PAGES if words == ["flat"] else N_PAGES_OF_A_HOST
    folder = "/".join(words)
    links = [f"/{folder}/{each}" for each in range(10 * number + 1, min(10 * number + 11, n_pages))]
    links += [f"/{folder}/{each}" for each in range(1, 31)]
    if words[0] == "hosts" and number == 0 and host == "127.0.0.1":
        links = [
            f"http://127.0.0.{each}:{port}/{folder}/0" for each in range(2, int(words[1]) + 1)
        ] + links
    menu = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    text = "".join(
        f"<div class=t><p>Line {line} of page {number}: some words, as pages have.</p></div>"
        for line in range(120)
    )
    return f"<!doctype html><title>{number}</title><body><ul>{menu}</ul><h1>Page {number}</h1>{text}".encode()


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
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        print(run(None))
