"""Find the clusters to which the lists of a cluster lead.

Readings:   Of a page that counts the largest list of links that takes MIN_LIST_SHARE of its
            text and is no menu. Links that nearly all pages of a cluster have, or many
            clusters, are menus.
Cost:       Linear in the links that are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clustering.algorithms.titles.cluster_pages import MOST_PAGES, ClusterPages
from clustering.algorithms.titles.page_kinds import PageKind

MIN_SHARE_OF_PAGES = 0.8  # of a cluster
MAX_SHARE_OF_CLUSTERS = 0.2  # of a site
MIN_LISTED = 3  # links that are no menu
MIN_LIST_SHARE = 0.35  # of a page's text; what is related to a thing, or a menu, takes less


class Lists:
    """The lists on the pages of a site's clusters."""

    def __init__(self, clusters: Sequence[ClusterPages]) -> None:
        self.clusters = clusters
        self.cluster_by_url = {
            url: number for number, cluster in enumerate(clusters) for url in cluster.urls
        }
        self.n_pages_by_link = [
            Counter(
                link for kind in cluster.kinds for links in kind.lists for link in set(links.links)
            )
            for cluster in clusters
        ]
        self.n_clusters_by_link = Counter(
            link
            for cluster, n_by_link in zip(clusters, self.n_pages_by_link, strict=True)
            for link, n in n_by_link.items()
            if n >= MIN_SHARE_OF_PAGES * len(cluster.kinds)
        )

    def targets(self, number: int) -> Counter[int]:
        """Return how many links of a cluster's lists lead to each other cluster."""
        targets: Counter[int] = Counter()
        for page in self.clusters[number].kinds:
            for link in self._links_of_list(number, page):
                target = self.cluster_by_url.get(link, number)
                if target != number:
                    targets[target] += 1
        return targets

    def _links_of_list(self, number: int, page: PageKind) -> list[str]:
        """Return the links of a page's first large list that is no menu; none if there is none."""
        for links in page.lists:
            varying = [link for link in links.links if not self.is_menu(number, link)]
            min_varying = max(MIN_LISTED, MOST_PAGES * len(links.links))
            if links.share >= MIN_LIST_SHARE and len(varying) >= min_varying:
                return varying
        return []

    def is_menu(self, number: int, link: str) -> bool:
        """Return whether nearly all pages of a cluster, or many clusters, have a link."""
        n_kinds = len(self.clusters[number].kinds)
        max_pages = MIN_SHARE_OF_PAGES * n_kinds if n_kinds > 2 else n_kinds
        max_clusters = max(MAX_SHARE_OF_CLUSTERS * len(self.clusters), 2)  # this one is one of them
        return (
            self.n_pages_by_link[number][link] > max_pages
            or self.n_clusters_by_link[link] > max_clusters
        )

    def main_target(self, number: int) -> int | None:
        """Return the other cluster to which most links of a cluster's lists lead."""
        n_by_cluster = self.targets(number)
        if not n_by_cluster:
            return None
        target = min(n_by_cluster, key=lambda cluster: (-n_by_cluster[cluster], cluster))
        return target if n_by_cluster[target] >= MOST_PAGES * n_by_cluster.total() else None
