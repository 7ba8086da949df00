"""Train the rankers of records and write their weights: `python -m benchmarks.train_urest --data DIR`.

What was learnt is JSON beside the algorithms, with the command, the date and the hashes of the pages. Figures
come from `benchmarks.records`, which trains anew without the pages that it judges.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.svm import LinearSVC

from benchmarks.records import labelled, published
from benchmarks.records.scoring import GOOD, f_score
from clustering.algorithms import record_ranker
from clustering.algorithms.record_candidates import find_candidates
from clustering.algorithms.record_features import FULL_NAMES, QUICK_NAMES, deep_features
from clustering.algorithms.record_ranker import Model, Ranker, complete, preselect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.records.labelled import LabelledPage
    from clustering.algorithms.record_candidates import Candidate
    from clustering.algorithms.record_page import PageModel
    from clustering.algorithms.record_ranker import Row, Tree

TITLE = "Weights of the record ranker"
SEED = 7
BAG = (7, 1, 2, 3)  # seeds of the trees whose mean counts
SHARE_OF_SVM = 0.2
N_QUICK_TREES, N_FULL_TREES = 40, 100
DECIMALS = 6
LEAST = 0.38  # the score below which a page has no list; far below that of nearly all lists


@dataclass(slots=True)
class Measured:
    """A labelled page with its candidates, their quick features and how right each of them is."""

    labelled: LabelledPage
    page: PageModel
    candidates: list[Candidate]
    quick: list[Row]
    right: list[float]
    deep_by_candidate: dict[int, Row] = field(default_factory=dict)

    def deep(self, page: PageModel, candidate: Candidate) -> Row:
        """Return the deep features, which are measured once."""
        if id(candidate) not in self.deep_by_candidate:
            self.deep_by_candidate[id(candidate)] = deep_features(page, candidate)
        return self.deep_by_candidate[id(candidate)]

    def completed(self, quick: Model) -> tuple[list[Candidate], list[Row]]:
        """Return the candidates that a quick model keeps, with all features."""
        kept, rows = preselect(self.page, self.candidates, quick)
        return kept, complete(self.page, kept, rows, self.deep)

    def f_of(self, candidates: Sequence[Candidate]) -> list[float]:
        f_by_id = dict(zip(map(id, self.candidates), self.right, strict=True))
        return [f_by_id[id(candidate)] for candidate in candidates]


def measure(labelled_page: LabelledPage) -> Measured:
    """Return a page's candidates with their F."""
    page = labelled_page.model()
    candidates, quick = preselect(page, find_candidates(page), None)
    right = [
        f_score(labelled_page.truth, [page.interval(region) for region in one.regions]) for one in candidates
    ]
    return Measured(labelled_page, page, candidates, quick, right)


def train(pages: Sequence[Measured]) -> Ranker:
    """Return a ranker that has seen these pages."""
    weights = page_weights(pages)
    rows = np.array([row for one in pages for row in one.quick])
    right = np.array([f for one in pages for f in one.right])
    shares = np.array(
        [weight / len(one.quick) for one, weight in zip(pages, weights, strict=True) for _ in one.quick]
    )
    quick = fit(list(QUICK_NAMES), rows, right, shares, N_QUICK_TREES)
    full_rows: list[Row] = []
    full_right: list[float] = []
    full_shares: list[float] = []
    for one, weight in zip(pages, weights, strict=True):
        kept, kept_rows = one.completed(quick)
        full_rows += kept_rows
        full_right += one.f_of(kept)
        full_shares += [weight / len(kept)] * len(kept)
    measured = (np.array(full_rows), np.array(full_right), np.array(full_shares))
    full = fit(FULL_NAMES, *measured, N_FULL_TREES, BAG)
    return Ranker(quick, full, LEAST)


def page_weights(pages: Sequence[Measured]) -> list[float]:
    """Return what each page counts: a source of many pages is not worth as many sources."""
    n_by_source = Counter((one.labelled.kind, one.labelled.source) for one in pages)
    return [n_by_source[one.labelled.kind, one.labelled.source] ** -0.5 for one in pages]


def fit(
    names: list[str],
    rows: NDArray[np.float64],
    right: NDArray[np.float64],
    shares: NDArray[np.float64],
    n_trees: int,
    seeds: Sequence[int] = (SEED,),
) -> Model:
    """Return a linear SVM and trees, the mean of those of each seed, as a model of plain numbers."""
    shares = shares * len(shares) / shares.sum()
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales[scales < 1e-9] = 1.0
    svm = LinearSVC(C=0.01, class_weight="balanced", dual=False, random_state=SEED, fit_intercept=False)
    svm.fit((rows - means) / scales, right >= GOOD, sample_weight=shares)
    bag = [grow(rows, right, shares, n_trees, seed) for seed in seeds]
    base = sum(one[0] for one in bag) / len(bag)
    grown = [_as_lists(nodes, len(bag)) for _, trees in bag for nodes in trees]
    return Model(
        names, _plain(means), _plain(scales), _plain(svm.coef_[0]), SHARE_OF_SVM, round(base, DECIMALS), grown
    )


def grow(
    rows: NDArray[np.float64],
    right: NDArray[np.float64],
    shares: NDArray[np.float64],
    n_trees: int,
    seed: int,
) -> tuple[float, list[NDArray[np.void]]]:
    """Return what boosted trees start from, and their nodes."""
    trees = HistGradientBoostingRegressor(
        max_iter=n_trees,
        max_leaf_nodes=12,
        learning_rate=0.1,
        min_samples_leaf=30,
        l2_regularization=1.0,
        max_features=0.3,
        random_state=seed,
    )
    trees.fit(rows, right, sample_weight=shares)
    base = float(np.ravel(trees._baseline_prediction)[0])  # noqa: SLF001 - the only way to the trees
    return base, [predictors[0].nodes for predictors in trees._predictors]  # noqa: SLF001


def _plain(values: NDArray[np.float64]) -> Row:
    return [round(float(value), DECIMALS) for value in values]


def _as_lists(nodes: NDArray[np.void], n_bags: int) -> Tree:
    return [
        [-1, 0, 0, 0, round(float(node["value"]) / n_bags, DECIMALS)]
        if node["is_leaf"]
        else [
            int(node["feature_idx"]),
            float(node["num_threshold"]),
            int(node["left"]),
            int(node["right"]),
            0,
        ]
        for node in nodes
    ]


def write(learnt: dict[str, Any], pages: Sequence[LabelledPage], path: Path, command: str) -> None:
    """Write weights with where they come from."""
    stored = {
        "command": command,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "pages": dict(Counter(page.kind for page in pages)),
        "sha256": sorted({page.digest for page in pages}),
        **learnt,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored, separators=(",", ":")) + "\n")


def run(_data: Path | None) -> str:
    """Say what the weights in force were made from."""
    stored = json.loads((record_ranker.WEIGHTS / "records.json").read_text())
    kinds = ", ".join(f"{count} {kind}" for kind, count in stored["pages"].items())
    return (
        f"Written on {stored['date']} by `{stored['command']}` from {len(stored['sha256'])} pages: {kinds}."
        " The file lists them by SHA-256."
    )


def main(arguments: list[str]) -> int:
    """Train on all pages that there are, and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_urest", description=__doc__)
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="a folder of labelled pages")
    parser.add_argument("--output", metavar="DIR", type=Path, default=record_ranker.WEIGHTS)
    options = parser.parse_args(arguments)
    pages = labelled.read_all(options.data)
    measured = [one for page in pages if (one := measure(page)).candidates]
    command = "python -m benchmarks.train_urest --data DIR"
    write(asdict(train(measured)), pages, options.output / "records.json", command)
    learnt = published.as_json(*published.train(measured))
    write(learnt, pages, options.output / "urest.json", command)
    print(f"{options.output}: trained on {len(pages)} pages", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
