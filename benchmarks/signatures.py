"""What signatures, Algorithm 1 and the groups of UXClust cost, against the bars of each."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lxml.html import document_fromstring

from benchmarks.importing import page as made_page
from benchmarks.report import markdown_table
from clustering.algorithms.grouping import ClusteringInputs, SiteLink
from clustering.algorithms.published import shingles, uxclust
from clustering.dom.page import parse_page

TITLE = "Signatures"
N_PAGES, N_ROUNDS = 60, 5
N_VECTORS, N_TEMPLATES = (1_000_000 if os.environ.get("VERTEX_FULL") else 100_000), 40
N_LINKS, N_PLACES = 1_000_000, 500
SAMPLE_PAGE = b"<html><body><div class=a><p>x</p></div></body></html>"


def run(data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    rows = [
        [f"signature from bytes, {name}", *signature_cost(bodies)]
        for name, bodies in page_sets(data)
    ]
    rows.append([f"Algorithm 1 on {N_VECTORS:,} signatures", *algorithm_1()])
    rows.append([f"UXClust, {N_LINKS:,} links", *grouping_links()])
    return markdown_table(["what", "figure", "bar"], rows)


def page_sets(data: Path | None) -> list[tuple[str, list[bytes]]]:
    """Return pages made here, and real ones where there are any."""
    numbers = random.Random(1)
    sets = [("pages made here", [made_page(numbers, number).encode() for number in range(N_PAGES)])]
    if data is not None and (folder := data / "stackoverflow_pageclustering").is_dir():
        sets.append(
            ("real pages", [path.read_bytes() for path in sorted(folder.glob("*.html"))[:N_PAGES]])
        )
    return sets


def signature_cost(bodies: Sequence[bytes]) -> list[str]:
    """Compare the signature with lxml parsing the same bytes, taking turns over all pages."""
    rounds = [
        (milliseconds(document_fromstring, bodies), milliseconds(shingles.shingle_vector, bodies))
        for _ in range(N_ROUNDS)
    ]
    parse, signature = (min(times) / len(bodies) for times in zip(*rounds, strict=True))
    return [
        f"{signature / parse:.2f} x parse ({signature:.2f} of {parse:.2f} ms)",
        "<= 0.25 x parse",
    ]


def milliseconds(call: Callable[[bytes], object], bodies: Sequence[bytes]) -> float:
    """Return the processor time of a call for each of some pages."""
    began = time.process_time()
    for body in bodies:
        call(body)
    return (time.process_time() - began) * 1000


def quickest(call: Callable[..., Any], *arguments: object) -> float:
    """Return the milliseconds of processor time of a call."""
    began = time.process_time()
    call(*arguments)
    return (time.process_time() - began) * 1000


def algorithm_1() -> list[str]:
    """Compare the array form with the paper's procedure on the same signatures."""
    vectors = similar_vectors(np.random.default_rng(3))
    fast = quickest(shingles.cluster_vectors_fast, vectors, shingles.PRUNED_BELOW)
    plain = quickest(shingles.cluster_vectors, vectors.tolist(), shingles.PRUNED_BELOW)
    return [f"{plain / fast:.0f} x faster than the dictionary ({fast / 1000:.2f} s)", ">= 8 x"]


def similar_vectors(numbers: np.random.Generator) -> np.ndarray[Any, Any]:
    """Make signatures of several templates, some bytes of which vary."""
    templates = numbers.integers(0, 256, (N_TEMPLATES, 8), dtype=np.uint8)
    vectors = templates[numbers.integers(0, N_TEMPLATES, N_VECTORS)]
    varies = (
        numbers.random((N_VECTORS, 8)) < numbers.choice([0.0, 0.02, 0.1], N_VECTORS)[:, np.newaxis]
    )
    vectors = np.where(varies, numbers.integers(0, 2, (N_VECTORS, 8), dtype=np.uint8), vectors)
    packed: np.ndarray[Any, Any] = vectors.astype(np.uint8).view(">u8").ravel().astype(np.uint64)
    return packed


def grouping_links() -> list[str]:
    """Group and merge the targets of a million links."""
    links = [
        SiteLink("/", f"/html/body/div[{number % N_PLACES}]/a", f"/page/{number}")
        for number in range(N_LINKS)
    ]
    urls = [link.target for link in links]
    tree = parse_page(SAMPLE_PAGE).tree
    evidence = ClusteringInputs(links=links, read=lambda _url: tree)
    result = quickest(uxclust.cluster_pages, urls, [None] * len(urls), evidence)
    return [
        f"{result / 1000:.2f} s of processor time to group and merge",
        "< 2 s (paper: 235 s, all included)",
    ]
