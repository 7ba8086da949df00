"""U-REST's two tables: what its features of tree pairs are worth, and pages systems get right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from benchmarks.records import labelled, mdr, omini, published
from benchmarks.records.scoring import GOOD, f_score
from benchmarks.report import markdown_table
from benchmarks.train_urest import NO_LIST, Measured, measure
from benchmarks.urest_tables import single_features
from benchmarks.urest_tables.single_features import FeatureFigures, PagePairs
from clustering.algorithms.published.urest import (
    cluster_subtrees,
    decompose,
    largest_coverage,
    psi_features,
)
from clustering.algorithms.records.page_model import Region

TITLE = "The tables of U-REST"
PAPER_TABLE_1 = {
    "tree edit distance": FeatureFigures(0.985, 0.927, 0.950),
    "tree context": FeatureFigures(0.909, 0.667, 0.739),
    "parent, child, child (3-gram)": FeatureFigures(0.986, 0.397, 0.501),
    "2-gram": FeatureFigures(0.909, 0.341, 0.410),
    "1-gram": FeatureFigures(0.909, 0.270, 0.335),
}
UREST, OMINI, MDR = "U-REST", "Omini", "MDR"
BEST, BASELINE = "best possible", "baseline"
PAPER_TABLE_2 = {
    UREST: (29, 62),
    OMINI: (22, 62),
    MDR: (14, 54),
    BEST: (37, 62),
    BASELINE: (9, 62),
}
INTRODUCTION = """The pages of the paper are not published: these are others, and Omini and MDR are
our own readings of their papers."""
TABLE_1 = """## Table 1: features of pairs of subtrees

{n_pairs:,} pairs of subtrees of {n_pages} list pages, each of another source, whose records are
single elements. One of a pair is a record, the other any subtree with text; at most {max_pairs:,}
pairs a page, drawn by chance. In {share:.1%} of them both are records; the paper does not say how
many of its own are, and precision hangs on that. For each feature alone a linear SVM with balanced
classes is trained on nine pages and judges the tenth, each in turn; the figures are means over the
pages. The paper's are as printed."""
TABLE_2 = """## Table 2: pages whose records are found

Pages of the {kind} with F of at least 0.75. phi and psi are trained on {n_seen} pages of the other
kinds alone, of which {n_some} are aligned. Best possible takes the best of the clusters that U-REST
makes; these are single subtrees, so that a page whose records are runs of siblings is out of reach.
Other kinds of pages, and the default finder, are on [another page](records.md)."""
DIFFERENCES = """## What differs

Order of the features by F:

- here: {order}
- in the paper: tree edit distance, tree context, 3-gram, 2-gram, 1-gram

U-REST finds {share:.0%} of what its clusters make possible, in the paper {paper_share:.0%}. phi is
asked only of subtrees with equal roots and not too different sizes, of the 100 that show most, and
sees the first 40 nodes of each; Table 1 has no such limits but the last."""


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    pages = [page for page in map(measure, labelled.read_all(data)) if page.candidates]
    return tables_of(pages)


def tables_of(pages: Sequence[Measured]) -> str:
    """Return both tables for pages whose candidates were measured."""
    pairs = single_features.pairs_of_pages(pages)
    figures = single_features.judge(pairs)
    judged = judged_pages(pages)
    kind = judged[0].labelled.kind
    seen = [page for page in pages if page.labelled.kind not in {kind, NO_LIST}]
    n_right = count_right(seen, judged)
    explained = TABLE_2.format(
        kind=kind, n_seen=len(seen), n_some=min(len(seen), published.MAX_PAGES)
    )
    return "\n\n".join(
        [
            INTRODUCTION,
            *_table_1(pairs, figures),
            explained,
            _table_2(n_right, kind, len(judged)),
            _differences(figures, n_right),
        ]
    )


def _table_1(pairs: Sequence[PagePairs], figures: dict[str, FeatureFigures]) -> list[str]:
    are_records = [is_pair for page in pairs for is_pair in page.are_records]
    explained = TABLE_1.format(
        n_pairs=len(are_records),
        n_pages=len(pairs),
        max_pairs=single_features.MAX_PAIRS,
        share=mean(are_records),
    )
    rows = [
        [name, *map(_figure, figures[name]), *map(_figure, PAPER_TABLE_1[name])]
        for name in PAPER_TABLE_1
    ]
    head = ["feature", "recall", "precision", "F", "paper: recall", "precision", "F"]
    return [explained, markdown_table(head, rows)]


def _figure(value: float) -> str:
    return f"{value:.3f}"


def judged_pages(pages: Sequence[Measured]) -> list[Measured]:
    """Return the pages of the test bed, those of the demo sites where it is not there."""
    for kind in ("test bed", "demo lists"):
        judged = [page for page in pages if page.labelled.kind == kind]
        if judged:
            return judged
    return []


def count_right(seen: Sequence[Measured], judged: Sequence[Measured]) -> dict[str, int]:
    """Return on how many pages each system is right."""
    phi, psi = published.train(seen)
    n_right = dict.fromkeys(PAPER_TABLE_2, 0)
    for page in judged:
        clusters = cluster_subtrees(decompose(page.page), phi)
        margins = [psi.margin(psi_features(page.page, cluster)) for cluster in clusters]
        best = clusters[margins.index(max(margins))] if clusters else []
        scores = {
            UREST: _score(page, _regions(best)),
            OMINI: _score(page, omini.extract_objects(page.page)),
            MDR: _score(page, mdr.extract_region(page.page)),
            BEST: max((_score(page, _regions(cluster)) for cluster in clusters), default=0.0),
            BASELINE: _score(page, _regions(largest_coverage(page.page, clusters))),
        }
        for name, score in scores.items():
            n_right[name] += score >= GOOD
    return n_right


def _regions(cluster: Sequence[int]) -> list[Region]:
    return [(element, element) for element in cluster]


def _score(page: Measured, regions: Sequence[Region]) -> float:
    return f_score(page.labelled.truth, [page.page.interval(region) for region in regions])


def _table_2(n_right: dict[str, int], kind: str, n_judged: int) -> str:
    rows = [
        [name, _share(n, n_judged), _share(*PAPER_TABLE_2[name])] for name, n in n_right.items()
    ]
    return markdown_table(["system", f"{kind} ({n_judged})", "paper"], rows)


def _share(n_right: int, n_pages: int) -> str:
    return f"{n_right} of {n_pages}, {n_right / n_pages:.1%}"


def _differences(figures: dict[str, FeatureFigures], n_right: dict[str, int]) -> str:
    in_order = sorted(figures, key=lambda name: -figures[name].f)
    return DIFFERENCES.format(
        order=", ".join(in_order),
        share=n_right[UREST] / max(n_right[BEST], 1),
        paper_share=PAPER_TABLE_2[UREST][0] / PAPER_TABLE_2[BEST][0],
    )
