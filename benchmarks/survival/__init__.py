"""How long rules live on sites that changed, by prices set by hand and by other sites' evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

from annotation.algorithms.attribute_types import AttributeType
from benchmarks.report import markdown_table
from benchmarks.survival.evidence import (
    NAMING,
    SIBLING,
    Kept,
    count_kept,
    evidence_prices,
    hand_prices,
    mixed,
    table_rows,
)
from benchmarks.survival.histories import History, Trees, histories
from rules.algorithms.learning import feature_prices
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import compared, values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.targets import AnnotatedPage
from rules.algorithms.rule.rule import AttributeRule

TITLE = "Survival"
N_ANNOTATED: Final = 2
BY_HAND, EVIDENCE, MIXED = "by hand", "evidence", "mean of both"
WAYS: Final = (BY_HAND, EVIDENCE, MIXED)

INTRODUCTION: Final = (
    "Pages of sites that are there at several times: snapshots of real sites, "
    "whose fields are those that "
    "`find_fields` names, and versions of generated ones. Rules are learnt from "
    f"{N_ANNOTATED} annotated pages as they were first, and run on all pages as they were later. "
    "A value has survived "
    "where the rule finds what it found before; values that the page does not show any more are "
    "left out. Each site "
    "weighs the same. Evidence: the logarithm of the share of a kind's features that were still "
    "there at a value, on all "
    "*other* sites, with the mean and the spread of the prices set by hand.\n\n"
)

Found = Mapping[str, Mapping[str, frozenset[str]]]  # by field and page


def run(data: Path | None) -> str:
    """Return the tables as a section in Markdown."""
    if data is None or not (data / "more_history").is_dir():
        return "Left out: the histories are not in the folder."
    sites = list(histories(data))
    remaining = [(history.family, count_kept(history)) for history in sites]
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    families = list(dict.fromkeys(history.family for history in sites))
    for family in families:
        prices = _prices_without(family, remaining)
        for history in (history for history in sites if history.family == family):
            for way in WAYS:
                with _prices_of(prices[way]):
                    figures[family][way] += _survived(history)
    rows: list[list[object]] = [
        [
            family,
            len(figures[family][BY_HAND]),
            *(f"{_mean(figures[family][way]):.3f}" for way in WAYS),
        ]
        for family in families
    ]
    means = [_mean([_mean(figures[family][way]) for family in families]) for way in WAYS]
    rows.append(["**mean of sites**", "", *(f"**{mean:.3f}**" for mean in means)])
    evidence = markdown_table(
        ["kind of feature", "kept", "price by evidence", "by hand"],
        list(table_rows([counts for _, counts in remaining])),
    )
    heads = ["site", "values", *WAYS]
    return (
        f"{INTRODUCTION}{markdown_table(heads, rows)}\n\n## What was kept, "
        f"on all sites\n\n{evidence}"
    )


def _prices_without(family: str, kept: Sequence[tuple[str, Kept]]) -> dict[str, dict[str, float]]:
    """Return the prices of each way; evidence is that of the other sites."""
    evidence = evidence_prices([counts for other, counts in kept if other != family])
    return {BY_HAND: hand_prices(), EVIDENCE: evidence, MIXED: mixed(hand_prices(), evidence)}


@contextmanager
def _prices_of(prices: Mapping[str, float]) -> Iterator[None]:
    with patch.multiple(
        feature_prices,
        PRICES=dict(prices),
        PRICE_OF_SIBLING=prices[SIBLING],
        PRICE_OF_NAMING_ATTRIBUTE=prices[NAMING],
    ):
        yield


def _survived(history: History) -> list[float]:
    """Return for each value that a page still shows whether the rule of then finds it."""
    learnt = [_learn(history, name) for name in history.fields]
    rules = [rule for rule in learnt if rule is not None]
    before = _found(rules, history.first)
    survived: list[float] = []
    for trees in history.later.values():
        after = _found(rules, trees)
        texts = {
            page: "".join("".join(map(str, tree.itertext())).split())
            for page, tree in trees.items()
        }
        for name, by_page in before.items():
            for page, values in by_page.items():
                if page in trees and values and all(value in texts[page] for value in values):
                    survived.append(float(after[name][page] == values))
    return survived


def _learn(history: History, name: str) -> AttributeRule | None:
    marks = history.fields[name]
    annotated = list(marks)[:N_ANNOTATED]
    pages = [AnnotatedPage(page, history.first[page], {name: [marks[page]]}) for page in annotated]
    others = [tree for page, tree in history.first.items() if page not in annotated]
    (rule,) = learn_cluster(pages, others, [AttributeType(name)]).attributes
    return rule if rule.alternatives else None


def _found(rules: Sequence[AttributeRule], trees: Trees) -> Found:
    columns = Columns(number_nodes(trees.values()))
    bits = dict(zip(trees, columns.index.page_bits, strict=True))
    return {
        rule.attribute: {page: compared(values_on(columns, rule, bits[page])) for page in trees}
        for rule in rules
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))
