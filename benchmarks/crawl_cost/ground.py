"""What crawls are measured on: own installations, and a server of made pages on all of loopback."""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from benchmarks.hostile.pages import KINDS

ROOT = Path(__file__).resolve().parents[2]
N_PAGES = 1000  # of a site
N_PAGES_OF_A_HOST = 400  # of a site of several hosts
N_LINKS = 40
N_PARAGRAPHS = 80  # 8 KB
HANGING = "127.0.0.5"  # it never answers
# These answer for robots.txt, and their first page leads to as many pages as others have.
DRIPPING, BOMBING, HOSTILE = "127.0.0.6", "127.0.0.7", "127.0.0.8"
DRIP_SECONDS = 0.05
HOSTILE_BYTES = 3_000_000  # of each of the pages that are made to cost much
BOMB_BYTES = 256 * 1024 * 1024


@contextmanager
def installation(checkout: Path = ROOT, database_url: str = "") -> Iterator[dict[str, str]]:
    """Yield the environment of a new migrated installation, on SQLite or a given empty database."""
    folder = tempfile.mkdtemp(prefix="vertex-benchmark-")
    environ = {**os.environ, "VERTEX_VAR": folder, "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8"}
    environ["DATABASE_URL"] = database_url
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
    """Run the pages' server in an own process, on all addresses of loopback; yield its port."""
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
    host, port = writer.get_extra_info("sockname")
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            path = line.split()[1].decode()
            if host == HANGING:
                await asyncio.sleep(3600)
            if host == DRIPPING and path != "/robots.txt":
                await drip(writer)
            body, encoding = page_at(path, host, port), ""
            if body and path != "/0" and host == BOMBING:
                body, encoding = bomb(), "Content-Encoding: gzip\r\n"
            elif body and path != "/0" and host == HOSTILE:
                body = hostile_page(int(path.rpartition("/")[2]))
            status = "200 OK" if body else "404 Not Found"
            head = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{encoding}Content-Length: "
                f"{len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def drip(writer: asyncio.StreamWriter) -> None:
    """Answer a byte at a time, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(DRIP_SECONDS)


@cache
def bomb() -> bytes:
    """Return a body that says that it is packed, and is far larger than a page may be."""
    return gzip.compress(bytes(BOMB_BYTES))


@cache
def hostile_page(number: int) -> bytes:
    """Return a page that is made to cost much; higher numbers go through the kinds again."""
    kinds = sorted(KINDS)
    return KINDS[kinds[number % len(kinds)]](HOSTILE_BYTES)


def page_at(path: str, host: str, port: int) -> bytes:
    """Return a page of a host's 1,000 (`/N`), or of the 400 of one of several hosts (`/hosts/H/N`).

    Each leads to ten pages below it, and has the same menu as all others of its site; the first of
    several hosts leads to the others.
    """
    *words, last = path.strip("/").split("/")
    if not last.isdigit():
        return b""
    number = int(last)
    n_pages = N_PAGES_OF_A_HOST if words else N_PAGES
    folder = "".join(f"/{word}" for word in words)
    below = range(10 * number + 1, min(10 * number + 11, n_pages))
    numbers = [*below, *range(1, N_LINKS - len(below) + 1)]
    links = [f"{folder}/{each}" for each in numbers]
    if words and number == 0 and host == "127.0.0.1":
        links += [f"http://127.0.0.{each}:{port}{folder}/0" for each in range(2, int(words[1]) + 1)]
    menu = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    text = "".join(
        f"<div class=t><p>Line {line} of page {number} of {host}: some words, "
        "as pages have.</p></div>"
        for line in range(N_PARAGRAPHS)
    )
    body = f"<body><ul>{menu}</ul><h1>{number}</h1>{text}"
    return f"<!doctype html><title>{number}</title>{body}".encode()
