"""Tell whether pages are lists, and to which clusters their lists lead.

Readings:   Pages are lists where they declare it, or where most of them have a list of links that
            takes MIN_LIST_SHARE of their text and is no menu. Links that nearly all pages of a
            cluster have, or many clusters, are menus. Lists that lead to pages of their own cluster
            show what is related to a page.
Cost:       Linear in the links that are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clustering.algorithms.titles.cluster_pages import MOST, ClusterPages
from clustering.algorithms.titles.page_kinds import PageKind
from clustering.dom.declared import LIST_TYPES, is_secondary

NEARLY_ALL, FEW = 0.8, 0.2  # of a cluster's pages, of a site's clusters
MIN_LISTED = 3  # things of one type that make a list; links that lead elsewhere than menus
MIN_LIST_SHARE = 0.35  # of a page's text; what is related to a thing, or a menu, takes less
ELSEWHERE = -1  # a cluster that is not known


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
            if n >= NEARLY_ALL * len(cluster.kinds)
        )

    def is_list(self, number: int) -> bool:
        """Return whether a cluster's pages are lists."""
        kinds = self.clusters[number].kinds
        if sum(map(_is_of_one_thing, kinds)) > MOST * len(kinds):
            return False
        n_declared = sum(map(_is_of_several_things, kinds))
        return n_declared > MOST * len(kinds) or self.targets(number) is not None

    def targets(self, number: int) -> Counter[int] | None:
        """Return the clusters to which the pages' lists lead, None where the pages are no lists."""
        kinds = self.clusters[number].kinds
        targets: Counter[int] = Counter()
        n_pages_with_list = 0
        for kind in kinds:
            for links in kind.lists:
                varying = [link for link in links.links if not self.is_menu(number, link)]
                min_varying = max(MIN_LISTED, MOST * len(links.links))
                if links.share >= MIN_LIST_SHARE and len(varying) >= min_varying:
                    n_pages_with_list += 1
                    targets.update(self.cluster_by_url.get(link, ELSEWHERE) for link in varying)
                    break
        if n_pages_with_list < max(MOST * len(kinds), 1):
            return None
        leads_to_itself = targets[number] > MOST * targets.total()
        return None if leads_to_itself else targets

    def is_menu(self, number: int, link: str) -> bool:
        """Return whether nearly all pages of a cluster, or many clusters, have a link."""
        n_kinds = len(self.clusters[number].kinds)
        max_pages = NEARLY_ALL * n_kinds if n_kinds > 2 else n_kinds
        max_clusters = max(FEW * len(self.clusters), 2)  # this one is one of them
        return (
            self.n_pages_by_link[number][link] > max_pages
            or self.n_clusters_by_link[link] > max_clusters
        )

    def main_target(self, number: int) -> int | None:
        """Return the other cluster to which most links of a cluster's lists lead."""
        targets = self.targets(number) or Counter()
        n_by_cluster = {
            cluster: n for cluster, n in targets.items() if cluster not in {ELSEWHERE, number}
        }
        if not n_by_cluster:
            return None
        target = min(n_by_cluster, key=lambda cluster: (-n_by_cluster[cluster], cluster))
        return target if n_by_cluster[target] >= MOST * sum(n_by_cluster.values()) else None


def _is_of_several_things(kind: PageKind) -> bool:
    """Return whether a page declares to be a list, or several things of one type."""
    return any(declared.n >= MIN_LISTED or declared.name in LIST_TYPES for declared in kind.types)


def _is_of_one_thing(kind: PageKind) -> bool:
    """Return whether a page declares to be about one thing."""
    return any(
        declared.n < MIN_LISTED
        and declared.name not in LIST_TYPES
        and not is_secondary(declared.name)
        for declared in kind.types
    )
