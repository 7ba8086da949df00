"""Train and write the rankers of records: `python -m benchmarks.train_urest --data DIR`.

What was learnt is JSON beside the algorithms, with the command, the date and the hashes of the
pages. Figures come from `benchmarks.records`, which trains anew without the pages that it judges.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.svm import LinearSVC

from benchmarks.records import labelled, published
from benchmarks.records.labelled import LabelledPage
from benchmarks.records.scoring import GOOD, f_score
from clustering.algorithms.records import ranker
from clustering.algorithms.records.candidates import RecordList, find_candidates
from clustering.algorithms.records.features import FULL_NAMES, QUICK_NAMES, deep_features
from clustering.algorithms.records.page_model import PageModel
from clustering.algorithms.records.ranker import (
    Model,
    Ranker,
    Row,
    Tree,
    complete,
    indices_of_best,
    preselect,
)

# A page's kind, its best score, whether its best list is right.
Told: TypeAlias = tuple[str, float, bool]

TITLE = "Weights of the record ranker"
SEED = 7
BAG = (7, 1, 2, 3)  # seeds of the trees whose mean counts
SHARE_OF_SVM = 0.2
N_QUICK_TREES, N_FULL_TREES = 40, 100
DECIMALS = 6
N_BEST = 70  # candidates of a page that all features are measured of
N_SPLITS = 3  # of the pages, to choose the score below which a page has no list
LEASTS = [number / 100 for number in range(10, 71)]
NO_LIST = "no list"


@dataclass(slots=True)
class Measured:
    """A labelled page with its candidates, their quick features and how right each of them is."""

    labelled: LabelledPage
    page: PageModel
    candidates: list[RecordList]
    quick: list[Row]
    right: list[float]
    deep_by_candidate: dict[int, Row] = field(default_factory=dict)

    def deep(self, page: PageModel, candidate: RecordList) -> Row:
        """Return the deep features, which are measured once."""
        if id(candidate) not in self.deep_by_candidate:
            self.deep_by_candidate[id(candidate)] = deep_features(page, candidate)
        return self.deep_by_candidate[id(candidate)]

    def completed(self, quick: Model) -> Completed:
        """Return the candidates that a quick model keeps, with all features."""
        indices = indices_of_best(list(scores_of(quick, np.array(self.quick))), N_BEST)
        remaining = [self.candidates[number] for number in indices]
        rows = complete(self.page, remaining, [self.quick[number] for number in indices], self.deep)
        return Completed(
            self, remaining, np.array(rows), np.array([self.right[number] for number in indices])
        )


@dataclass(frozen=True, slots=True)
class Completed:
    """The candidates of a page that are looked at closely: all features, and how right each is."""

    one: Measured
    kept: list[RecordList]
    rows: NDArray[np.float64]
    right: NDArray[np.float64]


ROOT = Path(__file__).resolve().parent.parent
RECORDS = Path("clustering/algorithms/records/weights/records.json")
UREST = Path("clustering/algorithms/published/weights/urest.json")


def measure(labelled_page: LabelledPage) -> Measured:
    """Return a page's candidates with their F."""
    page = labelled_page.model()
    candidates, quick = preselect(page, find_candidates(page), None)
    right = [
        f_score(labelled_page.truth, [page.interval(region) for region in candidate.regions])
        for candidate in candidates
    ]
    return Measured(labelled_page, page, candidates, quick, right)


def train(pages: Sequence[Measured]) -> Ranker:
    """Return a ranker that has seen these pages."""
    weights = page_weights(pages)
    rows = np.array([row for page in pages for row in page.quick])
    right = np.array([f for page in pages for f in page.right])
    shares = np.array(
        [
            weight / len(page.quick)
            for page, weight in zip(pages, weights, strict=True)
            for _ in page.quick
        ]
    )
    quick = fit(list(QUICK_NAMES), rows, right, shares, N_QUICK_TREES)
    looked_at = [page.completed(quick) for page in pages]
    return Ranker(quick, fit_full(looked_at, BAG), choose_least(looked_at), N_BEST)


def fit_full(looked_at: Sequence[Completed], seeds: Sequence[int]) -> Model:
    """Return the model of all features."""
    weights = page_weights([page.one for page in looked_at])
    shares = [
        np.full(len(page.right), weight / len(page.right))
        for page, weight in zip(looked_at, weights, strict=True)
    ]
    rows = np.concatenate([page.rows for page in looked_at])
    right = np.concatenate([page.right for page in looked_at])
    return fit(FULL_NAMES, rows, right, np.concatenate(shares), N_FULL_TREES, seeds)


def choose_least(looked_at: Sequence[Completed]) -> float:
    """Return the score below which a page has no list, by scores of pages that were not trained on.

    A page counts as right where its list is told, or none where it has none; each kind of
    page counts alike.
    """
    results: list[Told] = []
    sources = sorted({source_of(page.one) for page in looked_at})
    for fold in range(N_SPLITS):
        seen = [page for page in looked_at if sources.index(source_of(page.one)) % N_SPLITS != fold]
        judged = [
            page for page in looked_at if sources.index(source_of(page.one)) % N_SPLITS == fold
        ]
        if not seen or not judged:
            continue
        model = fit_full(seen, BAG[:1])
        for page in judged:
            scores = scores_of(model, page.rows)
            best = int(scores.argmax())
            results.append(
                (page.one.labelled.kind, float(scores[best]), bool(page.right[best] >= GOOD))
            )
    return best_least(results)


def best_least(told: Sequence[Told]) -> float:
    """Return the score that parts pages with a list from those without best."""
    return max(LEASTS, key=lambda least: _share_right(told, least))


def source_of(page: Measured) -> tuple[str, str]:
    return page.labelled.kind, page.labelled.source


def _share_right(told: Sequence[Told], least: float) -> float:
    """Return the mean over the kinds of the share of their pages that are right."""
    right_by_kind: dict[str, list[bool]] = {}
    for kind, score, is_right in told:
        is_told = score >= least
        right_by_kind.setdefault(kind, []).append(
            is_right and is_told if kind != NO_LIST else not is_told
        )
    return sum(sum(right) / len(right) for right in right_by_kind.values()) / max(
        len(right_by_kind), 1
    )


def scores_of(model: Model, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `Model.score` gives for each of many rows."""
    scaled = (rows - np.array(model.means)) / np.array(model.scales)
    margins = np.clip(scaled @ np.array(model.weights), -30, 30)
    scores: NDArray[np.float64] = (
        model.share / (1 + np.exp(-margins)) + (1 - model.share) * model.base
    )
    for tree in model.trees:
        scores += (1 - model.share) * _leaves_of(np.array(tree), rows)
    return scores


def _leaves_of(tree: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    at = np.zeros(len(rows), dtype=int)
    while (inner := tree[at, 0] >= 0).any():
        features = rows[np.arange(len(rows)), np.maximum(tree[at, 0], 0).astype(int)]
        below = np.where(features <= tree[at, 1], tree[at, 2], tree[at, 3]).astype(int)
        at = np.where(inner, below, at)
    values: NDArray[np.float64] = tree[at, 4]
    return values


def page_weights(pages: Sequence[Measured]) -> list[float]:
    """Return what each page counts: a source of many pages is not worth as many sources."""
    n_by_source = Counter(map(source_of, pages))
    return [n_by_source[source_of(page)] ** -0.5 for page in pages]


def fit(
    names: list[str],
    rows: NDArray[np.float64],
    right: NDArray[np.float64],
    shares: NDArray[np.float64],
    n_trees: int,
    seeds: Sequence[int] = (SEED,),
) -> Model:
    """Return a linear SVM and the mean of each seed's trees, as a model of plain numbers."""
    shares = shares * len(shares) / shares.sum()
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales[scales < 1e-9] = 1.0
    svm = LinearSVC(
        C=0.01, class_weight="balanced", dual=False, random_state=SEED, fit_intercept=False
    )
    svm.fit((rows - means) / scales, right >= GOOD, sample_weight=shares)
    bag = [grow(rows, right, shares, n_trees, seed) for seed in seeds]
    base = sum(each[0] for each in bag) / len(bag)
    grown = [_as_lists(nodes, len(bag)) for _, trees in bag for nodes in trees]
    return Model(
        names,
        _plain(means),
        _plain(scales),
        _plain(svm.coef_[0]),
        SHARE_OF_SVM,
        round(base, DECIMALS),
        grown,
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
    return [_as_list(node, n_bags) for node in nodes]


def _as_list(node: np.void, n_bags: int) -> list[float]:
    """Return feature, threshold, left, right and value of a node; a leaf has only a value."""
    if node["is_leaf"]:
        return [-1, 0, 0, 0, round(float(node["value"]) / n_bags, DECIMALS)]
    return [
        int(node["feature_idx"]),
        float(node["num_threshold"]),
        int(node["left"]),
        int(node["right"]),
        0,
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
    stored = json.loads((ranker.WEIGHTS / "records.json").read_text())
    kinds = ", ".join(f"{count} {kind}" for kind, count in stored["pages"].items())
    return (
        f"Written on {stored['date']} by `{stored['command']}` from {len(stored['sha256'])} "
        f"pages: {kinds}."
        " The file lists them by SHA-256."
    )


def main(arguments: list[str]) -> int:
    """Train on all pages that there are, and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_urest", description=__doc__)
    parser.add_argument(
        "--data", metavar="DIR", type=Path, required=True, help="a folder of labelled pages"
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        type=Path,
        default=ROOT,
        help="the repository, or a copy of its folders",
    )
    parser.add_argument(
        "--only-published", action="store_true", help="train U-REST as published alone"
    )
    options = parser.parse_args(arguments)
    pages = labelled.read_all(options.data)
    command = "python -m benchmarks.train_urest --data DIR"
    if options.only_published:
        pages = pages[:: max(len(pages) // published.MAX_PAGES, 1)]
        command += " --only-published"
    measured = [page for page in map(measure, pages) if page.candidates]
    if not options.only_published:
        write(asdict(train(measured)), pages, options.output / RECORDS, command)
    learnt = published.as_json(*published.train(measured))
    write(learnt, pages, options.output / UREST, command)
    print(f"{options.output}: trained on {len(pages)} pages", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
