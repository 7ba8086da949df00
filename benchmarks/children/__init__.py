"""What it costs to read pages in limited children instead of in the process that asks.

Run it with: python -m benchmarks.run children
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.importing import page
from benchmarks.report import markdown_table
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.plain_messages import read_plain
from clustering.dom.links import read_links
from clustering.services.children.limits import LimitedChild
from clustering.services.clusters.observer_child import observe_batch, observe_bodies
from clustering.services.clusters.observer_processes import PAGES_PER_CALL
from clustering.services.pages.pages import MAX_PARSED_AT_ONCE
from vertex.demo import sites

TITLE = "Children"
N_PAGES = 100
N_ROUNDS = 5
INTRODUCTION = f"""{N_PAGES} made pages of about 100 KB, and four times as many of the demo sites,
of about 7 KB, are read in the process that asks and in a child, in turns, {N_ROUNDS} times each.
Seconds of processor time of both processes together, the median of the rounds, and the median of
the ratios of neighbouring rounds; the start of the child, once for 500 calls, stands by itself.
Wanted: at most 10 % more.
"""


class Work(NamedTuple):
    """What is done with pages, in the process that asks and in a child."""

    name: str
    pages_per_call: int
    here: Callable[[Sequence[RawPage]], object]
    there: Callable[[LimitedChild, Sequence[RawPage]], object]


def run(data: Path | None) -> str:  # noqa: ARG001 - every benchmark takes the folder of given pages; these are made here
    """Read pages here and there and return the figures."""
    numbers = random.Random(N_PAGES)
    large = [
        RawPage(f"http://bench.example/products/{number}", page(numbers, number).encode(), "")
        for number in range(N_PAGES)
    ]
    small = [
        RawPage(f"http://demo.example/{path}", demo_page.body, demo_page.content_type)
        for name in sites.NAMES
        for path, demo_page in sites.load(name).pages.items()
    ][: 4 * N_PAGES]
    rows = [
        [name, *compare(work, pages)]
        for name, pages in (("100 KB", large), ("7 KB", small))
        for work in WORKS
    ]
    heads = [
        "pages",
        "work",
        "pages a call",
        "here s",
        "in a child s",
        "more",
        "start of a child s",
    ]
    return f"{INTRODUCTION}\n{markdown_table(heads, rows)}\n"


def compare(work: Work, pages: Sequence[RawPage]) -> list[object]:
    """Return the row of one kind of work."""
    calls = [
        pages[start : start + work.pages_per_call]
        for start in range(0, len(pages), work.pages_per_call)
    ]
    here, there = [], []
    with LimitedChild() as child:
        before = _used(child)
        work.there(child, pages[:1])
        start = _used(child) - before
        work.here(pages[:1])
        for _ in range(N_ROUNDS):
            here.append(_timed(child, lambda: [work.here(_anew(call)) for call in calls]))
            there.append(_timed(child, lambda: [work.there(child, _anew(call)) for call in calls]))
    more = statistics.median(in_child / own for own, in_child in zip(here, there, strict=True)) - 1
    medians = statistics.median(here), statistics.median(there)
    return [
        work.name,
        work.pages_per_call,
        *(f"{m:.2f}" for m in medians),
        f"{more:+.1%}",
        f"{start:.2f}",
    ]


def _anew(pages: Sequence[RawPage]) -> list[RawPage]:
    """Return pages that were not parsed yet."""
    return [RawPage(page.url, page.body, page.content_type) for page in pages]


def _timed(child: LimitedChild, do: Callable[[], object]) -> float:
    before = _used(child)
    do()
    return _used(child) - before


def _used(child: LimitedChild) -> float:
    """Return the processor time of this process and the child so far."""
    of_child = 0.0
    if child.pid is not None:
        times = psutil.Process(child.pid).cpu_times()
        of_child = times.user + times.system
    return time.process_time() + of_child


def _observe_here(pages: Sequence[RawPage]) -> object:
    return observe_batch(None, {}, pages)


def _observe_there(child: LimitedChild, pages: Sequence[RawPage]) -> object:
    sizes = [(len(page.body), page.url, page.content_type) for page in pages]
    answer = child.call(observe_bodies, b"".join([page.body for page in pages]), sizes, None, {})
    return read_plain(answer)


def _read_links_here(pages: Sequence[RawPage]) -> object:
    sizes = [(len(page.body), page.content_type, page.url) for page in pages]
    return read_links(b"".join([page.body for page in pages]), sizes)


def _read_links_there(child: LimitedChild, pages: Sequence[RawPage]) -> object:
    sizes = [(len(page.body), page.content_type, page.url) for page in pages]
    return child.call(read_links, b"".join([page.body for page in pages]), sizes)


WORKS = (
    Work("links, at import", MAX_PARSED_AT_ONCE, _read_links_here, _read_links_there),
    Work("observing, for a clustering", PAGES_PER_CALL, _observe_here, _observe_there),
)
