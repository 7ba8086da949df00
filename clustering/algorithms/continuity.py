"""Find the clusters of before again in a new grouping of a site's pages.

Paper:      None.
Notation:   An old cluster and a new group are alike by the pages they share: J = shared / in
            either, counted on the pages that both groupings know.
Readings:   A group may continue a cluster where what they share is more than half of the cluster's
            pages or of the group's. Pairs are matched from the most alike on, each cluster and each
            group once: of two parts of a split cluster the larger continues it, and two clusters
            that became one continue as the larger.
Cost:       Linear in the pages, but for sorting the pairs that share any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

MIN_SHARED = 0.5  # of the smaller of a cluster and a group


def find_successors(
    cluster_by_page: Mapping[int, int], group_by_page: Mapping[int, str]
) -> dict[str, int]:
    """Return the old cluster that each new group continues; groups without one are new.

    >>> find_successors({1: 7, 2: 7, 3: 8}, {1: "a", 2: "a", 3: "b", 4: "b"})
    {'a': 7, 'b': 8}
    """
    known = cluster_by_page.keys() & group_by_page.keys()
    shared = Counter((cluster_by_page[page], group_by_page[page]) for page in known)
    n_by_cluster = Counter(cluster_by_page[page] for page in known)
    n_by_group = Counter(group_by_page[page] for page in known)
    pairs = []
    for (cluster, group), n in shared.items():
        if n > MIN_SHARED * min(n_by_cluster[cluster], n_by_group[group]):
            likeness = n / (n_by_cluster[cluster] + n_by_group[group] - n)
            pairs.append((-likeness, -n, cluster, group))
    cluster_by_group: dict[str, int] = {}
    continued: set[int] = set()
    for _, _, cluster, group in sorted(pairs):  # the most alike first
        if cluster not in continued and group not in cluster_by_group:
            cluster_by_group[group] = cluster
            continued.add(cluster)
    return dict(sorted(cluster_by_group.items()))
