"""What review pages show: the page at hand with values and marks, figures, changed fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from annotation.algorithms.anchors.node_paths import AnchorProblem, select_nodes, texts_of
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.services.page.stored_pages import PageUnfit, read_page
from clustering.models import Snapshot
from rules.algorithms.review.differences import TextPiece, differences
from rules.algorithms.review.impact import CHANGED, GAINED, LOST, RECORDS, SAME
from rules.algorithms.review.validity import MIN_RECALL, Validity
from rules.algorithms.rule.rule import Alternative
from rules.algorithms.rule.sentences import place_in_words
from rules.algorithms.running.text_places import nodes_showing
from rules.models import Impact, JudgedPage, Review, Rule
from rules.services.learning.held_out import MAX_JUDGED
from rules.services.review.judging import validity_so_far

KEYS = "1234567890cdefhilmqrtvwxz"  # of attributes; the other letters do something else there
VALUES_SHOWN = 12  # of one attribute on a page of several records
MAX_MARKS = 300


class JudgedValue(NamedTuple):
    """An attribute on the page at hand."""

    name: str
    key: str  # that marks it; blank: none
    values: Sequence[Any]
    n_more: int
    is_marked: bool
    is_mandatory: bool
    is_guessed: bool = False  # its place is that of its text: the stylesheet tells none


class JudgedAttribute(NamedTuple):
    """How one attribute was judged so far."""

    name: str
    right: int
    wrong: int
    missed: int
    precision: float | None
    recall: float | None
    standing: str


class FieldImpact(NamedTuple):
    """What changes of one attribute; blank: of the records."""

    name: str
    is_constant: bool
    gained: int
    lost: int
    changed: int
    same: int


class JudgedExample(NamedTuple):
    """A value that changes, with both texts in pieces."""

    url: str
    page: int
    kind: str
    old: Sequence[TextPiece]
    new: Sequence[TextPiece]


class ChangedRule(NamedTuple):
    """How an attribute is found before and after."""

    name: str
    old: str  # as an XPath
    new: str
    old_words: str = ""  # where that looks, in plain words; blank where a person wrote it
    new_words: str = ""


def judging(review: Review, at: int | None) -> dict[str, Any]:
    """Return the page of a review to be judged: the one asked for, or the first that is open."""
    pages = list(review.pages.select_related("snapshot__page__site", "judged_by"))
    shown = next((page for page in pages if page.rank == at), None)
    shown = (
        shown
        or next((page for page in pages if not page.verdict), None)
        or (pages[0] if pages else None)
    )
    validity = validity_so_far(review)
    judged = [page for page in pages if page.judged_at is not None]
    places = places_on(shown) if shown else Places([], [])
    return {
        "review": review,
        "rule": review.rule,
        "pages": pages,
        "shown": shown,
        "values": judged_values(shown, {name for name, _ in places.guessed}) if shown else [],
        "n_records": len([line for line in shown.lines if line.values]) if shown else 0,
        "marks": marks_of(shown, places) if shown else "[]",
        "previous": _beside(pages, shown, -1),
        "next": _beside(pages, shown, 1),
        "last_judged": max(judged, key=lambda page: str(page.judged_at), default=None),
        "n_open": sum(not page.verdict for page in pages),
        **figures_of(validity),
    }


def figures_of(validity: Validity) -> dict[str, Any]:
    """Return how the rule was judged so far, as a whole and by attribute."""
    return {
        "validity": validity,
        "needed_recall": MIN_RECALL,
        "n_wanted": MAX_JUDGED,
        "scores": [
            JudgedAttribute(
                name,
                judgement.right,
                judgement.wrong,
                judgement.missed,
                judgement.precision,
                judgement.recall,
                judgement.standing,
            )
            for name, judgement in validity.attributes.items()
        ],
    }


def judged_values(page: JudgedPage, guessed: Collection[str] = ()) -> list[JudgedValue]:
    """Return what the rule extracts from a page, attribute by attribute."""
    records = [line.values for line in page.lines if line.values]
    rows = []
    for number, attribute in enumerate(page.review.rule.attributes):
        values = [
            record[attribute.name] for record in records if record.get(attribute.name) is not None
        ]
        rows.append(
            JudgedValue(
                name=attribute.name,
                key=KEYS[number] if number < len(KEYS) else "",
                values=values[:VALUES_SHOWN],
                n_more=max(0, len(values) - VALUES_SHOWN),
                is_marked=attribute.name in page.marked,
                is_mandatory=attribute.is_mandatory,
                is_guessed=attribute.name in guessed,
            )
        )
    return rows


class Places(NamedTuple):
    """Where the values of a page stand: attributes and XPaths."""

    emitted: list[tuple[str, str]]  # by the stylesheet
    guessed: list[tuple[str, str]]  # found by their texts


def places_on(page: JudgedPage) -> Places:
    """Return where the values of a page stand, by their texts if the stylesheet does not tell."""
    emitted = [(name, path) for line in page.lines for name, path in paths_of(line.nodes)]
    names = {name for name, _ in emitted}
    not_emitted: dict[str, list[str]] = {}
    for line in page.lines:
        for name, value in line.values.items():
            if name not in names:
                not_emitted.setdefault(name, []).extend(
                    value if isinstance(value, list) else [value]
                )
    try:
        texts = read_page(page.snapshot).texts if not_emitted else None
    except PageUnfit:
        texts = None
    if texts is None:
        return Places(emitted, [])
    return Places(
        emitted,
        [(name, path) for name in not_emitted for path in nodes_showing(texts, not_emitted[name])],
    )


def marks_of(page: JudgedPage, places: Places) -> str:
    """Return where the values of a page stand, as the frame draws them."""
    marks = marks_at(page.snapshot, [*places.emitted, *places.guessed])
    guessed = {name for name, _ in places.guessed}
    for mark in marks:
        if mark["label"] in guessed:
            mark["label"] += " (found by its text)"
    return orjson.dumps(marks).decode()


def marks_at(
    snapshot: Snapshot, nodes: Iterable[tuple[str, str]], kind: str = "value"
) -> list[dict[str, Any]]:
    """Return the marks of some named XPaths; what is not on the page is left out."""
    try:
        shown = read_page(snapshot)
    except PageUnfit:
        return []
    marks = []
    for index, (name, path) in enumerate(list(nodes)[:MAX_MARKS]):
        place = _place_at(shown, path)
        if place is not None:
            mark = {"id": f"{name}-{index}", "kind": kind, "label": name}
            marks.append(mark | {"number": place.number, "text": place.text})
    return marks


def paths_of(nodes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the XPaths of a record's nodes, each with its attribute; an entry's gap has none."""
    return [
        (name, path)
        for name, paths in nodes.items()
        for path in ([paths] if isinstance(paths, str) else paths)
        if path is not None
    ]


class MarkPlace(NamedTuple):
    """What is lit of a page: an element or, of its n-th text, the part that is not blank."""

    number: int  # of the element
    text: list[int] | None  # which of its texts, from 0, and where that begins and ends


def _place_at(page: NumberedPage, path: str) -> MarkPlace | None:
    """Return what an XPath selects first; None where the page does not have it."""
    try:
        nodes = select_nodes(page.texts.tree, path)
    except AnchorProblem:
        return None
    if not nodes:
        return None
    node, number = nodes[0], page.number_of(nodes[0].element)
    if node.number is None:
        return MarkPlace(number, None)
    text = texts_of(node.element)[node.number - 1]
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return MarkPlace(number, [node.number - 1, begin, end] if begin < end else None)


def _beside(pages: Sequence[JudgedPage], shown: JudgedPage | None, step: int) -> JudgedPage | None:
    if shown is None:
        return None
    return next((page for page in pages if page.rank == shown.rank + step), None)


def impact_rows(impact: Impact) -> list[FieldImpact]:
    """Return the figures of an impact, the records first."""
    counts = impact.figures.get("counts", {})
    constant = {attribute.name for attribute in impact.rule.attributes if attribute.is_constant}
    names = [RECORDS, *(attribute.name for attribute in impact.rule.attributes)]
    names += [name for name in counts if name not in names]
    return [
        FieldImpact(
            name,
            name in constant,
            *(counts.get(name, {}).get(kind, 0) for kind in (GAINED, LOST, CHANGED, SAME)),
        )
        for name in names
    ]


def examples_of(impact: Impact, attribute: str, kind: str) -> list[JudgedExample]:
    """Return the kept examples of one kind of change."""
    examples = []
    for example in impact.examples:
        if example["attribute"] != attribute or example["kind"] != kind:
            continue
        old, new = differences(_text(example["was"]), _text(example["now"]))
        examples.append(JudgedExample(example["url"], example["page"], kind, old, new))
    return examples


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_text(item)}" for name, item in value.items())
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def changed_rules(before: Rule | None, rule: Rule) -> list[ChangedRule]:
    """Return the attributes that two versions find in different ways."""
    old_xpaths = _xpath_by_attribute(before) if before else {}
    new_xpaths = _xpath_by_attribute(rule)
    old_words = _words_by_attribute(before) if before else {}
    new_words = _words_by_attribute(rule)
    changed = []
    for name in dict.fromkeys([*new_xpaths, *old_xpaths]):
        old, new = old_xpaths.get(name, ""), new_xpaths.get(name, "")
        if old != new:
            words = old_words.get(name, ""), new_words.get(name, "")
            changed.append(ChangedRule(name, old, new, *words))
    return changed


def _words_by_attribute(rule: Rule) -> dict[str, str]:
    multi_names = {attribute.name for attribute in rule.attributes if attribute.is_multi}
    words: dict[str, str] = {}
    for entry in rule.definition.get("attributes", []):
        alternatives = [Alternative.from_json(form) for form in entry.get("alternatives", [])]
        name = entry["attribute"]
        words[name] = place_in_words(alternatives, is_multi=name in multi_names)
    return words


def _xpath_by_attribute(rule: Rule) -> dict[str, str]:
    return {figure["attribute"]: figure.get("xpath") or "" for figure in rule.figures}
