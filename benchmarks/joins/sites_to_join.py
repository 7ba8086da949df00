"""Sites to learn the joins from and to judge them on, and how well a grouping fits their types."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from benchmarks import labelled_sites
from benchmarks.labelled_sites import DRAWERS, SWDE, LabelledPage, listed_pages
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.measures import Measures, compare
from vertex.demo import sites

MIN_PAGES_OF_TYPE = 2
MAX_PAGES = 220
MIN_SAMPLED_OF_TYPE = 12
N_MIXED = 40  # pages of each site in a mix


@dataclass(frozen=True)
class SiteToJoin:
    """Pages of a site with their types."""

    name: str
    family: str  # sites of one family are left out together
    kind: str  # real, generated, demo, single (of one template) or mix
    pages: Sequence[LabelledPage]

    def score(self, groups: Sequence[int]) -> Measures:
        """Return the measures of a grouping under the joining of types that agrees best."""
        return max(
            (self._measure(groups, types) for types in self._joinings()),
            key=lambda measures: measures.adjusted_rand,
        )

    def best_types(self, groups: Sequence[int]) -> list[str]:
        """Return the type of each page under the joining that agrees best with a grouping."""
        return max(self._joinings(), key=lambda types: self._measure(groups, types).adjusted_rand)

    def _joinings(self) -> Iterator[list[str]]:
        """Yield the type of each page, with some of the wider types in place of narrow ones."""
        wider = sorted({page.wider for page in self.pages} - {""})
        for n in range(len(wider) + 1):
            for joined in itertools.combinations(wider, n):
                yield [page.wider if page.wider in joined else page.type for page in self.pages]

    def _measure(self, groups: Sequence[int], types: Sequence[str]) -> Measures:
        counts = Counter(page.type for page in self.pages)
        judged = [
            number
            for number, page in enumerate(self.pages)
            if page.type not in DRAWERS and counts[page.type] >= MIN_PAGES_OF_TYPE
        ]
        return compare(
            {str(number): str(groups[number]) for number in judged},
            {str(number): types[number] for number in judged},
        )


def cut(pages: Sequence[LabelledPage], n: int = MAX_PAGES) -> list[LabelledPage]:
    """Return about n pages, those of small types first, always the same ones."""
    if len(pages) <= n:
        return list(pages)
    by_type: dict[str, list[LabelledPage]] = {}
    for page in sorted(pages, key=_order):
        by_type.setdefault(page.type, []).append(page)
    first = [page for group in by_type.values() for page in group[:MIN_SAMPLED_OF_TYPE]]
    rest = [page for group in by_type.values() for page in group[MIN_SAMPLED_OF_TYPE:]]
    rest.sort(key=_order)
    remaining = {page.page.url for page in [*first, *rest[: max(n - len(first), 0)]]}
    return [page for page in pages if page.page.url in remaining]


def _order(page: LabelledPage) -> int:
    return xxhash.xxh64_intdigest(page.page.url.encode("utf-8", "surrogatepass"))


def load_sites(data: Path) -> Iterator[SiteToJoin]:
    """Yield all labelled sites but those kept for a last look."""
    mixes: dict[str, list[LabelledPage]] = {}
    for site in labelled_sites.load_sites(data):
        kind = "single" if site.origin == SWDE else site.origin
        yield SiteToJoin(site.label, site.family, kind, site.pages)
        if site.origin == SWDE:
            mixes.setdefault(site.family, []).extend(site.pages[:N_MIXED])
    for vertical, pages in mixes.items():
        yield SiteToJoin(f"{vertical} mix", vertical, "mix", pages)
    yield from demo_sites()


def last_look(data: Path) -> Iterator[SiteToJoin]:
    """Yield the sites that nothing is chosen by."""
    for folder in sorted((data / "last_look").iterdir()):
        pages = listed_pages(folder)
        if pages:
            yield SiteToJoin(folder.name, folder.name, "real", pages)


def demo_sites() -> Iterator[SiteToJoin]:
    """Yield the demo sites, whose near-twins are of one type: one rule serves both."""
    for name in sites.NAMES:
        for edition in ("1", "2"):
            site = sites.load(name, edition)
            pages = [
                LabelledPage(
                    RawPage(site.default_url + page.path, page.body, page.content_type),
                    page.cluster_type,
                )
                for page in site.pages.values()
            ]
            yield SiteToJoin(f"{name} {edition}", name, "demo", pages)
