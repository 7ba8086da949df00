"""How long learnt rules live on edited pages, beside absolute XPaths and a rival like ROBULA+."""

from __future__ import annotations

import copy
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from lxml.html import HtmlElement

from benchmarks.report import line_chart, markdown_table
from benchmarks.robustness.edits import EDITS
from benchmarks.robustness.locators import absolute, robula_plus
from benchmarks.rule_learning import Judge, compared, demo_clusters
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.rule.xpaths import shown

TITLE = "Robustness"
N_ANNOTATED = 2
N_PAGES = 6  # of each cluster, none of them annotated
CURVE = (1, 2, 4, 8, 16, 32, 64)
N_OF_KIND = 16  # edits of one kind on a page
SYSTEMS = ("default", "published", "ROBULA+-like", "absolute XPath")

Survived = dict[str, list[bool]]  # system -> for each value of each page


class EditedCluster:
    """Rules and locators of a cluster's pages, and what they find there before any edit."""

    def __init__(self, judge: Judge) -> None:
        samples = judge.drawn()
        self.judge = judge
        self.rules = {
            name: judge.learn(name, samples, samples[:N_ANNOTATED])
            for name in ("default", "published")
        }
        self.pages = [page for page in judge.pages if page not in samples[:N_ANNOTATED]][:N_PAGES]
        self.right = {name: self._right(rule) for name, rule in self.rules.items()}
        self.locators = {page: list(self._locators(page)) for page in self.pages}

    def _right(self, rule: ClusterRule) -> dict[str, dict[str, set[str]]]:
        """Return the values that the rule gets right, by page and attribute."""
        right: dict[str, dict[str, set[str]]] = defaultdict(dict)
        for page in self.pages:
            for attribute in rule.attributes:
                comparison = compared(
                    values_on(self.judge.columns, attribute, self.judge.bits[page])
                )
                if comparison and comparison == compared(
                    self.judge.cluster.truth[page].get(attribute.attribute, [])
                ):
                    right[page][attribute.attribute] = comparison
        return right

    def _locators(self, page: str) -> list[tuple[str, str, str]]:
        """Return each value that an element shows, with its absolute and its ROBULA+-like XPath."""
        tree = self.judge.cluster.trees[page]
        results = []
        for marks in self.judge.cluster.marks[page].values():
            for mark in marks[:1]:
                found_there: Any = (
                    tree.xpath(mark.node) if isinstance(mark.node, str) else [mark.node]
                )
                node = found_there[0]
                element = node if hasattr(node, "tag") else node.getparent()
                value = shown(mark.text or str(element.xpath("string()")))
                if value in shown(str(element.xpath("string()"))):
                    results.append(
                        (value, absolute(element), robula_plus(cast("HtmlElement", element)))
                    )
        return results

    def survive(self, edit: Callable[[HtmlElement, random.Random], None], n: int) -> Survived:
        """Return what is found after `n` edits of each page that was right before."""
        trees = []
        for page in self.pages:
            chance, tree = (
                random.Random(f"{page} {n}"),
                copy.deepcopy(self.judge.cluster.trees[page]),
            )
            for _ in range(n):
                edit(cast("HtmlElement", tree), chance)
            trees.append(cast("HtmlElement", tree))
        survived: Survived = {"absolute XPath": [], "ROBULA+-like": []}
        for page, tree in zip(self.pages, trees, strict=True):
            for value, first, second in self.locators[page]:
                survived["absolute XPath"].append(_finds(tree, first, value))
                survived["ROBULA+-like"].append(_finds(tree, second, value))
        columns = Columns(number_nodes(trees))
        for name, rule in self.rules.items():
            survived[name] = [
                compared(values_on(columns, attribute, columns.index.page_bits[number]))
                == right[attribute.attribute]
                for number, page in enumerate(self.pages)
                for right in [self.right[name][page]]
                for attribute in rule.attributes
                if attribute.attribute in right
            ]
        return survived


def _finds(tree: HtmlElement, xpath: str, value: str) -> bool:
    nodes = tree.xpath(xpath)
    return bool(nodes) and value in shown(str(nodes[0].xpath("string()")))


def any_edit(tree: HtmlElement, chance: random.Random) -> None:
    chance.choice(list(EDITS.values()))(tree, chance)


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    clusters = [EditedCluster(Judge(cluster)) for cluster in demo_clusters()]
    kinds = [
        [f"{name}, {N_OF_KIND} times", *shares([one.survive(edit, N_OF_KIND) for one in clusters])]
        for name, edit in EDITS.items()
    ]
    curve = [shares([one.survive(any_edit, n) for one in clusters]) for n in CURVE]
    lines = {name: [figures[at] for figures in curve] for at, name in enumerate(SYSTEMS)}
    n_values = sum(len(one.survive(any_edit, 0)["default"]) for one in clusters)
    mixed = [[f"{n} edits of all kinds", *figures] for n, figures in zip(CURVE, curve, strict=True)]
    rows = [[row[0], *(f"{each:.3f}" for each in row[1:])] for row in [*kinds, *mixed]]
    return (
        f"Share of the values found as before, after random edits of {N_PAGES} pages of each of "
        f"{len(clusters)} clusters of the demo sites' first edition ({n_values:,} values). "
        "Rules are learnt "
        f"from {N_ANNOTATED} other pages; the locators are made for each value on the "
        "very page that is "
        "edited, which is easier. An edit takes a random element of the page; "
        "a renamed class changes "
        "wherever the page has it.\n\n"
        + markdown_table(["edits", *SYSTEMS], rows)
        + "\n\n"
        + line_chart("Share of values found after so many edits", CURVE, lines)
    )


def shares(survived: Sequence[Survived]) -> list[float]:
    """Return each system's share over all clusters."""
    return [
        sum(sum(share[name]) for share in survived)
        / max(1, sum(len(share[name]) for share in survived))
        for name in SYSTEMS
    ]
