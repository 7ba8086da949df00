"""How long KeyClus takes on a large site, how much memory, and what it keeps of a page."""

from __future__ import annotations

import json
import os
import pickle
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import importing
from benchmarks.report import markdown_table
from clustering.algorithms.grouping import Click, ClusteringInputs, RawPage
from clustering.algorithms.published.attributed_paths import PathPage, hash_step, hash_term
from clustering.algorithms.published.keyclus import CLUSTERER, assign, cluster_pages, observe
from clustering.dom.page import parse_page

TITLE = "KeyClus"
ROOT = Path(__file__).resolve().parent.parent
IS_FULL = bool(os.environ.get("VERTEX_FULL"))
N_PAGES = 20_000 if IS_FULL else 2_000
N_OBSERVED = 3_000 if IS_FULL else 150
N_PATHS, N_TYPES, N_PATHS_OF_PAGE, N_TERMS = 5_000, 20, 500, 600
MIB = 2**20


def run(data: Path | None = None) -> str:  # noqa: ARG001 - the pages are made here
    """Return the figures as a section in Markdown."""
    cluster, observed = (in_child(part) for part in ("cluster", "observe"))
    rows: list[list[object]] = [
        [
            f"cluster {N_PAGES:,} pages",
            f"{cluster['seconds']:.1f} s",
            f"{cluster['peak']:,.0f} MiB",
        ],
        [
            f"observe {N_OBSERVED:,} pages of 100 KB",
            (
                f"{observed['observe']:.1f} ms a page "
                f"({observed['observe'] / observed['parse']:.1f} x parse)"
            ),
            f"{observed['kept']:.1f} KB a page",
        ],
        ["assign a page by its paths", f"{observed['assign']:.2f} ms", "parse included"],
        ["assign a page by its bytes", f"{observed['assign_bytes']:.3f} ms", ""],
    ]
    return (
        f"{N_PATHS:,} paths in {N_TYPES} types, {N_PATHS_OF_PAGE} paths and "
        f"{N_TERMS} terms a page, "
        "a query for every fourth page. Bar for 20,000 pages: 60 s and 4 GB; "
        "for 3,000 observed pages 500 MB.\n\n" + markdown_table(["what", "time", "memory"], rows)
    )


def in_child(part: str) -> dict[str, float]:
    """Measure in a process of its own, whose memory is nobody else's."""
    child = [sys.executable, "-m", "benchmarks.keyclus", part]
    process = subprocess.run(child, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    figures: dict[str, float] = json.loads(process.stdout)
    return figures


def measure_clustering() -> dict[str, float]:
    pages, clicks = make_site(random.Random(7))
    urls = [f"/{number}" for number in range(len(pages))]
    began = time.perf_counter()
    grouping = cluster_pages(urls, pages, ClusteringInputs(clicks=clicks))
    seconds = time.perf_counter() - began
    assert len(grouping.groups) >= N_TYPES
    return {
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB,
    }


def make_site(chance: random.Random) -> tuple[list[PathPage], list[Click]]:
    """Make pages of several types: a frame, a title, and a choice of the type's paths."""
    steps = [f"div[@class='c{number}']" for number in range(N_PATHS)]
    root = hash_step(0, "html")
    paths = [hash_step(root, step) for step in steps]
    per_type = N_PATHS // N_TYPES * 3
    types = [chance.sample(range(N_PATHS), per_type) for _ in range(N_TYPES)]
    words = np.array([hash_term(f"w{number}") for number in range(20_000)], dtype=np.uint32)
    numbers = np.random.default_rng(7)
    pages, clicks = [], []
    for number in range(N_PAGES):
        of_type = types[number % N_TYPES]
        selection = [of_type[0], *chance.sample(of_type[1:], N_PATHS_OF_PAGE - 2)]
        terms = words[numbers.integers(0, len(words), N_TERMS)]
        own = [hash_term(f"name{number}"), hash_term("thing")]
        terms[:2] = own
        ends = np.sort(numbers.integers(2, N_TERMS, len(selection)))
        ends[0] = 2
        starts = np.concatenate([[0], ends[:-1]])
        spans = np.array(
            [
                (0, 0, N_TERMS),
                *zip(range(1, len(selection) + 1), starts.tolist(), ends.tolist(), strict=True),
            ]
        )
        pages.append(
            PathPage(
                paths=np.array([root, *(paths[place] for place in selection)], dtype=np.uint64),
                parents=np.array([-1] + [0] * len(selection), dtype=np.int32),
                depths=np.array([1] + [2] * len(selection), dtype=np.uint16),
                steps="\n".join(["html", *(steps[place] for place in selection)]),
                terms=terms,
                spans=spans[spans[:, 1] < spans[:, 2]].astype(np.int32),
                pagelets=np.array(
                    [(first, first + 20) for first in range(0, N_TERMS, 20)], dtype=np.int32
                ),
                shingles=numbers.integers(0, 10**9, N_TERMS // 20).astype(np.uint64),
                marks=np.sort(
                    np.array([paths[place] for place in selection[:150]], dtype=np.uint64)
                ),
            )
        )
        if number % 4 == 0:
            clicks.append(Click(f"name{number} thing", f"/{number}"))
    return pages, clicks


def measure_observing() -> dict[str, float]:
    numbers = random.Random(11)
    bodies = [importing.page(numbers, number).encode() for number in range(N_OBSERVED)]
    pages = [
        RawPage(f"http://bench.example/p/{number}", body) for number, body in enumerate(bodies)
    ]
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    remaining = []
    times = []
    for page in pages:
        parse_page(page.body)
        began = time.process_time()
        remaining.append(observe(RawPage(page.url, page.body)))
        times.append(time.process_time() - began)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base
    clicks = [Click(f"product {number}", page.url) for number, page in enumerate(pages)]
    model = cluster_pages(
        [page.url for page in pages], remaining, ClusteringInputs(clicks=clicks)
    ).model
    later = [RawPage(page.url, page.body) for page in pages[:100]]
    parse = statistics.median(timed(parse_page, page.body) for page in later)
    return {
        "parse": parse,
        "observe": statistics.median(times) * 1000 - parse,
        "kept": sum(len(pickle.dumps(page)) for page in remaining) / len(remaining) / 1000,
        "grown": grown / MIB,
        "assign": statistics.median(
            timed(lambda page: assign(model, observe(page), ""), RawPage(page.url, page.body))
            for page in later
        ),
        "assign_bytes": statistics.median(
            timed(CLUSTERER.find_group, model, page) for page in later
        ),
    }


def timed(call: Callable[..., Any], *arguments: object) -> float:
    """Return the milliseconds of a call."""
    began = time.process_time()
    call(*arguments)
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    print(json.dumps({"cluster": measure_clustering, "observe": measure_observing}[sys.argv[1]]()))
