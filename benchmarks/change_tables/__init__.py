"""How often sites change and whose rules break: Tables III and IV of the Vertex paper.

The pages of a site's first version are clustered by Algorithm 1. The coverage of a later version is
the share of its pages that the signatures of these clusters cover; a fall by more than a threshold
is a change of the site. Each cluster stands for a rule, watched by at most 20 of its pages as
samples are drawn: it breaks where the signature no longer covers most of them. Pages that answer
with an error were not crawled. The paper watched 43 sites for 30 days; the versions here are days
to years apart, those of generated sites are 1 content, 2 cosmetic edits, 3 one layout redesigned, 4
all templates, 5 two fields exchanged, 6 an outage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from annotation.algorithms.sampling import draw, observe
from benchmarks.redesigns.cases import Edition
from benchmarks.report import markdown_table
from benchmarks.site_changes.histories import sequences
from clustering.algorithms.grouping import ClusteringInputs
from clustering.algorithms.published import shingles
from clustering.algorithms.published.signatures import Masked, read_signature
from clustering.dom.page import parse_page
from monitoring.algorithms.change_statistics import change_table

TITLE = "Site changes and rule breakages"
N_BELLWETHERS: Final = 20
MAJORITY: Final = 0.5
FIRST_ERROR_STATUS: Final = 400
# Of 43 sites, those that changed so often, by threshold; and all changes.
PAPER_ROWS: Final = {
    0: (26, 27, 28, 29, 30),
    1: (10, 11, 12, 11, 11),
    2: (5, 4, 2, 3, 2),
    3: (1, 1, 1, 0, 0),
    4: (1, 0, 0, 0, 0),
}
PAPER_TOTALS: Final = (27, 22, 19, 17, 15)
PAPER_BROKEN: Final = (
    ("alibaba.com", 6, 3, "100 %", "above 10 %"),
    ("alibris.com", 2, 2, "99.5 %", "above 10 %"),
    ("amazon.com", 3, 3, "100 %", "above 10 %"),
    ("fodors.com", 10, 1, "90.5 %", "below 10 %"),
    ("gsmarena.com", 20, 2, "81.8 %", "below 10 %"),
    ("toysrus.com", 17, 1, "80.3 %", "below 10 %"),
)

Vectors = Mapping[str, int | None]  # by path


class WatchedRule(NamedTuple):
    """A cluster of the first version: its signature, and the pages by which its rule is watched."""

    signature: Masked
    bellwethers: Sequence[str]


class Breakage(NamedTuple):
    """A version in which rules of the first one broke."""

    site: str
    version: str
    n_rules: int
    n_broken: int
    changed_share: float  # of the bellwethers of those that broke
    coverage_drop: float


def run(data: Path | None) -> str:
    """Return both tables as a section in Markdown."""
    shares_by_site: dict[str, list[float]] = {}
    breakages: list[Breakage] = []
    for site, versions in sequences(data):
        first, *later = [(name, _vectors(edition)) for name, edition in versions.items()]
        rules = watched_rules(versions[first[0]], first[1])
        shares = [covered_share(rules, vectors) for _, vectors in [first, *later]]
        shares_by_site[site] = shares
        for (name, vectors), share in zip(later, shares[1:], strict=True):
            breakages.append(breakage(site, name, rules, vectors, shares[0] - share))
    parts = [
        str(__doc__).split("\n\n", 1)[1].strip(),
        f"## Table III\n\n{_table_iii(shares_by_site)}",
        f"## Table IV\n\n{_table_iv(breakages)}",
    ]
    return "\n\n".join(parts)


def watched_rules(edition: Edition, vectors: Vectors) -> list[WatchedRule]:
    """Return the clusters of a version by Algorithm 1, each with the pages that are watched."""
    paths = list(vectors)
    grouping = shingles.cluster_pages(paths, list(vectors.values()), ClusteringInputs())
    rules = []
    for group in grouping.groups:
        members = [paths[place] for place in group.members]
        seen = []
        with_tree = []
        for path in members:
            tree = parse_page(edition[path].body, edition[path].content_type).tree
            if tree is not None:
                seen.append(observe(tree))
                with_tree.append(path)
        drawn = draw(seen, size=N_BELLWETHERS)
        bellwethers = [with_tree[sample.page] for sample in drawn]
        rules.append(WatchedRule(read_signature(group.name), bellwethers))
    return rules


def covered_share(rules: Sequence[WatchedRule], vectors: Vectors) -> float:
    """Return the share of a version's pages that some signature covers."""
    n_covered = sum(
        vector is not None and any(rule.signature.covers(vector) for rule in rules)
        for vector in vectors.values()
    )
    return n_covered / len(vectors) if vectors else 0.0


def breakage(
    site: str, version: str, rules: Sequence[WatchedRule], vectors: Vectors, drop: float
) -> Breakage:
    """Return how many rules break in a version; pages that are not in it say nothing."""
    n_broken = n_watched = n_changed = 0
    for rule in rules:
        answers = [_is_changed(rule, vectors[path]) for path in rule.bellwethers if path in vectors]
        if sum(answers) > MAJORITY * len(answers):
            n_broken += 1
            n_watched += len(answers)
            n_changed += sum(answers)
    share = n_changed / n_watched if n_watched else 0.0
    return Breakage(site, version, len(rules), n_broken, share, drop)


def _is_changed(rule: WatchedRule, vector: int | None) -> bool:
    return vector is None or not rule.signature.covers(vector)


def _vectors(edition: Edition) -> dict[str, int | None]:
    """Return the signature of each page that answers without an error."""
    return {
        path: shingles.shingle_vector(page.body, page.content_type)
        for path, page in edition.items()
        if page.status < FIRST_ERROR_STATUS
    }


def _table_iii(shares_by_site: Mapping[str, Sequence[float]]) -> str:
    table = change_table(shares_by_site)
    columns = ["changes", *(f"{threshold:.0%}" for threshold in table.thresholds)]
    rows: list[list[object]] = []
    for n_changes, n_sites in table.rows:
        paper = PAPER_ROWS.get(n_changes, (0,) * len(table.thresholds))
        rows.append([n_changes, *_beside(n_sites, paper)])
    rows.append(["all changes", *_beside(table.totals, PAPER_TOTALS)])
    return (
        f"Of {table.n_sites} sites, those that changed so often, by the fall of the coverage; in "
        f"parentheses the paper, of 43 sites.\n\n{markdown_table(columns, rows)}"
    )


def _beside(numbers: Sequence[int], paper: Sequence[int]) -> Iterator[str]:
    for number, in_paper in zip(numbers, paper, strict=True):
        yield f"{number} ({in_paper})"


def _table_iv(breakages: Sequence[Breakage]) -> str:
    broken = [row for row in breakages if row.n_broken]
    broken.sort(key=lambda row: (-row.coverage_drop, row.site, row.version))
    rows: list[list[object]] = [
        [
            f"{row.site}, {row.version}",
            row.n_rules,
            row.n_broken,
            f"{row.changed_share:.1%}",
            f"{row.coverage_drop:.2f}",
        ]
        for row in broken
    ]
    rows += [[f"paper: {site}", *cells] for site, *cells in PAPER_BROKEN]
    columns = ["site, version", "clusters", "rules broken", "bellwethers changed", "coverage drop"]
    return (
        f"The {len(broken)} of {len(breakages)} versions in which a rule breaks; "
        "the share of changed bellwethers is "
        f"that of the rules that broke.\n\n{markdown_table(columns, rows)}"
    )
