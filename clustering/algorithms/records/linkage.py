"""Put siblings together whose sets of relative paths are similar, by average linkage.

Notation:   The path set of an element is the set of the tag paths from it to what is below it,
            three levels deep. The distance of two sets is 1 - |A ∩ B| / |A ∪ B|.
Cost:       Cubic in the distinct structures of a family; families with more than 40 are left alone.
"""

from __future__ import annotations

from itertools import combinations

from clustering.algorithms.records.page_model import PageModel

CUTS = (0.35, 0.55, 0.75)
MAX_SETS = 40
MAX_LEVEL = 3
MAX_ELEMENTS = 400  # of one subtree


def linked_groups(page: PageModel, family: list[int]) -> list[list[int]]:
    """Return the groups of at least two siblings that the linkage gives at each cut."""
    by_structure: dict[int, list[int]] = {}
    for element in family:
        by_structure.setdefault(page.structures[element], []).append(element)
    if not 2 < len(by_structure) <= MAX_SETS:
        return []
    members = list(by_structure.values())
    merges = _average_linkage([path_set(page, elements[0]) for elements in members])
    groups: list[list[int]] = []
    for cut in CUTS:
        for cluster in _cut(len(members), merges, cut):
            group = sorted(element for number in cluster for element in members[number])
            if len(group) > 1:
                groups.append(group)
    return groups


def _average_linkage(sets: list[frozenset[str]]) -> list[tuple[float, int, int]]:
    """Return the merges (height, i, j), the closest pair first; j goes into i."""
    distances = {
        (i, j): 1 - len(sets[i] & sets[j]) / len(sets[i] | sets[j])
        for i, j in combinations(range(len(sets)), 2)
    }
    sizes = dict.fromkeys(range(len(sets)), 1)
    merges = []
    while distances:
        (i, j), height = min(distances.items(), key=lambda pair: pair[1])
        if height > CUTS[-1]:
            break
        merges.append((height, i, j))
        del distances[i, j]
        n_i, n_j = sizes[i], sizes.pop(j)
        sizes[i] = n_i + n_j
        for k in sizes:
            if k != i:
                to_j = distances.pop((min(j, k), max(j, k)))
                pair = (min(i, k), max(i, k))
                distances[pair] = (n_i * distances[pair] + n_j * to_j) / (n_i + n_j)
    return merges


def _cut(n_points: int, merges: list[tuple[float, int, int]], height: float) -> list[list[int]]:
    """Return the clusters that the merges up to a height make."""
    members = {number: [number] for number in range(n_points)}
    for merged_at, i, j in merges:
        if merged_at <= height:
            members[i] += members.pop(j)
    return list(members.values())


def path_set(page: PageModel, element: int) -> frozenset[str]:
    """Return the tag paths below an element, its own tag included."""
    root = page.tags[element]
    top, end = page.depths[element], min(page.ends[element], element + MAX_ELEMENTS)
    paths = {root}
    path_by_number = {element: root}
    for below in range(element + 1, end):
        if page.depths[below] - top <= MAX_LEVEL:
            path = f"{path_by_number[page.parents[below]]}/{page.tags[below]}"
            path_by_number[below] = path
            paths.add(path)
    return frozenset(paths)
