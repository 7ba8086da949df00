"""What is found of a site's pages on the way to a clustering: their groups, and the figures of each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clustering.algorithms.cohesion import Centre, centre_of, cohesion_of, distance_to
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.page_map import MAX_PAGES, place_on_map
from clustering.algorithms.path_sets import Hashes
from clustering.algorithms.published.shingles import Masked, masked_vectors
from clustering.algorithms.titles.page_kinds import read_kind
from clustering.algorithms.titles.titles import ClusterPages, title_clusters
from clustering.algorithms.url_patterns import pattern_of
from clustering.services.pages.stored_pages import StoredPage, read_pages

LARGE, LARGE_SHARE = (
    100,
    0.001,
)  # a large cluster has more pages than that, and a larger share of the site
N_EXAMPLES = 5
ON_MAP_FIRST = 20  # pages of each group, so that small ones are on the map of a large site
NAMED_BY = 100  # pages of a group, whose texts give it a title
LEAST_READ, MOST_READ, READ_IN_ALL = (
    2,
    20,
    4_000,
)  # pages that are read once more, of a group and of a site


class GroupedPage(NamedTuple):
    """Where an algorithm put a page."""

    page: StoredPage
    group: str | None
    distance: float | None  # from the group's centre


class Figures(NamedTuple):
    """What a clustering knows of one of its groups."""

    n_pages: int
    title: str
    signature: str
    n_covered: int  # pages that the signature covers
    url_pattern: str
    cohesion: float | None
    examples: list[int]  # pages, the most typical first


@dataclass
class GroupedPages:
    """The pages of a site in their groups, as they come in: the sampled ones first."""

    found: list[GroupedPage] = field(default_factory=list)
    centre_by_group: dict[str, Centre] = field(default_factory=dict)
    n_by_vector: dict[str, Counter[int]] = field(default_factory=dict)
    texts_by_group: dict[str, list[ObservedPage]] = field(default_factory=dict)

    def add_sample(
        self,
        observed: Sequence[tuple[StoredPage, ObservedPage]],
        group_by_page: Mapping[int, str | None],
    ) -> None:
        """Take the pages by which the groups were made; the centres are theirs."""
        paths_by_group: dict[str, list[Hashes]] = {}
        for page, seen in observed:
            group = group_by_page.get(page.pk)
            if group is not None:
                paths_by_group.setdefault(group, []).append(seen.paths)
                texts = self.texts_by_group.setdefault(group, [])
                if len(texts) < NAMED_BY:
                    texts.append(seen)
        self.centre_by_group = {group: centre_of(paths) for group, paths in paths_by_group.items()}
        for page, seen in observed:
            self.add(page, seen, group_by_page.get(page.pk))

    def add(self, page: StoredPage, seen: ObservedPage, group: str | None) -> None:
        """Take a page that was put into a group."""
        distance = None
        if group is not None:
            centre = self.centre_by_group.get(group)
            distance = None if centre is None else round(distance_to(centre, seen.paths), 4)
            if seen.vector is not None:
                self.n_by_vector.setdefault(group, Counter())[seen.vector] += 1
        self.found.append(GroupedPage(page, group, distance))

    def figures(self) -> dict[str, Figures]:
        """Return the figures of each group that has pages."""
        pages_by_group: dict[str, list[GroupedPage]] = {}
        for one in self.found:
            if one.group is not None:
                pages_by_group.setdefault(one.group, []).append(one)
        n_read = min(MOST_READ, max(LEAST_READ, READ_IN_ALL // max(len(pages_by_group), 1)))
        titles = title_clusters(
            [self._texts(group, pages, n_read) for group, pages in pages_by_group.items()]
        )
        return {
            group: self._figures(group, pages, title)
            for (group, pages), title in zip(pages_by_group.items(), titles, strict=True)
        }

    def _texts(self, group: str, pages: Sequence[GroupedPage], n_read: int) -> ClusterPages:
        seen = self.texts_by_group.get(group, [])
        return ClusterPages(
            [one.page.url for one in pages],
            [page.title for page in seen],
            [page.heading for page in seen],
            [page.labels for page in seen],
            [read_kind(page) for page in read_pages([one.page for one in pages[:n_read]])],
            [one.page.status for one in pages],
        )

    def _figures(self, group: str, pages: Sequence[GroupedPage], title: str) -> Figures:
        signature, n_covered = best_signature(self.n_by_vector.get(group, Counter()))
        judged = [
            (one.distance, one.page.url, one.page.pk) for one in pages if one.distance is not None
        ]
        return Figures(
            n_pages=len(pages),
            title=title,
            signature=signature,
            n_covered=n_covered,
            url_pattern=pattern_of([one.page.url for one in pages]),
            cohesion=cohesion_of([distance for distance, _, _ in judged]),
            examples=[pk for _, _, pk in sorted(judged)[:N_EXAMPLES]],
        )


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


def measure(figures: Iterable[Figures], n_pages: int) -> dict[str, float | None]:
    """Return the measures of a clustering that need no truth.

    Coverage is the share of the large clusters' pages that their signatures cover; where no cluster is
    large, of all clusters' pages.
    """
    of_groups = list(figures)
    large = [
        one for one in of_groups if one.n_pages > max(LARGE, LARGE_SHARE * n_pages)
    ] or of_groups
    n_large = sum(one.n_pages for one in large)
    n_grouped = sum(one.n_pages for one in of_groups)
    cohesion = [(one.cohesion, one.n_pages) for one in of_groups if one.cohesion is not None]
    n_judged = sum(n for _, n in cohesion)
    return {
        "coverage": sum(one.n_covered for one in large) / n_large if n_large else None,
        "cohesion": sum(value * n for value, n in cohesion) / n_judged if n_judged else None,
        "unassigned": 1 - n_grouped / n_pages if n_pages else 0.0,
    }


def map_pages(
    observed: Sequence[tuple[StoredPage, ObservedPage]], group_by_page: Mapping[int, str | None]
) -> list[tuple[int, float, float]]:
    """Return page, x and y of so many pages as a map holds, some of each group among them."""
    n_by_group: Counter[str | None] = Counter()
    ranked = []
    for place, (page, seen) in enumerate(observed):
        group = group_by_page.get(page.pk)
        n_by_group[group] += 1
        ranked.append((n_by_group[group] > ON_MAP_FIRST, place, page.pk, seen.paths))
    shown = sorted(ranked, key=lambda one: one[:2])[:MAX_PAGES]
    places = place_on_map([paths for *_, paths in shown])
    return [(pk, x, y) for (_, _, pk, _), (x, y) in zip(shown, places, strict=True)]
