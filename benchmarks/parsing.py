"""What a page costs from bytes to links, beside lxml parsing the same bytes, and hostile pages.

Run it with: python -m benchmarks.run parsing
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree
from lxml.html import HTMLParser

from benchmarks.importing import page as made_page
from benchmarks.report import markdown_table
from clustering.dom.links import find_links
from clustering.dom.page import MAX_BYTES, PageTooLarge, has_too_many_attributes, parse_page
from clustering.dom.paths import walk_paths

TITLE = "Parsing"
N_PAGES = 100
N_ROUNDS = 5
URL = "http://bench.example/products/1"
ATTRIBUTES = b" ".join(b"a%d" % number for number in range(1_000_000))
HOSTILE = {
    "100,000 nested elements": b"<div>" * 100_000,
    "1,000,000 attributes": b"<a " + ATTRIBUTES + b">",
    "1,000,000 attributes behind a script": b"<script>a<b c='</script><a " + ATTRIBUTES + b">",
    "50 MB": b"x" * 50 * 2**20,
    "10 MiB of NUL bytes": b"\0" * MAX_BYTES,
    "10 MiB of `<`": b"<" * MAX_BYTES,
    "10 MiB of `<a b='`": (b"<a b='" * MAX_BYTES)[:MAX_BYTES],
    "900,000 links": b"<a href=x>" * 900_000,
    "nothing": b"",
}


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    numbers = random.Random(1)
    sets = {"made here": [made_page(numbers, number).encode() for number in range(N_PAGES)]}
    if data:
        sets["real"] = real_pages(data)
    steps = [[name, len(bodies), *costs(bodies)] for name, bodies in sets.items()]
    header = [
        "pages",
        "number",
        "lxml alone, ms",
        "attribute scan",
        "parse_page",
        "find_links",
        "walk_paths",
    ]
    hostile: list[list[object]] = [[name, *outcome(body)] for name, body in HOSTILE.items()]
    return "\n\n".join(
        [
            (
                "Processor time of each step, as a multiple of lxml alone; "
                "`parse_page` includes the scan."
            ),
            markdown_table(header, steps),
            markdown_table(["hostile page", "ends as", "seconds"], hostile),
        ]
    )


def real_pages(data: Path) -> list[bytes]:
    """Return pages of 60 to 150 KB, the same ones in every run."""
    files = sorted(path for path in data.rglob("*.html") if 60_000 < path.stat().st_size < 150_000)
    random.Random(1).shuffle(files)
    return [path.read_bytes() for path in files[:N_PAGES]]


def costs(bodies: list[bytes]) -> list[object]:
    """Return the milliseconds that lxml takes for a page, then each step in times of that."""
    parsed = [parse_page(body).tree for body in bodies]
    trees = [tree for tree in parsed if tree is not None]
    steps: list[tuple[Callable[[Any], object], list[Any]]] = [
        (lambda body: etree.fromstring(body, HTMLParser(encoding="utf-8")), bodies),
        (has_too_many_attributes, bodies),
        (parse_page, bodies),
        (lambda tree: find_links(tree, URL), trees),
        (lambda tree: list(walk_paths(tree)), trees),
    ]
    rounds = [[seconds_of(step, pages) for step, pages in steps] for _ in range(N_ROUNDS)]
    parse, *others = (min(times) for times in zip(*rounds, strict=True))
    return [f"{parse * 1000 / len(bodies):.2f}", *(f"{other / parse:.2f}" for other in others)]


def seconds_of(step: Callable[[Any], object], pages: list[Any]) -> float:
    began = time.process_time()
    for page in pages:
        step(page)
    return time.process_time() - began


def outcome(body: bytes) -> tuple[str, str]:
    """Return what becomes of a page and how long it takes."""
    began = time.perf_counter()
    try:
        page = parse_page(body)
        result = page.problem or "stored"
        if page.tree is not None:
            result += f", {len(find_links(page.tree, URL)):,} links"
    except PageTooLarge:
        result = "too large"
    return result, f"{time.perf_counter() - began:.2f}"
