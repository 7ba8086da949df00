"""Group pages whose trees turn into one another by few edits.

Paper:      Grigalis and Čenys, "Using XPaths of Inbound Links to Cluster Template-Generated Web
            Pages" (2014), section 3.2, equation 1; the distance is that of Selkow, "The
            Tree-to-Tree Editing Problem" (1977).
Notation:   N_i, the nodes of a page's tree -> the lines of `outline_of`; editDistance ->
            `edit_distance`; TED -> `tree_distance`.
Readings:   The paper says that subtrees of template-generated pages hardly ever change their
            distance to the root. So nodes of one depth only are replaced by each other, subtrees
            are inserted and deleted whole, and each node inserted, deleted or given another tag
            costs 1. Nodes are elements, labels their tags. Pages are grouped by transitive closure
            of similarity 1 - TED > 0.8, as by equations 2 and 3.
Departures: More than 2,000 pages are refused. Of a page the first 3,000 elements are looked at that
            are less than 200 deep. A later page joins the group that has the page most like it
            among some examples, if they are similar.
Cost:       A pair costs its children by pairs, depth by depth; subtrees that were compared once are
            not compared again. Pairs that have too few tags in common at equal depths are not
            compared, nor are pages that are in one group already.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
import xxhash
from lxml.html import HtmlElement

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    Model,
    RawPage,
    TooManyPages,
    grouping_of,
)
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import (
    MAX_EXAMPLES,
    N_EXAMPLES,
    Hashes,
    hash_text,
    share_of_larger,
    similarity_of,
)
from clustering.dom.paths import walk_tag_paths

THRESHOLD = 0.8
MAX_PAGES = 2_000
MAX_ELEMENTS = 3_000
MAX_DEPTH = 200


class Subtree(NamedTuple):
    """An element with all below it, as every page that has it shares it."""

    tag: str
    children: tuple[int, ...]  # numbers of subtrees
    size: int


@dataclass(slots=True)
class Forest:
    """The distinct subtrees of some pages, numbered, and the distances known between them."""

    subtrees: list[Subtree] = field(default_factory=list)
    number_by_subtree: dict[Subtree, int] = field(default_factory=dict)
    distance_by_pair: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, outline: str) -> int:
        """Return the number of a page's tree."""
        children: list[list[int]] = [[]]  # of each open element, and of the one around the root
        for line in reversed(outline.split("\n")):  # children come before their parents
            depth_text, _, tag = line.partition(" ")
            depth = int(depth_text)
            while len(children) <= depth + 1:
                children.append([])
            below = children[depth + 1]
            subtree = Subtree(
                tag,
                tuple(reversed(below)),
                1 + sum(self.subtrees[child].size for child in below),
            )
            below.clear()
            number = self.number_by_subtree.setdefault(subtree, len(self.subtrees))
            if number == len(self.subtrees):
                self.subtrees.append(subtree)
            children[depth].append(number)
        return children[0][0]

    def edit_distance(self, a: int, b: int) -> int:
        """Return the least number of nodes to insert, delete and replace, given two subtrees."""
        if a == b:
            return 0
        pair = (a, b) if a < b else (b, a)
        distance = self.distance_by_pair.get(pair)
        if distance is None:
            distance = self.distance_by_pair[pair] = self._compare(*pair)
        return distance

    def _compare(self, a: int, b: int) -> int:
        A, B = self.subtrees[a], self.subtrees[b]
        replaced = int(A.tag != B.tag)
        # Equal first and last children stay as they are.
        left, right = list(A.children), list(B.children)
        while left and right and left[-1] == right[-1]:
            left.pop()
            right.pop()
        n_equal = 0
        while n_equal < min(len(left), len(right)) and left[n_equal] == right[n_equal]:
            n_equal += 1
        left, right = left[n_equal:], right[n_equal:]
        sizes = [self.subtrees[child].size for child in right]
        above = [0, *np.cumsum(sizes).tolist()]
        for child in left:
            size = self.subtrees[child].size
            row = [above[0] + size]
            for j, other in enumerate(right):
                row.append(
                    min(
                        above[j + 1] + size,
                        row[j] + sizes[j],
                        above[j] + self.edit_distance(child, other),
                    )
                )
            above = row
        return replaced + int(above[-1])


def outline_of(tree: HtmlElement | None) -> str:
    """Return a page's elements in document order, a line each: its depth and its tag."""
    if tree is None:
        return ""
    lines = []
    for _, path in islice(walk_tag_paths(tree), MAX_ELEMENTS):
        depth = path.count("/") - 1
        if depth < MAX_DEPTH:
            lines.append(f"{depth} {path.rpartition('/')[2]}")
    return "\n".join(lines)


def tree_distance(a: str, b: str) -> float:
    r"""Return TED = editDistance(P_1, P_2) / max(|N_1|, |N_2|) of two outlines.

    >>> tree_distance("0 html\n1 body\n2 p", "0 html\n1 body\n2 h1\n2 p")
    0.25
    """
    return Outlines().distance(a, b)


@dataclass(slots=True)
class Outlines:
    """Outlines that are compared with one another, with what was made of them."""

    forest: Forest = field(default_factory=Forest)
    number_by_outline: dict[str, int] = field(default_factory=dict)
    nodes_by_outline: dict[str, Hashes] = field(default_factory=dict)

    def are_similar(self, a: str, b: str, threshold: float) -> bool:
        """Return whether 1 - TED is greater than a threshold."""
        # The nodes that two trees have in common bound their similarity from above.
        bound = similarity_of(self._nodes(a), self._nodes(b), share_of_larger)
        return bound > threshold and 1 - self.distance(a, b) > threshold

    def distance(self, a: str, b: str) -> float:
        A, B = self._number(a), self._number(b)
        larger = max(self.forest.subtrees[A].size, self.forest.subtrees[B].size)
        return self.forest.edit_distance(A, B) / larger

    def _number(self, outline: str) -> int:
        if outline not in self.number_by_outline:
            self.number_by_outline[outline] = self.forest.add(outline)
        return self.number_by_outline[outline]

    def _nodes(self, outline: str) -> Hashes:
        if outline not in self.nodes_by_outline:
            self.nodes_by_outline[outline] = node_set(outline)
        return self.nodes_by_outline[outline]


def cluster_pages(
    _urls: Sequence[str],
    outlines: Sequence[str],
    _evidence: ClusteringInputs,
    *,
    threshold: float = THRESHOLD,
) -> Grouping:
    """Group pages by transitive closure of their similarity. Raises TooManyPages above 2,000."""
    if len(outlines) > MAX_PAGES:
        raise TooManyPages(
            f"tree_distance compares pages in pairs: {len(outlines):,} pages, "
            f"at most {MAX_PAGES:,}; take a smaller sample"
        )
    compared = Outlines()
    name_by_outline = _join({outline for outline in outlines if outline}, compared, threshold)
    names = [name_by_outline.get(outline) for outline in outlines]
    return grouping_of(
        names,
        why=(
            f"Pages whose trees agree by more than {threshold:.0%} of their elements, "
            "directly or in a chain."
        ),
        model={"threshold": threshold, "examples": _examples(outlines, names, compared, threshold)},
    )


def _join(outlines: set[str], compared: Outlines, threshold: float) -> dict[str, str]:
    """Return the name of each outline's component: the least hash of its outlines."""
    digests = {outline: xxhash.xxh64_hexdigest(outline.encode()) for outline in outlines}
    waiting = sorted(outlines, key=digests.__getitem__)
    name_by_outline: dict[str, str] = {}
    while waiting:
        first = waiting.pop(0)
        frontier = [first]
        while frontier:
            outline = frontier.pop()
            name_by_outline[outline] = digests[first]
            others: list[str] = []
            for other in waiting:
                is_similar = compared.are_similar(outline, other, threshold)
                (frontier if is_similar else others).append(other)
            waiting = others
    return name_by_outline


def node_set(outline: str) -> Hashes:
    """Return a page's nodes as a set: the n-th of a tag at a depth is an element of its own."""
    n_by_line: Counter[str] = Counter()
    hashes = set()
    for line in outline.split("\n"):
        n_by_line[line] += 1
        hashes.add(hash_text(f"{line} {n_by_line[line]}"))
    return np.array(sorted(hashes), dtype=np.uint64)


def _examples(
    outlines: Sequence[str],
    names: Sequence[str | None],
    compared: Outlines,
    threshold: float,
) -> Model:
    """Return examples of each group: the five commonest outlines, and others like none of them.

    Pages that belong together in a chain only are like a few of the group.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for outline, name in zip(outlines, names, strict=True):
        if name is not None:
            counts[name][outline] += 1
    examples: Model = {}
    for name, of_group in sorted(counts.items()):
        of_name: list[str] = []
        for outline, _ in sorted(of_group.items(), key=lambda item: (-item[1], item[0])):
            if len(of_name) == MAX_EXAMPLES:
                break
            is_like_one = any(compared.are_similar(outline, other, threshold) for other in of_name)
            if len(of_name) < N_EXAMPLES or not is_like_one:
                of_name.append(outline)
        examples[name] = of_name
    return examples


def observe(page: RawPage) -> str:
    """Reduce a page to the outline of its tree."""
    return outline_of(page.tree)


def assign(model: Model, outline: str, _url: str) -> str | None:
    """Return the group of a later page, None where no example is similar."""
    if not outline:
        return None
    compared = Outlines()
    best: tuple[float, str] | None = None
    for name, examples in model["examples"].items():
        for example in examples:
            least = max(model["threshold"], best[0] if best else 0.0)
            if compared.are_similar(outline, example, least):
                best = 1 - compared.distance(outline, example), name
    return best[1] if best else None


SIMILARITY = Parameter(
    name="threshold",
    title="Least similarity",
    kind="number",
    default=THRESHOLD,
    least=0,
    most=1,
    sentence="Pages are joined where a larger share of their elements than that stays as it is.",
)
CLUSTERER = Clusterer(
    "tree_distance",
    "Tree edit distance",
    observe,
    cluster_pages,
    assign,
    max_pages=MAX_PAGES,
    parameters=[SIMILARITY],
)
