"""Whether rules of details are lent to their own kind only: not to lists, searches, error pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import xxhash
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from benchmarks import labelled_sites
from benchmarks.cluster_kinds.labelled_clusters import ClusteredSite
from benchmarks.cluster_kinds.labelled_clusters import load_sites as clustered_sites
from benchmarks.cluster_kinds.learning import learn_weights, measure_site
from benchmarks.labelled_sites import DESIGNS, DRAWERS, OUTAGE, REAL, LabelledPage
from benchmarks.report import markdown_table
from clustering.algorithms.kinds.cluster_kinds import cluster_kinds
from clustering.algorithms.kinds.kind_names import DETAIL
from clustering.algorithms.slots.fields import find_fields, finders_of
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.running.borrowing import (
    MIN_SHARE_READ,
    NodesByAttribute,
    nodes_by_attribute,
    share_read,
)
from rules.algorithms.running.run_rule import StylesheetFailed, run_stylesheet
from rules.algorithms.stylesheet.stylesheet import stylesheet_of

TITLE = "Borrowed rules"
OTHER_HALF: Final = "the same type, its other half"
VERSIONS: Final = (
    "v0",
    OUTAGE,
)  # of a generated site; the outage brings soft 404 pages and the like
N_ANNOTATED: Final = 2
MAX_FIELDS: Final = 8
MIN_FILL: Final = 0.5  # the share of the pages that show a field
MIN_PAGES: Final = 6  # of a type whose rule is lent: three to learn from and three that borrow
MAX_PAGES_READ: Final = 10  # of each side, as where clusters are asked

INTRODUCTION: Final = (
    "Types of pages of labelled sites, taken as clusters. "
    "A rule of each type of details is learnt from "
    f"{N_ANNOTATED} pages of one half of it, on which the first {MAX_FIELDS} fields are annotated "
    "that are found "
    "without a teacher. It is tried on the other half, which should borrow it, "
    "and on every other type of the "
    f"site. It reads enough where it reads at least {MIN_SHARE_READ:.0%} of what it reads at home. "
    "The product asks only "
    "clusters that it takes for details; what it takes them for is told by weights that were "
    "learnt without the "
    "site. A further type of details is told apart by the vertical that people give it, "
    "which is not known here.\n\n"
)


class Trial(NamedTuple):
    """How much of what a rule reads at home it reads on the pages of another type."""

    site: str
    kind: str  # of the type that would borrow, as a person labelled it
    what: str
    share: float
    is_asked: bool  # the type is told to be details

    @property
    def reads_enough(self) -> bool:
        return self.share >= MIN_SHARE_READ


def run(data: Path | None) -> str:
    """Return how many types of each kind would borrow a rule of details, as a Markdown section."""
    if data is None or not (data / "generated").is_dir():
        return "Left out: the labelled sites are not in the folder."
    clustered = list(clustered_sites(data))
    details_by_site = _told_details(clustered)
    trials: list[Trial] = []
    labelled = labelled_sites.load_sites(data, (*DESIGNS, OUTAGE))
    for site, labels, details in zip(labelled, clustered, details_by_site, strict=True):
        if site.origin == REAL or site.label.endswith(VERSIONS):
            kinds = {cluster.type: cluster.kinds for cluster in labels.clusters}
            trials += _trials(site.name, site.pages_by_type(), kinds, details)
    return INTRODUCTION + report(trials)


def _told_details(sites: Sequence[ClusteredSite]) -> list[set[str]]:
    """Return for each site the types that are told to be details, by weights learnt without it."""
    rows = [row for site in sites for row in measure_site(site)]
    weights_by_family = {
        family: learn_weights([row for row in rows if row.family != family])
        for family in {site.family for site in sites}
    }
    details = []
    for site in sites:
        facts = [cluster.facts for cluster in site.clusters]
        answers = zip(
            site.clusters, cluster_kinds(facts, weights_by_family[site.family]), strict=True
        )
        details.append({cluster.type for cluster, answer in answers if answer.kind == DETAIL})
    return details


def _trials(
    name: str,
    pages_by_type: Mapping[str, Sequence[LabelledPage]],
    kinds: Mapping[str, frozenset[str]],
    told_details: Collection[str],
) -> Iterator[Trial]:
    trees_by_type = {
        type_: _trees(pages) for type_, pages in pages_by_type.items() if type_ not in DRAWERS
    }
    lenders = [
        type_
        for type_, trees in trees_by_type.items()
        if kinds[type_] == {DETAIL} and len(trees) >= MIN_PAGES
    ]
    # A stylesheet strips blank texts from a tree, so all rules are learnt before one runs.
    stylesheets = {lender: _learn(trees_by_type[lender][::2]) for lender in lenders}
    for lender, stylesheet in stylesheets.items():
        at_home = [_nodes_on(tree, stylesheet) for tree in trees_by_type[lender][::2]]
        for borrower, trees in trees_by_type.items():
            asked = trees[1::2] if borrower == lender else trees[:MAX_PAGES_READ]
            if asked:
                kind = OTHER_HALF if borrower == lender else " or ".join(sorted(kinds[borrower]))
                share = share_read(at_home, [_nodes_on(tree, stylesheet) for tree in asked])
                yield Trial(name, kind, f"{lender} → {borrower}", share, borrower in told_details)


def _trees(pages: Sequence[LabelledPage]) -> list[_Element]:
    """Return the trees of the pages in the order in which a clustering reads them."""
    in_order = sorted(pages, key=lambda page: xxhash.xxh64_intdigest(page.page.url.encode()))
    trees = [page.page.tree for page in in_order[: 2 * MAX_PAGES_READ]]
    return [tree for tree in trees if tree is not None]


def _learn(trees: Sequence[_Element]) -> str:
    """Return the stylesheet that is learnt from the first fields of some pages."""
    fields = [
        field
        for field in find_fields(finders_of(trees))
        if not field.folded_into and not field.is_multi and not field.is_image
    ]
    fields = [field for field in fields if field.slot.fill >= MIN_FILL][:MAX_FIELDS]
    annotated = [
        AnnotatedPage(
            f"page {number}",
            tree,
            {
                field.name: [MarkedNode(field.slot.texts[number][0].text.xpath)]
                for field in fields
                if number in field.slot.texts
            },
        )
        for number, tree in enumerate(trees[:N_ANNOTATED])
    ]
    specs = [AttributeType(field.name) for field in fields]
    return stylesheet_of(learn_cluster(annotated, trees[N_ANNOTATED:], specs))


def _nodes_on(tree: _Element, stylesheet: str) -> NodesByAttribute:
    try:
        return nodes_by_attribute(run_stylesheet(stylesheet, tree))
    except StylesheetFailed:
        return {}


def report(trials: Sequence[Trial]) -> str:
    """Return the table of kinds, and the trials in which another kind would borrow."""
    by_kind: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_kind[trial.kind].append(trial)
    rows = []
    for kind, of_kind in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        n_enough = sum(trial.reads_enough for trial in of_kind)
        n_lent = sum(trial.reads_enough and trial.is_asked for trial in of_kind)
        mean = sum(trial.share for trial in of_kind) / len(of_kind)
        rows.append(
            [kind, len(of_kind), f"{mean:.2f}", n_enough, f"{n_lent} ({n_lent / len(of_kind):.1%})"]
        )
    others = [t for t in trials if t.kind != OTHER_HALF and DETAIL not in t.kind.split(" or ")]
    wrong = [t for t in others if t.reads_enough and t.is_asked]
    listed = "; ".join(f"{t.site}: {t.what} ({t.kind}, {t.share:.2f})" for t in wrong)
    header = [
        "kind of the borrower",
        "trials",
        "read, mean",
        "read enough",
        "read enough and asked: borrow",
    ]
    return (
        f"{markdown_table(header, rows)}\n\nOf {len(others)} trials on lists, searches, "
        "error pages and the like "
        f"{len(wrong)} would borrow ({len(wrong) / max(1, len(others)):.1%}): {listed or 'none'}."
    )
