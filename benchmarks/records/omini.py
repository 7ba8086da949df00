"""Find records by the tag that separates them, as Omini does.

Paper:      Buttler, Liu and Pu, "A Fully Automated Object Extraction System for the World Wide Web"
            (ICDCS 2001), compared with in Shen and Karger, "U-REST" (WWW 2007), section 3.
Notation:   The object-rich subtree is the element whose children are the records; the separator is
            the tag with which each of them begins.
Readings:   The object-rich subtree is the element with the greatest product of fan-out, text and
            tags under it. The separator is the tag with the best sum of ranks by five rules: a list
            of usual separators, the count among the children, the spread of the text between two of
            them, the pairs with the next sibling, and the count over the whole subtree.
Departures: Omini-like: the rules are rebuilt from their description, with ranks in place of their
            probabilities.
Cost:       One look at each element.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from clustering.algorithms.records.features import spread
from clustering.algorithms.records.page_model import PageModel, Region

_SEPARATORS = "tr table p li hr dt ul div font b a h3 h4 dl blockquote article section span td pre"
USUAL_SEPARATORS = _SEPARATORS.split()


def extract_objects(page: PageModel) -> list[Region]:
    """Return the records of a page, none where no tag separates anything."""
    root = object_rich_subtree(page)
    family = page.children[root]
    tag = find_separator(page, family)
    if tag is None:
        return []
    starts = [index for index, element in enumerate(family) if page.tags[element] == tag]
    runs = [family[start:end] for start, end in pairwise([*starts, len(family)])]
    return [(run[0], run[-1]) for run in runs if page.length((run[0], run[-1])) > 0]


def object_rich_subtree(page: PageModel) -> int:
    """Return the element with the greatest product of fan-out, text and tags."""

    def richness(element: int) -> int:
        own = (element, element)
        return len(page.children[element]) * page.length(own) * page.n_elements(own)

    return max(range(len(page)), key=richness)


def find_separator(page: PageModel, family: list[int]) -> str | None:
    """Return the tag with the best sum of ranks."""
    counts = Counter(page.tags[element] for element in family)
    tags = [tag for tag, count in counts.items() if count > 1]
    if not tags:
        return None
    pairs = Counter((page.tags[child], page.tags[after]) for child, after in pairwise(family))
    inside = Counter(page.tags[family[0] : page.ends[family[-1]]])
    rules = [
        {tag: _usual_rank(tag) for tag in tags},
        {tag: -float(counts[tag]) for tag in tags},
        {tag: _spread_between(page, family, tag) for tag in tags},
        {
            tag: -float(max((count for pair, count in pairs.items() if pair[0] == tag), default=0))
            for tag in tags
        },
        {tag: -float(inside[tag]) for tag in tags},
    ]
    return min(tags, key=lambda tag: sum(sorted(rule.values()).index(rule[tag]) for rule in rules))


def _usual_rank(tag: str) -> float:
    return float(USUAL_SEPARATORS.index(tag) if tag in USUAL_SEPARATORS else len(USUAL_SEPARATORS))


def _spread_between(page: PageModel, family: list[int], tag: str) -> float:
    starts = [page.starts[element] for element in family if page.tags[element] == tag]
    return spread([float(after - start) for start, after in pairwise(starts)])
