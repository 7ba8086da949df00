"""Title clusters so that people understand them, from what their pages declare, show and do.

Readings:   What the pages are for comes first, where their kind tells it: a site's start, errors, a
            log-in, the results of a search. Else a title is the phrase with most evidence, and
            "list" behind it where that is their kind. Lists that nothing names are called after the
            pages to which they lead. What nothing names at all is plainly "Article", "Detail pages"
            or "List pages". Two of one title are told apart by what one has and the others have
            not; else the larger comes first and the others are numbered.
Departures: Plurals become singular on pages that declare to be English; other languages stay as
            written.
Cost:       Linear in the addresses and in what is known of the pages, of which MAX_PAGES of a
            cluster count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clustering.algorithms.kinds.kind_names import LIST
from clustering.algorithms.titles.cluster_pages import MOST_PAGES, ClusterPages
from clustering.algorithms.titles.title_clashes import DETAILS, LISTS, tell_apart
from clustering.algorithms.titles.title_evidence import PagePhrases, TitleEvidence
from clustering.algorithms.titles.title_lists import Lists
from clustering.algorithms.titles.title_phrases import (
    phrases_of_address,
    phrases_of_heading,
    phrases_of_kind,
    phrases_of_labels,
)
from clustering.algorithms.titles.title_purposes import purpose_of, root_of

MAX_TITLE = 60
MAX_SHORT_NAME = 4  # characters of a name such as ISBN, which stays in capitals
PROSE = "Article"

_LIST_WORDS = frozenset(
    re.split(
        r"\s+",
        """archive archives catalog catalogue categories directory gallery index list
        listings lists overview results search sitemap tags topics""",
    )
)


def title_clusters(clusters: Sequence[ClusterPages]) -> list[str]:
    """Return a title for each cluster; no two are the same.

    >>> title_clusters([ClusterPages(["http://a.b/thread/1", "http://a.b/thread/2"])])
    ['Thread']
    """
    site = _Site([cluster.some() for cluster in clusters])
    titles = [site.title_of(number) for number in range(len(clusters))]
    ranks = [(-len(cluster.urls), min(cluster.urls, default="")) for cluster in clusters]
    return tell_apart(titles, ranks, site.evidence.qualifiers)


class _Site:
    """The clusters of a site, and what might name them."""

    def __init__(self, clusters: Sequence[ClusterPages]) -> None:
        self.clusters = clusters
        self.lists = Lists(clusters)
        self.evidence = TitleEvidence([phrases_of(cluster) for cluster in clusters])
        self.root = root_of(clusters)

    def title_of(self, number: int) -> str:
        """Return the title of a cluster, perhaps one that others have too.

        1. What its pages are for.
        2. The phrase with most evidence, with "list" for lists whose phrase does not say so.
        3. Of lists without such: the subject of what they lead to, with "list".
        4. "Article", "List pages" or "Detail pages".
        """
        purpose = self.purpose_of(number)
        if purpose:
            return purpose
        subject = self.subject_of(number)
        if self.clusters[number].kind != LIST:
            return subject or self.form_of(number) or DETAILS
        if not subject:
            target = self.lists.main_target(number)
            if target is not None and not self.purpose_of(target):
                subject = self.subject_of(target) or self.form_of(target)
        if not subject:
            return LISTS
        says_list = not _LIST_WORDS.isdisjoint(subject.lower().split())
        return subject if says_list or len(self.clusters[number].urls) == 1 else f"{subject} list"

    def purpose_of(self, number: int) -> str:
        """Return what the pages of a cluster are for, blank where they do not show it."""
        return purpose_of(self.clusters[number], self.root)

    def subject_of(self, number: int) -> str:
        """Return what the pages of a cluster are about, blank where nothing tells."""
        return self.shown(number, self.evidence.best_phrase(number))

    def form_of(self, number: int) -> str:
        """Return the declared type or address word even of twins, else "Article" for prose."""
        words = self.shown(number, self.evidence.last_resort(number))
        return words or (PROSE if _is_prose(self.clusters[number]) else "")

    def shown(self, number: int, text: str) -> str:
        """Return a text as it stands in a title: of several English pages, in the singular."""
        cluster = self.clusters[number]
        words = text.lower() if text.isupper() and len(text) > MAX_SHORT_NAME else text
        if len(cluster.urls) > 1:
            words = cluster.in_singular(words)
        return _capitalised(words)


def phrases_of(cluster: ClusterPages) -> PagePhrases:
    """Return the phrases of a cluster's pages."""
    return PagePhrases(
        cluster.urls,
        [
            [set(phrases_of_address(url)) for url in cluster.some_urls()],
            [set(phrases_of_heading(heading)) for heading in cluster.headings],
            [set(phrases_of_heading(title)) for title in cluster.titles],
            [set(phrases_of_kind(kind)) for kind in cluster.kinds],
            [set(phrases_of_labels(labels)) for labels in cluster.labels],
        ],
    )


def _is_prose(cluster: ClusterPages) -> bool:
    return sum(kind.is_prose for kind in cluster.kinds) > MOST_PAGES * len(cluster.kinds)


def _capitalised(words: str) -> str:
    title = words[:MAX_TITLE].strip()
    return title[:1].upper() + title[1:]
