"""Whether one rule serves two types of a generated site: then they may be one cluster as well."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from benchmarks.labelled_sites import DESIGNS, WIDER_TYPES
from benchmarks.report import markdown_table
from benchmarks.rule_learning import MOST_ANNOTATED, Judge, LabelledCluster
from clustering.dom.page import parse_page
from rules.algorithms.learning.targets import MarkedNode
from rules.algorithms.rule.xpaths import shown

MIN_PAGES = 3  # of each type: one to learn from and some to read


def table_of_rules(data: Path) -> str:
    """Return what two clusters cost an editor, and what one does, as Markdown."""
    rows = []
    for site in sorted(path for path in (data / "generated").iterdir() if path.is_dir()):
        for version in DESIGNS:
            for narrow, wide in WIDER_TYPES.items():
                rows += _compare(site / version, wide, narrow)
    header = ["site", "cluster", "pages", "annotated", "F1 on the other pages"]
    return markdown_table(header, rows)


def _compare(folder: Path, wide: str, narrow: str) -> list[list[object]]:
    """Return a row for each of two types, and one for both together; none where one is rare."""
    rows: list[list[object]] = []
    for types in ({wide}, {narrow}, {wide, narrow}):
        cluster = read_cluster(folder, types)
        if len(cluster.trees) < MIN_PAGES:
            return []
        judge = Judge(cluster)
        rule, annotated = judge.annotate(judge.drawn(), "default", MOST_ANNOTATED)
        scores = judge.f1_by_attribute(
            rule, [page for page in cluster.trees if page not in annotated]
        )
        f1 = sum(scores.values()) / len(scores)
        left = len(cluster.trees) - len(annotated)
        rows.append(
            [
                f"{folder.parent.name} {folder.name}",
                " and ".join(sorted(types)),
                len(cluster.trees),
                len(annotated),
                f"{f1:.3f}" if left else "none is left",
            ]
        )
    return rows


def read_cluster(folder: Path, types: Collection[str]) -> LabelledCluster:
    """Return the pages of some types of a generated site, with the values that they show."""
    cluster = LabelledCluster(folder.name, {}, {}, {})
    multi = set()
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry["type"] not in types:
            continue
        body = (folder / entry["file"]).read_bytes()
        tree = parse_page(body, entry.get("content_type", "")).tree
        if tree is None:
            continue
        page = entry["url"]
        cluster.trees[page], cluster.truth[page], cluster.marks[page] = tree, {}, {}
        for name, xpath in entry["nodes"].items():
            value = entry["truth"][name]
            if isinstance(xpath, list):
                multi.add(name)
            xpaths = xpath if isinstance(xpath, list) else [xpath]
            values = value if isinstance(value, list) else [value]
            texts = [shown(str(each)) for each in values]
            cluster.truth[page][name] = texts
            cluster.marks[page][name] = list(map(MarkedNode, xpaths, texts))
    return LabelledCluster(
        cluster.name, cluster.trees, cluster.truth, cluster.marks, frozenset(multi)
    )
