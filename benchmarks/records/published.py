"""Train phi and psi of U-REST as published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.records.labelled import LabelledPage
from benchmarks.records.scoring import GOOD, f_score
from clustering.algorithms.published.urest import (
    LinearMargin,
    are_comparable,
    cluster_subtrees,
    decompose,
    phi_features,
    psi_features,
)
from clustering.algorithms.records.candidates import RecordList
from clustering.algorithms.records.page_model import PageModel

SEED = 7
SURE = 0.9  # the F from which single elements count as a page's true records
MAX_PAGES = 30  # whose subtrees are aligned; it takes seconds a page
MAX_PAIRS = 150  # of a page
DECIMALS = 6


def train(pages: Sequence[Any]) -> tuple[LinearMargin, LinearMargin]:
    """Return phi and psi learnt from measured pages (see train_urest.Measured)."""
    some = pages[:: max(len(pages) // MAX_PAGES, 1)]
    pairs = [pair for one in some for pair in labelled_pairs(one.page, one.candidates, one.right)]
    phi = fit([features for features, _ in pairs], [is_same for _, is_same in pairs])
    rows, right = [], []
    for entry in some:
        for cluster in cluster_subtrees(decompose(entry.page), phi):
            rows.append(psi_features(entry.page, cluster))
            right.append(f_of(entry.labelled, entry.page, cluster) >= GOOD)
    return phi, fit(rows, right)


def f_of(labelled: LabelledPage, page: PageModel, cluster: list[int]) -> float:
    return f_score(labelled.truth, [page.interval((element, element)) for element in cluster])


def labelled_pairs(
    page: PageModel, candidates: Sequence[RecordList], right: Sequence[float]
) -> list[tuple[tuple[float, ...], bool]]:
    """Return phi's features of pairs of subtrees of which one is a record, and whether both are."""
    best = max(zip(right, candidates, strict=True), key=lambda pair: pair[0], default=None)
    if best is None or best[0] < SURE or any(first != last for first, last in best[1].regions):
        return []
    records = {first for first, _ in best[1].regions}
    points = decompose(page)
    is_record = [not records.isdisjoint(point.elements) for point in points]
    pairs = [
        (one, other)
        for one, other in combinations(range(len(points)), 2)
        if (is_record[one] or is_record[other]) and are_comparable(points[one], points[other])
    ]
    order = np.random.default_rng(SEED).permutation(len(pairs))[:MAX_PAIRS]
    selection = [pairs[number] for number in order]
    return [
        (phi_features(points[one], points[other]), is_record[one] and is_record[other])
        for one, other in selection
    ]


def fit(rows: Sequence[tuple[float, ...]], right: Sequence[bool]) -> LinearMargin:
    svm = LinearSVC(C=1.0, class_weight="balanced", dual=False, random_state=SEED)
    svm.fit(np.array(rows), np.array(right))
    weights = tuple(round(float(weight), DECIMALS) for weight in svm.coef_[0])
    return LinearMargin(weights, round(float(svm.intercept_[0]), DECIMALS))


def as_json(phi: LinearMargin, psi: LinearMargin) -> dict[str, Any]:
    return {"phi": asdict(phi), "psi": asdict(psi)}
