"""The samples of a cluster as one index of nodes, and the goal of a search for an attribute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from rules.algorithms.learning.columns import Columns, numbers_of, pack, union
from rules.algorithms.learning.node_index import NodeIndex, NodeSet, number_nodes
from rules.algorithms.learning.nodes import Walks
from rules.algorithms.learning.same_value import ShownTexts, groups_of
from rules.algorithms.learning.search import SearchGoal
from rules.algorithms.learning.targets import AnnotatedPage, TargetNode, Targets
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET

# A text is odd that is so many times as long as all values and some letters more, or as short.
MAX_TIMES_AS_LONG = 4
MAX_LETTERS_MORE = 12
MAX_CHARACTERS_A_DIGIT = 3  # in a number at least one character of so many is a digit


@dataclass(frozen=True, slots=True)
class Samples:
    """Annotated pages, the first of the index, and the others."""

    pages: tuple[AnnotatedPage, ...]
    index: NodeIndex
    columns: Columns

    @property
    def has_unannotated(self) -> bool:
        """Whether there are pages that nobody annotated."""
        return self.index.n_pages > len(self.pages)


def read_samples(
    annotated: Sequence[AnnotatedPage], unannotated: Iterable[_Element], walks: Walks | None = None
) -> Samples:
    """Return the pages as one index of nodes; `walks` knows of pages that were read before."""
    index = number_nodes([*(page.tree for page in annotated), *unannotated], walks)
    return Samples(tuple(annotated), index, Columns(index))


def goal_of(
    samples: Samples,
    targets: Targets,
    marks: Sequence[TargetNode],
    *,
    is_multi: bool,
    is_mandatory: bool = False,
    attribute: str = "",
    claimed: NodeSet = 0,
) -> SearchGoal:
    """Return the goal to find the values of some marks, and nothing else on the annotated pages."""
    index = samples.index
    target = marks[0].positive.target
    wanted = wanted_marks(marks, is_multi=is_multi)
    positives = nodes_of(wanted)
    right = union(group.nodes for group in groups_of(index, targets.marks))
    judged = union(index.page_bits[page] for page in targets.judged)
    unannotated = [bits for page, bits in enumerate(index.page_bits) if page not in targets.judged]
    return SearchGoal(
        target=target,
        positives=positives,
        groups=tuple(groups_of(index, wanted)),
        negatives=samples.columns.targets(target) & judged & ~right,
        unannotated=tuple(unannotated),
        is_multi=is_multi,
        is_mandatory=is_mandatory,
        n_annotated=len({mark.positive.page for mark in marks}),
        attribute=attribute,
        claimed=claimed,
        same_tags=_nodes_with_same_tags(samples, target, positives),
        # The items of a list differ.
        odd=0 if is_multi else _odd_texts(samples, target, positives),
        texts=ShownTexts(index, target),
    )


def wanted_marks(marks: Sequence[TargetNode], *, is_multi: bool) -> list[TargetNode]:
    """Return the marks that a rule must find: of a single value's only the first of each page."""
    if is_multi:
        return list(marks)
    first_by_page: dict[int, TargetNode] = {}
    for mark in marks:
        first_by_page.setdefault(mark.positive.page, mark)
    return list(first_by_page.values())


def nodes_of(marks: Iterable[TargetNode]) -> NodeSet:
    return union(1 << mark.positive.node for mark in marks)


def _nodes_with_same_tags(samples: Samples, target: str, positives: NodeSet) -> NodeSet:
    """Return the nodes whose tag and parent's tag are those of a positive.

    A text node has no tag: the tags of its parent and of that one's parent count.
    """
    nodes, columns = samples.index.nodes, samples.columns
    lowest_level = 1 if target == TEXT_TARGET else 0
    tag_pairs = set()
    for number in numbers_of(positives):
        parent = nodes[number].parent
        chain = [number, parent, nodes[parent].parent][lowest_level : lowest_level + 2]
        tag_pairs.add(tuple(str(nodes[n].element.tag) for n in chain if n >= 0))
    same_tags = 0
    for tags in sorted(tag_pairs):
        bits = columns.targets(target)
        for level, tag in enumerate(tags, lowest_level):
            bits &= columns.bits(Feature("tag", level, (tag,)))
        same_tags |= bits
    return same_tags


def _odd_texts(samples: Samples, target: str, positives: NodeSet) -> NodeSet:
    """Return the texts of quite another length than the positives.

    Where the positives are numbers, the texts without a digit are odd, too.
    """
    index = samples.index
    numbers = list(numbers_of(positives))
    if target != TEXT_TARGET or not numbers:
        return 0
    lengths = index.text_lengths[numbers]
    odd = index.text_lengths * MAX_TIMES_AS_LONG < lengths.min() - MAX_LETTERS_MORE
    odd |= index.text_lengths > lengths.max() * MAX_TIMES_AS_LONG + MAX_LETTERS_MORE
    if (index.n_digits[numbers] * MAX_CHARACTERS_A_DIGIT >= lengths).all():
        odd |= index.n_digits == 0
    return pack(odd) & samples.columns.targets(target)
