"""Choose how a value is cut out of its node: by the range pruner, or by the regex of its type.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.4.
Departures: Where a label may stand in the node or before it, the label in the node is cut if it is
            there.
Cost:       Linear in the texts of the annotated nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from annotation.algorithms.attribute_types import AttributeType
from clustering.values.typed_regexes import BadRegex, select
from rules.algorithms.learning.columns import numbers_of
from rules.algorithms.learning.node_index import NodeIndex
from rules.algorithms.learning.range_pruner import CutExample, learn_selection
from rules.algorithms.learning.samples import Samples
from rules.algorithms.learning.search import Conjunction
from rules.algorithms.learning.targets import TargetNode
from rules.algorithms.rule.rule import Selection
from rules.algorithms.rule.xpaths import COLONS, shown

MAX_WITNESSES = 200  # selected nodes of the unannotated pages that are read


class NoSelection(Exception):
    """No part of the text is the value on all annotated pages."""

    step = "text"

    def __init__(self, page: int, reason: str) -> None:
        super().__init__(reason)
        self.page = page


def learn_part(
    samples: Samples, marks: Sequence[TargetNode], candidate: Conjunction, attribute: AttributeType
) -> Selection:
    """Return the part of the node's text that is the value. Raises NoSelection."""
    index = samples.index
    examples = examples_of(index, marks)
    labels = next((f.values for f in candidate.features if f.kind == "label"), ())
    selection = learn_selection(
        examples,
        is_optional=bool(labels),
        is_multi=attribute.is_multi,
        witnesses=_unannotated_texts(samples, candidate, marks[0].positive.target),
    )
    if selection is not None and selection.is_whole and labels:
        return _cut_label(index, candidate, labels)
    if selection is not None:
        return selection
    if _regex_selects(attribute.regex, examples):
        return Selection()
    example = next((e for e in examples if e.left or e.right or len(e.values) > 1), examples[0])
    part = f"{', '.join(example.values)[:60]!r} in {example.text[:60]!r}"
    reason = f"no part of the text is the value on all pages: {part}"
    raise NoSelection(marks[0].positive.page, reason)


def _unannotated_texts(samples: Samples, candidate: Conjunction, target: str) -> list[str]:
    """Return what the candidate's nodes on unannotated pages show."""
    if not samples.has_unannotated:
        return []
    first = samples.index.page_starts[len(samples.pages)]
    numbers = islice(numbers_of(candidate.bits >> first), MAX_WITNESSES)
    return [text_of(samples.index, first + number, target) for number in numbers]


def examples_of(index: NodeIndex, marks: Iterable[TargetNode]) -> list[CutExample]:
    marks_by_node: dict[int, list[TargetNode]] = defaultdict(list)
    for mark in marks:
        marks_by_node[mark.positive.node].append(mark)
    return [
        _example(text_of(index, node, node_marks[0].positive.target), node_marks)
        for node, node_marks in marks_by_node.items()
    ]


def text_of(index: NodeIndex, node: int, target: str) -> str:
    """Return the shown text of a target."""
    if target.startswith("@"):
        return shown(index.nodes[node].element.get(target[1:], ""))
    return shown(index.string(node))


def _example(text: str, marks: Iterable[TargetNode]) -> CutExample:
    """Return the text with its values in the order in which they stand there."""
    values = sorted((_start_of(text, mark), mark.value) for mark in marks)
    return CutExample(
        text, tuple(value for _, value in values), tuple(start for start, _ in values)
    )


def _start_of(text: str, mark: TargetNode) -> int:
    """Return where a value begins: behind what stands before it, and a blank."""
    return text.find(mark.value, len(mark.positive.left))


def _regex_selects(regex: str, examples: Iterable[CutExample]) -> bool:
    try:
        return bool(regex) and all([select(regex, e.text)] == list(e.values) for e in examples)
    except BadRegex:
        return False


def _cut_label(index: NodeIndex, candidate: Conjunction, labels: Sequence[str]) -> Selection:
    """Return the selection that cuts a label off where a selected node begins with it."""
    openings = tuple(f"{label} " for label in labels)
    for number in islice(numbers_of(candidate.bits), MAX_WITNESSES):
        if not index.opening(number).startswith(openings):
            continue
        text = shown(index.string(number))
        for label in labels:
            behind = text[len(label) :]
            colon = behind.lstrip()[:1]
            if text.startswith(label) and colon and colon in COLONS:
                end = len(label) + behind.index(colon) + 1
                return Selection(prefix=text[:end], is_optional=True)
    return Selection()
