"""The pages of a site on the way to a clustering: their groups, and the figures of each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clustering.algorithms.cohesion import Centre, centre_of, cohesion_of, distance_to
from clustering.algorithms.grouping import Clusterer
from clustering.algorithms.kinds.cluster_kinds import JudgedKind, cluster_kinds
from clustering.algorithms.kinds.kind_features import ClusterFacts
from clustering.algorithms.kinds.page_facts import read_facts
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.page_map import MAX_PAGES, place_on_map
from clustering.algorithms.path_sets import Hashes
from clustering.algorithms.published.shingles import masked_vectors
from clustering.algorithms.published.signatures import Masked
from clustering.algorithms.titles.cluster_pages import ClusterPages
from clustering.algorithms.titles.titles import title_clusters
from clustering.algorithms.url_patterns import pattern_of
from clustering.services.pages.stored_pages import StoredPage, read_pages

# A large cluster has more pages than that, and a larger share of the site.
MIN_LARGE_PAGES, MIN_LARGE_SHARE = 100, 0.001
N_EXAMPLES = 5
ON_MAP_FIRST = 20  # pages of each group, so that small ones are on the map of a large site
MAX_PAGES_WITH_TEXTS = 100  # of a group, whose texts give it a title
# Pages that are read once more for a title, of a group and of a site.
MIN_READ, MAX_READ, MAX_READ_OF_SITE = 2, 20, 4_000


class GroupedPage(NamedTuple):
    """Where an algorithm put a page."""

    page: StoredPage
    group: str | None
    distance: float | None  # from the group's centre
    layout: str | None = None  # in its group


class GroupFigures(NamedTuple):
    """What a clustering knows of one of its groups."""

    n_pages: int
    title: str
    signature: str
    n_covered: int  # pages that the signature covers
    url_pattern: str
    cohesion: float | None
    examples: list[int]  # pages, the most typical first
    kind: str
    certainty: float  # of the kind


@dataclass
class GroupedPages:
    """The pages of a site in their groups, as they come in: the sampled ones first."""

    clusterer: Clusterer
    pages: list[GroupedPage] = field(default_factory=list)
    centre_by_group: dict[str, Centre] = field(default_factory=dict)
    n_by_vector: dict[str, Counter[int]] = field(default_factory=dict)
    texts_by_group: dict[str, list[ObservedPage]] = field(default_factory=dict)

    def add_sample(
        self,
        observed: Sequence[tuple[StoredPage, ObservedPage]],
        group_by_page: Mapping[int, str | None],
        layout_by_page: Mapping[int, str],
    ) -> None:
        """Add the pages by which the groups were made; the centres are theirs."""
        paths_by_group: dict[str, list[Hashes]] = {}
        for page, seen in observed:
            group = group_by_page.get(page.pk)
            if group is not None:
                paths_by_group.setdefault(group, []).append(seen.paths)
                texts = self.texts_by_group.setdefault(group, [])
                if len(texts) < MAX_PAGES_WITH_TEXTS:
                    texts.append(seen)
        self.centre_by_group = {group: centre_of(paths) for group, paths in paths_by_group.items()}
        for page, seen in observed:
            self.add(page, seen, group_by_page.get(page.pk), layout_by_page.get(page.pk))

    def add(
        self,
        page: StoredPage,
        seen: ObservedPage,
        group: str | None,
        layout: str | None = None,
    ) -> None:
        """Add a page with its group, None where it is in none, and its layout in the group."""
        distance = None
        if group is not None:
            centre = self.centre_by_group.get(group)
            if centre is not None:
                distance = round(distance_to(centre, seen.paths), 4)
            if seen.vector is not None:
                self.n_by_vector.setdefault(group, Counter())[seen.vector] += 1
        self.pages.append(GroupedPage(page, group, distance, layout))

    def figures(self) -> dict[str, GroupFigures]:
        """Return the figures of each group that has pages."""
        pages_by_group: dict[str, list[GroupedPage]] = {}
        for grouped in self.pages:
            if grouped.group is not None:
                pages_by_group.setdefault(grouped.group, []).append(grouped)
        n_read = MAX_READ_OF_SITE // max(len(pages_by_group), 1)
        n_read = min(max(n_read, MIN_READ), MAX_READ)
        facts = [
            read_cluster_facts([grouped.page for grouped in grouped_pages], n_read)
            for grouped_pages in pages_by_group.values()
        ]
        kinds = cluster_kinds(facts)
        described = []
        for group, known, kind in zip(pages_by_group, facts, kinds, strict=True):
            pages = [grouped.page for grouped in pages_by_group[group]]
            texts = self.texts_by_group.get(group, [])
            described.append(describe_pages(pages, texts, known, kind))
        titles = title_clusters(described)
        return {
            group: self._figures(group, pages_by_group[group], title, kind)
            for group, title, kind in zip(pages_by_group, titles, kinds, strict=True)
        }

    def _figures(
        self, group: str, pages: Sequence[GroupedPage], title: str, kind: JudgedKind
    ) -> GroupFigures:
        n_by_vector = self.n_by_vector.get(group, Counter())
        signature, n_covered = signature_of(self.clusterer, group, n_by_vector)
        by_distance = sorted(
            (grouped.distance, grouped.page.url, grouped.page.pk)
            for grouped in pages
            if grouped.distance is not None
        )
        return GroupFigures(
            n_pages=len(pages),
            title=title,
            signature=signature,
            n_covered=n_covered,
            url_pattern=pattern_of([grouped.page.url for grouped in pages]),
            cohesion=cohesion_of([distance for distance, _, _ in by_distance]),
            examples=[pk for _, _, pk in by_distance[:N_EXAMPLES]],
            kind=kind.kind,
            certainty=kind.certainty,
        )


def read_cluster_facts(pages: Sequence[StoredPage], n_read: int) -> ClusterFacts:
    """Read the first pages of a cluster once more, for its kind and its title."""
    read = pages[:n_read]
    facts = [
        read_facts(page, stored.status) for stored, page in zip(read, read_pages(read), strict=True)
    ]
    return ClusterFacts(facts, [page.url for page in pages])


def describe_pages(
    pages: Sequence[StoredPage],
    observed: Sequence[ObservedPage],
    facts: ClusterFacts,
    kind: JudgedKind,
) -> ClusterPages:
    """Return what is known of a cluster's pages, for its title."""
    return ClusterPages(
        urls=[page.url for page in pages],
        titles=[seen.title for seen in observed],
        headings=[seen.heading for seen in observed],
        labels=[seen.labels for seen in observed],
        kinds=[page.shown for page in facts.pages],
        kind=kind.kind,
    )


def signature_of(
    clusterer: Clusterer, group: str, n_by_vector: Mapping[int, int]
) -> tuple[str, int]:
    """Return a group's masked signature, and how many of its pages it covers.

    It is the one that made the group, which the group's rule inherits (III-A, IV); where the
    algorithm groups by something else, the one that covers most.
    """
    if clusterer.names_are_signatures:
        return group, sum(n_by_vector.values())
    return best_signature(n_by_vector)


def best_signature(n_by_vector: Mapping[int, int]) -> tuple[str, int]:
    """Return the masked signature that covers most of a group's pages, and how many it covers.

    Without any page that has tags it is blank. At most two of its bytes vary, as in Algorithm 1.
    """
    counts: Counter[Masked] = Counter()
    for vector, n in sorted(n_by_vector.items()):
        for masked in masked_vectors(vector):
            counts[masked] += n
    if not counts:
        return "", 0
    n_covered = max(counts.values())
    best = min(
        (masked for masked, n in counts.items() if n == n_covered),
        key=lambda masked: (masked.wild.bit_count(), -masked.wild, masked.value),
    )
    return str(best), n_covered


def measure(figures: Iterable[GroupFigures], n_pages: int) -> dict[str, float | None]:
    """Return the measures of a clustering that need no truth.

    Coverage is the share of the large clusters' pages that their signatures cover; where no cluster
    is large, of all clusters' pages.
    """
    groups = list(figures)
    min_large = max(MIN_LARGE_PAGES, MIN_LARGE_SHARE * n_pages)
    large = [group for group in groups if group.n_pages > min_large] or groups
    n_large = sum(group.n_pages for group in large)
    n_covered = sum(group.n_covered for group in large)
    cohesions = [(group.cohesion, group.n_pages) for group in groups if group.cohesion is not None]
    n_cohesive = sum(n for _, n in cohesions)
    n_grouped = sum(group.n_pages for group in groups)
    return {
        "coverage": n_covered / n_large if n_large else None,
        "cohesion": sum(value * n for value, n in cohesions) / n_cohesive if n_cohesive else None,
        "unassigned": 1 - n_grouped / n_pages if n_pages else 0.0,
    }


def map_pages(
    observed: Sequence[tuple[StoredPage, ObservedPage]], group_by_page: Mapping[int, str | None]
) -> list[tuple[int, float, float]]:
    """Return page, x and y of as many pages as a map holds, the first of each group among them."""
    n_by_group: Counter[str | None] = Counter()
    first, later = [], []
    for page, seen in observed:
        group = group_by_page.get(page.pk)
        n_by_group[group] += 1
        if n_by_group[group] <= ON_MAP_FIRST:
            first.append((page.pk, seen.paths))
        else:
            later.append((page.pk, seen.paths))
    shown = [*first, *later][:MAX_PAGES]
    points = place_on_map([paths for _, paths in shown])
    return [(pk, x, y) for (pk, _), (x, y) in zip(shown, points, strict=True)]
