"""Which pages are drawn for annotation: Table I of the Vertex paper, and how long it takes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from annotation.algorithms.sampling import (
    SeenPage,
    draw,
    greedy,
    measure,
    observe,
    random_sample,
    weighted_greedy,
)
from benchmarks.report import markdown_table
from clustering.dom.page import parse_page
from vertex.demo import sites

TITLE = "Sampling"
SEEDS = 20
MIN_PAGES, MAX_PAGES = 20, 400  # of a cluster; the paper samples from 400
N_LARGE = 5_000
PAPER = {"random": (276.2, 61), "greedy": (24.1, 64), "weighted": (28.2, 68)}
PAPER_TOTAL = 69


class AnnotatedCluster(NamedTuple):
    """Pages of one template, and which attributes each of them shows."""

    name: str
    pages: list[SeenPage]
    shown: list[frozenset[str]]

    @property
    def attributes(self) -> frozenset[str]:
        return frozenset().union(*self.shown)


class Figures(NamedTuple):
    n_to_cover: float
    n_shown_first: float


def run(data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    clusters = [*_demo_clusters(), *(_swde_clusters(data) if data else [])]
    n_attributes = sum(len(cluster.attributes) for cluster in clusters)
    rows: list[list[object]] = []
    for scheme, (pages, attributes) in PAPER.items():
        found = [_figures(scheme, cluster) for cluster in clusters]
        n_pages = mean(figures.n_to_cover for figures in found)
        n_shown = sum(figures.n_shown_first for figures in found)
        rows.append(
            [
                scheme,
                f"{n_pages:.1f}",
                f"{n_shown:.1f} of {n_attributes}",
                pages,
                f"{attributes} of {PAPER_TOTAL}",
            ]
        )
    labelled = [
        weighted_greedy(measure(one.pages, prefer_unseen=True), len(one.pages)) for one in clusters
    ]
    firsts = sum(
        len(one.shown[drawn[0].page]) for one, drawn in zip(clusters, labelled, strict=True)
    )
    covered = f"{mean(map(len, labelled)):.1f}"
    rows.append(["weighted, `--prefer-unseen`", covered, f"{firsts} of {n_attributes}", "", ""])
    header = [
        "scheme",
        "pages to cover all XPaths",
        "attributes on the first page",
        "paper: pages",
        "attributes",
    ]
    sizes = ", ".join(f"{cluster.name} {len(cluster.pages)}" for cluster in clusters)
    left_out = "" if data else " The SWDE sites are left out: no folder of data was given."
    return (
        f"{len(clusters)} clusters (pages: {sizes}), at most {MAX_PAGES} pages each; "
        "random is the mean of "
        f"{SEEDS} orders. The paper has 10 sites of 400 pages; "
        "how fine its XPaths are it does not say. "
        "Here they are tags without positions, and with `--prefer-unseen` labels and "
        "classes as well."
        f"{left_out}\n\n{markdown_table(header, rows)}\n\n"
        f"{_missed(clusters)}\n\n{_speed()}"
    )


def _figures(scheme: str, cluster: AnnotatedCluster) -> Figures:
    incidence = measure(cluster.pages)
    n = len(cluster.pages)
    if scheme == "random":
        samples = [random_sample(incidence, n, seed=seed) for seed in range(SEEDS)]
    else:
        samples = [(greedy if scheme == "greedy" else weighted_greedy)(incidence, n)]
    firsts = [len(cluster.shown[sample[0].page]) for sample in samples]
    return Figures(mean(map(len, samples)), mean(firsts))


def _missed(clusters: list[AnnotatedCluster]) -> str:
    """Return how many attributes the first pages show, drawn plainly and by unseen labels first."""
    rows = []
    for k in (1, 2, 3, 5):
        seen = []
        for prefers in (False, True):
            drawn = [
                frozenset().union(
                    *(
                        cluster.shown[p]
                        for p, _ in draw(cluster.pages, size=k, prefer_unseen=prefers)
                    )
                )
                for cluster in clusters
            ]
            seen.append(sum(map(len, drawn)))
        rows.append([k, *seen])
    total = sum(len(cluster.attributes) for cluster in clusters)
    table = markdown_table(["pages drawn", "weighted", "with `--prefer-unseen`"], rows)
    return f"Attributes that the first pages show together, of {total}:\n\n{table}"


def _speed() -> str:
    numbers = np.random.default_rng(3)
    pages = []
    for _ in range(N_LARGE):
        paths = numbers.choice(600, 150, replace=False).astype(np.uint64)
        owners = numbers.integers(0, 150, 400).astype(np.uint32)
        contents = numbers.integers(0, 2**60, 400).astype(np.uint64)
        pages.append(SeenPage(paths, contents, owners, paths[:0]))
    began = time.process_time()
    draw(pages)
    seconds = time.process_time() - began
    return (
        f"20 of {N_LARGE:,} pages of 150 XPaths and 400 texts are drawn in "
        f"{seconds:.2f} s (bar: 1 s)."
    )


def _demo_clusters() -> Iterable[AnnotatedCluster]:
    for name in sites.NAMES:
        pages_by_type = defaultdict(list)
        for page in sites.load(name, "1").pages.values():
            if page.values and page.status == 200:
                pages_by_type[page.type].append(page)
        for kind, pages in pages_by_type.items():
            if len(pages) >= MIN_PAGES:
                remaining = pages[:MAX_PAGES]
                yield AnnotatedCluster(
                    f"{name} {kind}",
                    [observe(parse_page(page.body, page.content_type).tree) for page in remaining],
                    [
                        frozenset(a for a, value in page.values.items() if value is not None)
                        for page in remaining
                    ],
                )


def _swde_clusters(data: Path) -> Iterable[AnnotatedCluster]:
    for truth in sorted((data / "swde" / "groundtruth").glob("*")):
        for folder in sorted((data / "swde" / truth.name).glob("*")):
            site = folder.name.partition("(")[0]
            shown = defaultdict(set)
            for file in truth.glob(f"{site}-*.txt"):
                attribute = file.stem.removeprefix(f"{site}-")
                for line in file.read_text("utf-8-sig").splitlines()[2:]:
                    number, _, *values = line.split("\t")
                    if values and values[0] != "<NULL>":
                        shown[number].add(attribute)
            files = sorted(folder.glob("*.htm"))[:MAX_PAGES]
            yield AnnotatedCluster(
                site,
                [observe(parse_page(file.read_bytes()).tree) for file in files],
                [frozenset(shown[file.stem]) for file in files],
            )
