"""The samples of a cluster as one universe, and the question that an attribute's marks ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from rules.algorithms.learning.columns import Columns, numbers_of, pack
from rules.algorithms.learning.node_index import NodeIndex, NodeSet, number_nodes
from rules.algorithms.learning.nodes import Walks
from rules.algorithms.learning.search import SearchGoal
from rules.algorithms.learning.targets import AnnotatedPage, TargetNode, Targets
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET

# A text is odd that is so many times as long as all values and some letters, or as short.
TIMES = 4
NUMERIC = 3  # in a number at least one character of so many is a digit
FEW_LETTERS = 12


@dataclass(frozen=True, slots=True)
class Samples:
    """Annotated pages, the first of the universe, and the others."""

    pages: tuple[AnnotatedPage, ...]
    universe: NodeIndex
    columns: Columns

    @property
    def has_others(self) -> bool:
        return self.universe.n_pages > len(self.pages)


def read_samples(
    annotated: Sequence[AnnotatedPage], unannotated: Iterable[_Element], walks: Walks | None = None
) -> Samples:
    """Return the pages as one universe; `walks` knows of pages that were read before."""
    universe = number_nodes([*(page.tree for page in annotated), *unannotated], walks)
    return Samples(tuple(annotated), universe, Columns(universe))


def question_of(
    samples: Samples,
    targets: Targets,
    marks: Sequence[TargetNode],
    *,
    is_multi: bool,
    is_mandatory: bool = False,
    attribute: str = "",
    claimed: NodeSet = 0,
) -> SearchGoal:
    """Return what is looked for: the nodes of some marks, and of no other node where the editor looked."""
    target = marks[0].positive.target
    everything = samples.columns.targets(target)
    wanted = chosen(marks, is_multi=is_multi)
    positives = nodes_of(wanted)
    spared = nodes_of(targets.marks) | _showing(
        samples, targets.marks, everything, is_multi=is_multi
    )
    judged = _union(samples.universe.page_bits[page] for page in targets.judged)
    others = [
        bits for page, bits in enumerate(samples.universe.page_bits) if page not in targets.judged
    ]
    return SearchGoal(
        target=target,
        positives=positives,
        negatives=everything & judged & ~(positives | spared),
        unannotated=tuple(others),
        is_multi=is_multi,
        is_mandatory=is_mandatory,
        n_annotated=len({mark.positive.page for mark in marks}),
        attribute=attribute,
        claimed=claimed,
        alike=_alike(samples, target, positives),
        odd=0 if is_multi else _odd(samples, target, positives),  # the items of a list differ
    )


def _alike(samples: Samples, target: str, positives: NodeSet) -> NodeSet:
    """Return the nodes whose tag and parent's tag are those of a positive."""
    nodes, columns, found = samples.universe.nodes, samples.columns, 0
    start = 1 if target == TEXT_TARGET else 0
    chains = set()
    for number in numbers_of(positives):
        parent = nodes[number].parent
        above = [number, parent, nodes[parent].parent][start : start + 2]
        chains.add(tuple(str(nodes[one].place[0].tag) for one in above if one >= 0))
    for chain in sorted(chains):
        bits = columns.targets(target)
        for level, tag in enumerate(chain, start):
            bits &= columns.bits(Feature("tag", level, (tag,)))
        found |= bits
    return found


def _odd(samples: Samples, target: str, positives: NodeSet) -> NodeSet:
    """Return the texts without a digit where the positives are numbers, and those of quite another length."""
    universe = samples.universe
    numbers = list(numbers_of(positives))
    if target != TEXT_TARGET or not numbers:
        return 0
    lengths = universe.text_lengths[numbers]
    odd = universe.text_lengths * TIMES < lengths.min() - FEW_LETTERS
    odd |= universe.text_lengths > lengths.max() * TIMES + FEW_LETTERS
    if (universe.n_digits[numbers] * NUMERIC >= lengths).all():
        odd |= universe.n_digits == 0
    return pack(odd) & samples.columns.targets(target)


def chosen(marks: Sequence[TargetNode], *, is_multi: bool) -> list[TargetNode]:
    """Return the marks that a rule must find: of a single value's only the first of each page."""
    if is_multi:
        return list(marks)
    first_by_page: dict[int, TargetNode] = {}
    for mark in marks:
        first_by_page.setdefault(mark.positive.page, mark)
    return list(first_by_page.values())


def nodes_of(marks: Iterable[TargetNode]) -> NodeSet:
    bits = 0
    for mark in marks:
        bits |= 1 << mark.positive.node
    return bits


def _showing(
    samples: Samples, marks: Iterable[TargetNode], everything: NodeSet, *, is_multi: bool
) -> NodeSet:
    """Return the nodes that show a value of a list's page: they are neither right nor wrong."""
    bits = 0
    if is_multi:
        universe = samples.universe
        for page in {mark.positive.page for mark in marks}:
            values = {mark.value for mark in marks if mark.positive.page == page}
            first, last = universe.pages_of(page)
            for number in range(first, last):
                if universe.nodes[number].shown in values:
                    bits |= 1 << number
    return bits & everything


def _union(sets: Iterable[NodeSet]) -> NodeSet:
    found = 0
    for bits in sets:
        found |= bits
    return found
