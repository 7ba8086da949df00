"""How many pages' records a ranker finds without a teacher and without a page of their sources."""

from __future__ import annotations

import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks import train_urest
from benchmarks.records import labelled, mdr, omini, published
from benchmarks.records.scoring import GOOD, f_score
from benchmarks.report import markdown_table
from benchmarks.train_urest import Measured
from clustering.algorithms.published.urest import (
    LinearMargin,
    cluster_subtrees,
    decompose,
    largest_coverage,
    psi_features,
)
from clustering.algorithms.records.finding import find_records
from clustering.algorithms.records.page_model import Region
from clustering.algorithms.records.ranker import Ranker
from clustering.dom.page import parse_page

TITLE = "Records without a teacher"
N_FOLDS = 20 if os.environ.get("VERTEX_FULL") else 4
Figures = dict[str, dict[str, list[float]]]  # kind -> algorithm -> F of each page

EXPLAINED = """Share of pages with F of at least 0.75, and mean F. Sources (a site, a search engine,
an edition of a demo site) are dealt to folds; all that is trained is trained without the fold that
it judges. A record of the test bed, the listings and the demo lists is right where its text
overlaps the true one by 0.8; of the other pages it must hold the whole core (title and snippet;
first field to last) of one true record and of no other. The ceiling takes the best candidate."""


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    measured = [train_urest.measure(page) for page in labelled.read_all(data)]
    pages = [page for page in measured if page.candidates]
    figures: Figures = defaultdict(lambda: defaultdict(list))
    n_false, n_empty = 0, 0
    for fold in range(N_FOLDS):
        seen, judged = dealt(pages, fold)
        ranker, (phi, psi) = train_urest.train(seen), published.train(seen)
        for each in judged:
            if each.labelled.kind == train_urest.NO_LIST:
                n_empty += 1
                n_false += bool(first_of(each, ranker))
            else:
                judge(each, ranker, phi, psi, figures[each.labelled.kind])
    result = f"Of {n_empty} pages without a list, {n_empty - n_false} are told to have none."
    left_out = (
        ""
        if data
        else "Only the demo lists were there; name a folder of labelled pages with --data.\n\n"
    )
    return "\n\n".join([EXPLAINED, left_out + table(figures), result, times(pages)])


def dealt(pages: Sequence[Measured], fold: int) -> tuple[list[Measured], list[Measured]]:
    """Return pages to learn from and to judge; a demo site's empty pages go with its lists."""
    kind_of = {train_urest.NO_LIST: "demo lists"}
    keys = [
        (kind_of.get(page.labelled.kind, page.labelled.kind), page.labelled.source)
        for page in pages
    ]
    number_by_key: dict[tuple[str, str], int] = {}
    n_by_kind: dict[str, int] = defaultdict(int)
    for key in sorted(set(keys)):
        number_by_key[key] = n_by_kind[key[0]]
        n_by_kind[key[0]] += 1
    seen = [
        page for page, key in zip(pages, keys, strict=True) if number_by_key[key] % N_FOLDS != fold
    ]
    judged = [
        page for page, key in zip(pages, keys, strict=True) if number_by_key[key] % N_FOLDS == fold
    ]
    return seen, judged


def first_of(page: Measured, ranker: Ranker) -> Sequence[Region]:
    """Return the best list, nothing where the ranker finds none."""
    looked_at = page.completed(ranker.quick)
    scores = train_urest.scores_of(ranker.full, looked_at.rows)
    best = int(scores.argmax())
    return looked_at.kept[best].regions if scores[best] >= ranker.least else ()


def judge(
    page: Measured,
    ranker: Ranker,
    phi: LinearMargin,
    psi: LinearMargin,
    f_by_name: dict[str, list[float]],
) -> None:
    """Add the F of each algorithm on a page."""

    def score(regions: Sequence[Region]) -> float:
        return f_score(page.labelled.truth, [page.page.interval(region) for region in regions])

    clusters = cluster_subtrees(decompose(page.page), phi)
    published_best = max(
        clusters, key=lambda cluster: psi.margin(psi_features(page.page, cluster)), default=[]
    )
    result: dict[str, Callable[[], Sequence[Region]]] = {
        "Vertex (default)": partial(first_of, page, ranker),
        "U-REST as published": lambda: [(element, element) for element in published_best],
        "Omini-like": partial(omini.extract_objects, page.page),
        "MDR-like": partial(mdr.extract_region, page.page),
        "coverage baseline": lambda: [
            (element, element) for element in largest_coverage(page.page, clusters)
        ],
    }
    for name, find in result.items():
        f_by_name[name].append(score(find()))
    f_by_name["ceiling of the candidates"].append(max(page.right))


def table(figures: Figures) -> str:
    """Return a row an algorithm, two columns a kind of page."""
    kinds = list(figures)
    names = list(next(iter(figures.values())))
    head = ["algorithm", *[f"{kind} ({len(figures[kind][names[0]])})" for kind in kinds]]
    rows = [
        [
            name,
            *[
                f"{share_good(figures[kind][name]):.3f} / "
                f"{statistics.mean(figures[kind][name]):.3f}"
                for kind in kinds
            ],
        ]
        for name in names
    ]
    return markdown_table(head, rows)


def share_good(scores: Sequence[float]) -> float:
    return sum(score >= GOOD for score in scores) / len(scores)


def times(pages: Sequence[Measured]) -> str:
    """Return what finding records costs: a page of 100 records, and the slowest page of all."""
    page = b"<ul>" + b"".join(ROW % ((n,) * 5) for n in range(100)) + b"</ul>"
    rows = [["100 records", f"{len(page) / 1000:.0f} KB", f"{seconds(page):.2f}"]]
    bodies = sorted({one.labelled.body for one in pages}, key=len)[-20:]
    slowest = max(((seconds(body), len(body)) for body in bodies), default=(0.0, 0))
    rows.append(
        ["the slowest of the 20 largest", f"{slowest[1] / 1000:.0f} KB", f"{slowest[0]:.2f}"]
    )
    table_page = (
        b"<table>"
        + b"".join(
            b"<tr><td>%d<td><a href=/%d>name %d</a><td>x" % (n, n, n) for n in range(110_000)
        )
        + b"</table>"
    )
    rows.append(
        [
            "a table of 110,000 rows",
            f"{len(table_page) / 1000:.0f} KB",
            f"{seconds(table_page):.2f}",
        ]
    )
    return markdown_table(["page", "size", "CPU seconds from the parsed tree"], rows)


ROW = (
    b"<li class=result><div class=head><h3><a href=/item/%d>The name of thing %d</a></h3>"
    b"<span class=price>$ %d.00</span></div><p class=text>"
    + b"Some words that tell what it is. " * 20
    + b"</p><ul class=more><li>colour %d<li>size %d</ul>"
)


def seconds(body: bytes) -> float:
    tree = parse_page(body).tree
    if tree is None:
        return 0.0
    started = time.process_time()
    find_records(tree)
    return time.process_time() - started
