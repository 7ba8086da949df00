"""The types of labelled sites as clusters, with the kinds that a person gave them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from benchmarks import labelled_sites
from benchmarks.labelled_sites import DESIGNS, DRAWERS, GENERATED, OUTAGE, TRUTH, LabelledPage
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.kind_features import ClusterFacts
from clustering.algorithms.kinds.page_facts import read_facts

N_READ = 20  # pages of a type, as many as a clustering reads


@dataclass(frozen=True)
class LabelledCluster:
    """The pages of one type."""

    type: str
    kinds: frozenset[str]  # any of which is right
    facts: ClusterFacts

    @property
    def is_scored(self) -> bool:
        return self.type not in DRAWERS


@dataclass(frozen=True)
class ClusteredSite:
    """A site, or one version of it, with its types as clusters."""

    name: str
    family: str  # sites of one family are left out together
    clusters: Sequence[LabelledCluster]


def load_sites(data: Path) -> Iterator[ClusteredSite]:
    """Yield all sites of the truth; the generated ones, made by one program, are one family."""
    truth = _read_truth()
    for site in labelled_sites.load_sites(data, (*DESIGNS, OUTAGE)):
        family = GENERATED if site.origin == GENERATED else site.family
        clusters = list(_clusters(site.pages_by_type(), truth[site.name]))
        yield ClusteredSite(site.name, family, clusters)


def _read_truth() -> dict[str, dict[str, frozenset[str]]]:
    kinds: dict[str, dict[str, frozenset[str]]] = {}
    with TRUTH.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            kinds.setdefault(row["site"], {})[row["type"]] = frozenset(row["kind"].split("|"))
    return kinds


def _clusters(
    pages_by_type: Mapping[str, Sequence[LabelledPage]], kinds: Mapping[str, frozenset[str]]
) -> Iterator[LabelledCluster]:
    for name, typed in sorted(pages_by_type.items()):
        read = sorted(typed, key=lambda page: xxhash.xxh64_intdigest(page.page.url.encode()))
        facts = ClusterFacts(
            # A copy of the page, so that no tree stays in memory.
            [
                read_facts(
                    RawPage(page.page.url, page.page.body, page.page.content_type), page.status
                )
                for page in read[:N_READ]
            ],
            [page.page.url for page in typed],
        )
        yield LabelledCluster(name, kinds[name], facts)
