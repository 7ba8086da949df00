"""Measure what tells pages about one thing from lists: named numbers of a cluster.

Notation:   A link is own where it leads to another page, few pages of the cluster have it, and few
            clusters have it on most of their pages. A slot is a text that most pages show once,
            behind which stands a text that differs from page to page: a label with its values.
Readings:   Of one page or two, all links are own but those that other clusters have, and one page
            has no slots.
Cost:       Linear in the texts and links of the pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p
from statistics import mean
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from clustering.algorithms.kinds.page_facts import (
    MAX_LINKS_OF_REPEAT,
    NO_REPEAT,
    PageFacts,
    Repeat,
    address_hash,
)
from clustering.algorithms.titles.title_words import title_parts

MIN_SHARE_OF_PAGES = 0.5  # of a cluster's pages
# Shares of a site's clusters: links and classes that more of them have say nothing of one.
FEW_CLUSTERS, SOME_CLUSTERS = 0.3, 0.4
MIN_CLUSTERS = 2
FEW_PAGES = 2

_LIST_WORDS = frozenset(
    re.split(
        r"\s+",
        """all archive archives archiv archivo archivos browse by catalog catalogue categoria
        categories category categoría contents daftar directory gallery index indexes inhalt
        kategorie kategorien letter letters list liste listing listings lists members month overview
        page results schlagwort search sitemap tag tagged tags topics year übersicht""",
    )
)
_DETAIL_WORDS = frozenset(
    {"article", "detail", "details", "item", "post", "product", "profile", "single"}
)
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_INDEX_FILE = re.compile(r"index\.\w+$")
_PAGE_NUMBER = re.compile(r"[/?&=_-](?:page|pagina|pg|seite)[/=_-]?\d{1,4}(?:[/.&]|$)")


@dataclass(frozen=True)
class ClusterFacts:
    """What is known of a cluster's pages: of some what they show, of all the address."""

    pages: Sequence[PageFacts]
    urls: Sequence[str]


class KindFeatures(NamedTuple):  # in the order of the weights
    """What tells lists from pages about one thing; each says the more, the higher it is."""

    n_slots: float  # for things
    links_in: float  # share of the clusters whose own links lead to it; for things
    prose_share: float  # of the text; for things
    heading_differs: float  # share of headings that no other page has; for things
    detail_words_in_classes: float  # for things
    size_ratio: float  # how much larger the cluster is to which most own links lead; for lists
    repeat_own_links: float  # share of the largest repeat's siblings with an own link; for lists
    rows_linked: float  # share of the text in rows of a table with own links; for lists
    list_share: float  # of the text, in the largest list of links; for lists
    list_words_in_address: float  # for lists
    pages_are_numbered: float  # by their address; for lists
    has_pager: float  # share of pages with links to the next ones; for lists


class SiteLinks:
    """Where the pages of a site's clusters are, and what many clusters have."""

    def __init__(self, clusters: Sequence[ClusterFacts]) -> None:
        self.clusters = clusters
        self.cluster_by_address = {
            address_hash(url): number
            for number, cluster in enumerate(clusters)
            for url in cluster.urls
        }
        n_by_token = Counter(
            token
            for cluster in clusters
            for token in {token for page in cluster.pages for token in page.shown.tokens}
        )
        self.site_tokens = {
            token for token, n in n_by_token.items() if n > max(SOME_CLUSTERS * len(clusters), 1)
        }
        self.n_clusters_by_link: Counter[int] = Counter()
        for cluster in clusters:
            min_pages = MIN_SHARE_OF_PAGES * len(cluster.pages)
            n_by_link = Counter(link for page in cluster.pages for link in page.links)
            self.n_clusters_by_link.update(link for link, n in n_by_link.items() if n >= min_pages)
        self.own_links = [self._own_links(cluster) for cluster in clusters]
        self.targets = [self._targets(number) for number in range(len(clusters))]
        self.n_linking = Counter(target for targets in self.targets for target in targets)

    def _own_links(self, cluster: ClusterFacts) -> list[set[int]]:
        """Return the own links of each page."""
        n_pages = len(cluster.pages)
        n_by_link = Counter(link for page in cluster.pages for link in page.links)
        max_pages = MIN_SHARE_OF_PAGES * n_pages if n_pages > FEW_PAGES else n_pages
        max_clusters = max(MIN_CLUSTERS, FEW_CLUSTERS * len(self.clusters))
        return [
            {
                link
                for link in page.links
                if n_by_link[link] <= max_pages
                and self.n_clusters_by_link[link] <= max_clusters
                and link != address_hash(page.url)
            }
            for page in cluster.pages
        ]

    def _targets(self, number: int) -> Counter[int]:
        """Return how many own links lead to each other cluster."""
        targets = Counter(
            self.cluster_by_address.get(link) for links in self.own_links[number] for link in links
        )
        return Counter({target: n for target, n in targets.items() if target not in {None, number}})


def kind_features(number: int, site: SiteLinks) -> KindFeatures:
    """Measure one of a site's clusters, of which at least one page was read."""
    cluster, own_links = site.clusters[number], site.own_links[number]
    pages = cluster.pages
    repeats = [_main_repeat(page, links) for page, links in zip(pages, own_links, strict=True)]
    headings = _headings(pages)
    return KindFeatures(
        n_slots=log1p(_n_slots(pages)),
        links_in=site.n_linking[number] / len(site.clusters),
        prose_share=mean(page.prose_share for page in pages),
        heading_differs=len(set(headings)) / len(pages) if len(pages) > 1 else 0.5,
        detail_words_in_classes=mean(
            not _DETAIL_WORDS.isdisjoint(_words_of(set(page.shown.tokens) - site.site_tokens))
            for page in pages
        ),
        size_ratio=_size_ratio(number, site),
        repeat_own_links=mean(
            _share_linking(repeat, links) for repeat, links in zip(repeats, own_links, strict=True)
        ),
        rows_linked=mean(
            _share_in_linked_rows(page, links) for page, links in zip(pages, own_links, strict=True)
        ),
        list_share=mean(
            max([links.share for links in page.shown.lists], default=0.0) for page in pages
        ),
        list_words_in_address=mean(_has_list_word(page.url) for page in pages),
        pages_are_numbered=mean(_PAGE_NUMBER.search(page.url) is not None for page in pages),
        has_pager=mean(page.has_pager for page in pages),
    )


def _n_slots(pages: Sequence[PageFacts]) -> int:
    """Return how many texts of most pages have a text behind them that differs."""
    if len(pages) == 1:
        return 0
    min_pages = MIN_SHARE_OF_PAGES * len(pages)
    n_pages_by_text: Counter[int] = Counter()
    n_pages_once: Counter[int] = Counter()
    for page in pages:
        n_by_text = Counter(page.texts)
        n_pages_by_text.update(n_by_text.keys())
        n_pages_once.update(text for text, n in n_by_text.items() if n == 1)
    values_by_label: dict[int, list[int]] = {}
    for page in pages:
        for label, value in pairwise(page.texts):
            is_label = n_pages_once[label] > min_pages
            if is_label and n_pages_by_text[value] <= min_pages:
                values_by_label.setdefault(label, []).append(value)
    return sum(
        len(values) > min_pages and len(set(values)) > 1 for values in values_by_label.values()
    )


def _headings(pages: Sequence[PageFacts]) -> list[str]:
    """Return a heading for each page: its own, or its title where titles tell more pages apart."""
    headings = [page.heading or next(iter(title_parts(page.title)), "") for page in pages]
    titles = [page.title for page in pages]
    return titles if len(set(headings)) < len(set(titles)) else headings


def _size_ratio(number: int, site: SiteLinks) -> float:
    targets = site.targets[number]
    if not targets:
        return 0.0
    target = max(targets, key=lambda target: (targets[target], -target))
    return log1p(len(site.clusters[target].urls)) - log1p(len(site.clusters[number].urls))


def _main_repeat(page: PageFacts, own_links: set[int]) -> Repeat:
    """Return the repeat with the most text, where text with own links counts more."""

    def worth(repeat: Repeat) -> float:
        n_own = len(own_links.intersection(repeat.links))
        return repeat.share * (0.5 + n_own / max(len(repeat.links), 1))

    return max(page.repeats, key=worth, default=NO_REPEAT)


def _share_linking(repeat: Repeat, own_links: set[int]) -> float:
    return len(own_links.intersection(repeat.links)) / max(repeat.n, 1)


def _share_in_linked_rows(page: PageFacts, own_links: set[int]) -> float:
    rows = [repeat for repeat in page.repeats if repeat.tag == "tr"]
    largest = max(rows, key=lambda repeat: repeat.share, default=NO_REPEAT)
    n_known = min(largest.n, MAX_LINKS_OF_REPEAT)
    return largest.share * len(own_links.intersection(largest.links)) / max(n_known, 1)


def _has_list_word(url: str) -> bool:
    path = _INDEX_FILE.sub("", unquote(urlsplit(url).path))
    return not _LIST_WORDS.isdisjoint(_words_of([path]))


def _words_of(texts: Iterable[str]) -> set[str]:
    return {word.lower() for text in texts for word in _WORD.findall(_CAMEL.sub(" ", text))}
