"""How often suggestions before the first annotation are right: precision and recall by source."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.spots import SpotIndex
from annotation.algorithms.suggestions.suggestion import Suggestion, suggest
from benchmarks.hold_out.sites import clusters as hold_out_clusters
from benchmarks.report import markdown_table
from benchmarks.rule_learning import LabelledCluster, compared, demo_clusters, swde_clusters
from vertex.demo import sites

TITLE = "Suggestions"
N_PAGES: Final = 8  # of each cluster
N_OTHERS: Final = 5
SURE: Final = 0.5
INTRODUCTION: Final = (
    f"The best suggestion for each attribute on {N_PAGES} pages of a cluster, "
    f"with {N_OTHERS} others "
    "to compare with and nothing annotated. A suggestion is right if its values are those of the "
    "page, as sets without blanks. Precision: of those with values; recall: "
    "of the attributes that a "
    "page shows. Absence: of the pages that lack an attribute, for how many that is suggested, and "
    f"how many such suggestions are wrong. Sure: a confidence of at least {SURE}. "
    "The attributes of "
    "generated and of SWDE sites have no types and their own names, so that less can be known of "
    "them; those of the demo sites have both.\n\n"
)


def run(data: Path | None = None) -> str:
    """Return the tables as a section in Markdown."""
    groups = {"demo sites": list(demo_clusters()), "generated sites": list(hold_out_clusters())}
    if data is not None and (data / "swde").is_dir():
        groups["SWDE"] = list(swde_clusters(data / "swde"))
    tables = {name: [judge(cluster) for cluster in clusters] for name, clusters in groups.items()}
    rows = [row_of(name, merged(table)) for name, table in tables.items()]
    for name, clusters in groups.items():
        rows += [
            row_of(f"{name}: {cluster.name}", table)
            for cluster, table in zip(clusters, tables[name], strict=True)
        ]
    heads = [
        "cluster",
        "right",
        "precision",
        "recall",
        "sure: precision",
        "sure: recall",
        "absence",
        "ms a page",
    ]
    sources = merged([member for group in tables.values() for member in group])
    left_out = "" if "SWDE" in groups else "\n\nSWDE: left out, its pages are not in the folder."
    return INTRODUCTION + markdown_table(heads, rows) + "\n\n" + source_table(sources) + left_out


def judge(cluster: LabelledCluster) -> Counter[str]:
    """Count what the suggestions for some pages of a cluster come to."""
    pages = list(cluster.trees)[:N_PAGES]
    types = types_of(cluster)
    wanted = [
        AttributeType(name, types.get(name, "text"), is_multi=name in cluster.multi)
        for name in cluster.attributes
    ]
    counts: Counter[str] = Counter()
    prints = {page: SpotIndex(cluster.trees[page]).page_print for page in pages}
    for page in pages:
        began = time.process_time()
        others = [text_print for name, text_print in prints.items() if name != page][:N_OTHERS]
        read = SpotIndex(cluster.trees[page], f"https://site.example/{page}", others)
        best: dict[str, Suggestion] = {}
        for each in suggest(read, read_declared(cluster.trees[page]), wanted):
            best.setdefault(each.attribute, each)
        counts["ms"] += round((time.process_time() - began) * 1000)
        counts["pages"] += 1
        for name in cluster.attributes:
            _count(counts, best.get(name), cluster.truth[page].get(name, []))
    return counts


def types_of(cluster: LabelledCluster) -> dict[str, str]:
    """Return the types of a demo site's attributes; those of other sites are texts."""
    name = cluster.name.split(" ")[0]
    if name not in sites.NAMES:
        return {}
    return {
        attribute["name"]: attribute["type"]
        for attribute in sites.load(name).vertical["attributes"]
    }


def _count(counts: Counter[str], suggestion: Suggestion | None, truth: Sequence[str]) -> None:
    counts["shown" if truth else "lacking"] += 1
    if suggestion is None:
        return
    if not suggestion.marks:
        counts["absent"] += 1
        counts["wrongly absent"] += bool(truth)
        return
    is_right = compared([mark.text for mark in suggestion.marks]) == compared(truth)
    is_sure = suggestion.confidence >= SURE
    for key in ("", "sure ") if is_sure else ("",):
        counts[f"{key}said"] += 1
        counts[f"{key}right"] += is_right
    counts[f"of {suggestion.source}"] += 1
    counts[f"right {suggestion.source}"] += is_right


def merged(all_told: Sequence[Counter[str]]) -> Counter[str]:
    """Return the sums of several counts."""
    counts: Counter[str] = Counter()
    for each in all_told:
        counts.update(each)
    return counts


def row_of(name: str, counts: Counter[str]) -> list[object]:
    return [
        name,
        counts["right"],
        share(counts["right"], counts["said"]),
        share(counts["right"], counts["shown"]),
        share(counts["sure right"], counts["sure said"]),
        share(counts["sure right"], counts["shown"]),
        (
            f"{counts['absent'] - counts['wrongly absent']} of {counts['lacking']}, "
            f"{counts['wrongly absent']} wrong"
        ),
        f"{counts['ms'] / max(1, counts['pages']):.0f}",
    ]


def source_table(counts: Counter[str]) -> str:
    result: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for source, place, n in _by_source(counts):
        result[source][place] += n
    rows = [
        [source, said, share(right, said)]
        for source, (said, right) in sorted(result.items(), key=lambda each: -each[1][0])
    ]
    return markdown_table(["source of the best suggestion", "suggestions", "right"], rows)


def _by_source(counts: Counter[str]) -> Iterator[tuple[str, int, int]]:
    for key, n in counts.items():
        word, _, source = key.partition(" ")
        if source and word in {"of", "right"}:
            yield source, int(word == "right"), n


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "\u2013"
