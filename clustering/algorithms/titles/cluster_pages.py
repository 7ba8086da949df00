"""What is known of a cluster's pages when it gets its title."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil

from clustering.algorithms.titles.page_kinds import PageKind
from clustering.algorithms.titles.title_words import singular_of

MOST_PAGES = 0.5  # of a cluster's pages
MAX_PAGES, MAX_ADDRESSES = 40, 1_000  # of a cluster


@dataclass(frozen=True)
class ClusterPages:
    """What is known of a cluster's pages; as many as are at hand."""

    urls: Sequence[str]
    titles: Sequence[str] = ()
    headings: Sequence[str] = ()
    labels: Sequence[Collection[str]] = ()  # of each page, its short texts
    kinds: Sequence[PageKind] = ()
    kind: str = ""  # one of those of `cluster_kinds`

    def some(self) -> ClusterPages:
        """Return the cluster with what MAX_PAGES of its pages show.

        Its addresses stay all: they are cheap, and their shares count.
        """
        return replace(
            self,
            titles=self.titles[:MAX_PAGES],
            headings=self.headings[:MAX_PAGES],
            labels=self.labels[:MAX_PAGES],
            kinds=self.kinds[:MAX_PAGES],
        )

    def some_urls(self) -> Sequence[str]:
        """Return at most MAX_ADDRESSES addresses, spread over all of them."""
        step = max(1, ceil(len(self.urls) / MAX_ADDRESSES))
        return self.urls[::step]

    def in_singular(self, words: str) -> str:
        """Return words with the last one in the singular where the pages are English."""
        languages = Counter(kind.language for kind in self.kinds)
        if not words or languages["en"] <= MOST_PAGES * len(self.kinds):
            return words
        *leading_words, last = words.split(" ")
        return " ".join([*leading_words, singular_of(last)])
