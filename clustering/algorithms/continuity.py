"""Find the clusters of before again in a new grouping of a site's pages.

Paper:      None.
Notation:   An old cluster and a new group are alike by the pages they share: J = shared / in either, counted
            on the pages that both groupings know.
Readings:   A group may go on as a cluster where what they share is most of the cluster's pages or most of the
            group's. Pairs are taken from the most alike on, each cluster and each group once: of two parts of
            a split cluster the larger goes on, and two clusters that became one go on as the larger.
Cost:       Linear in the pages, but for sorting the pairs that share any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

MOST = 0.5


def find_successors(
    cluster_by_page: Mapping[int, int], group_by_page: Mapping[int, str]
) -> dict[str, int]:
    """Return the old cluster that each new group goes on as; groups without one are new.

    >>> find_successors({1: 7, 2: 7, 3: 8}, {1: "a", 2: "a", 3: "b", 4: "b"})
    {'a': 7, 'b': 8}
    """
    known = cluster_by_page.keys() & group_by_page.keys()
    shared = Counter((cluster_by_page[page], group_by_page[page]) for page in known)
    n_by_cluster = Counter(cluster_by_page[page] for page in known)
    n_by_group = Counter(group_by_page[page] for page in known)
    alike = [
        (-n / (n_by_cluster[cluster] + n_by_group[group] - n), -n, cluster, group)
        for (cluster, group), n in shared.items()
        if n > MOST * min(n_by_cluster[cluster], n_by_group[group])
    ]
    cluster_by_group: dict[str, int] = {}
    taken: set[int] = set()
    for _, _, cluster, group in sorted(alike):
        if cluster not in taken and group not in cluster_by_group:
            cluster_by_group[group] = cluster
            taken.add(cluster)
    return dict(sorted(cluster_by_group.items()))
