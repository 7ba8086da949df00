"""How often suggestions before the first annotation are right: precision and recall, source by source."""

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
    f"The best suggestion for each attribute on {N_PAGES} pages of a cluster, with {N_OTHERS} others "
    "to compare with and nothing annotated. A suggestion is right if its values are those of the "
    "page, as sets without blanks. Precision: of those with values; recall: of the attributes that a "
    "page shows. Absence: of the pages that lack an attribute, for how many that is suggested, and "
    f"how many such suggestions are wrong. Sure: a confidence of at least {SURE}. The attributes of "
    "generated and of SWDE sites have no types and their own names, so that less can be known of "
    "them; those of the demo sites have both.\n\n"
)


def run(data: Path | None = None) -> str:
    """Return the tables as a section in Markdown."""
    groups = {"demo sites": list(demo_clusters()), "generated sites": list(hold_out_clusters())}
    if data is not None and (data / "swde").is_dir():
        groups["SWDE"] = list(swde_clusters(data / "swde"))
    tables = {name: [judge(cluster) for cluster in clusters] for name, clusters in groups.items()}
    rows = [row_of(name, merged(told)) for name, told in tables.items()]
    for name, clusters in groups.items():
        rows += [
            row_of(f"{name}: {cluster.name}", told)
            for cluster, told in zip(clusters, tables[name], strict=True)
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
    sources = merged([told for group in tables.values() for told in group])
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
    told: Counter[str] = Counter()
    prints = {page: SpotIndex(cluster.trees[page]).page_print for page in pages}
    for page in pages:
        began = time.process_time()
        others = [one for name, one in prints.items() if name != page][:N_OTHERS]
        read = SpotIndex(cluster.trees[page], f"https://site.example/{page}", others)
        best: dict[str, Suggestion] = {}
        for one in suggest(read, read_declared(cluster.trees[page]), wanted):
            best.setdefault(one.attribute, one)
        told["ms"] += round((time.process_time() - began) * 1000)
        told["pages"] += 1
        for name in cluster.attributes:
            _count(told, best.get(name), cluster.truth[page].get(name, []))
    return told


def types_of(cluster: LabelledCluster) -> dict[str, str]:
    """Return the types of a demo site's attributes; those of other sites are texts."""
    name = cluster.name.split(" ")[0]
    if name not in sites.NAMES:
        return {}
    return {one["name"]: one["type"] for one in sites.load(name).vertical["attributes"]}


def _count(told: Counter[str], suggestion: Suggestion | None, truth: Sequence[str]) -> None:
    told["shown" if truth else "lacking"] += 1
    if suggestion is None:
        return
    if not suggestion.marks:
        told["absent"] += 1
        told["wrongly absent"] += bool(truth)
        return
    is_right = compared([mark.text for mark in suggestion.marks]) == compared(truth)
    is_sure = suggestion.confidence >= SURE
    for key in ("", "sure ") if is_sure else ("",):
        told[f"{key}said"] += 1
        told[f"{key}right"] += is_right
    told[f"of {suggestion.source}"] += 1
    told[f"right {suggestion.source}"] += is_right


def merged(all_told: Sequence[Counter[str]]) -> Counter[str]:
    """Return the sums of several counts."""
    found: Counter[str] = Counter()
    for told in all_told:
        found.update(told)
    return found


def row_of(name: str, told: Counter[str]) -> list[object]:
    return [
        name,
        told["right"],
        share(told["right"], told["said"]),
        share(told["right"], told["shown"]),
        share(told["sure right"], told["sure said"]),
        share(told["sure right"], told["shown"]),
        f"{told['absent'] - told['wrongly absent']} of {told['lacking']}, {told['wrongly absent']} wrong",
        f"{told['ms'] / max(1, told['pages']):.0f}",
    ]


def source_table(told: Counter[str]) -> str:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for source, place, n in _by_source(told):
        found[source][place] += n
    rows = [
        [source, said, share(right, said)]
        for source, (said, right) in sorted(found.items(), key=lambda one: -one[1][0])
    ]
    return markdown_table(["source of the best suggestion", "suggestions", "right"], rows)


def _by_source(told: Counter[str]) -> Iterator[tuple[str, int, int]]:
    for key, n in told.items():
        word, _, source = key.partition(" ")
        if source and word in {"of", "right"}:
            yield source, int(word == "right"), n


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "\u2013"
