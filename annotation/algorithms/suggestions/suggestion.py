"""Suggest where the values of attributes stand on a page, before anybody has annotated one.

Notation:   Evidence says that a spot is an attribute's value, with a weight from 0 to 1. All
            evidence for one spot is joined as 1 - product of (1 - weight).
Readings:   What a page declares (JSON-LD, microdata, meta) is looked up in what it displays; where
            it is not displayed, the declaration itself is suggested. Values known from elsewhere
            are looked up likewise. Labels, names of classes, typed patterns, the heading that
            differs per page and the key paths of a site that KeyClus clustered point at spots. A
            spot belongs to the attribute with most evidence for it; others get a third of theirs.
Cost:       Linear in the page, times a small number for each attribute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from annotation.algorithms.anchors.anchoring import ProposedNode
from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.declared import Declared
from annotation.algorithms.suggestions.evidence import (
    KEY_PATH,
    LABELS,
    Evidence,
    KnownValue,
    gather,
)
from annotation.algorithms.suggestions.names import meaning_of
from annotation.algorithms.suggestions.spots import Spot, SpotIndex

MAX_SUGGESTIONS: Final = 3  # of one attribute
MIN_CONFIDENCE: Final = 0.2
MIN_CUE_CONFIDENCE: Final = 0.1  # of what stands on a key path, where nothing else is known
MAX_CONFIDENCE: Final = 0.99
MAX_WEIGHT: Final = 0.97  # of one source
MAX_REASONS: Final = 3
SHARE_OF_OTHERS: Final = 0.35  # what remains for an attribute of a spot that is another one's
MIN_LABELLED_SHARE: Final = 0.6  # of the other pages, that must have what this one lacks
ABSENCE_WEIGHT: Final = 0.8


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value of an attribute that an editor may accept; without marks: that the page has none."""

    attribute: str
    marks: tuple[ProposedNode, ...]
    source: str  # json-ld, microdata, meta, known value, pattern, heading, key path or labels
    confidence: float
    why: str

    @property
    def is_absent(self) -> bool:
        return not self.marks

    def as_json(self) -> dict[str, object]:
        return {
            "attribute": self.attribute,
            "marks": [mark.as_json() for mark in self.marks],
            "source": self.source,
            "confidence": self.confidence,
            "why": self.why,
            "absent": self.is_absent,
        }


@dataclass(frozen=True, slots=True)
class _Choice:
    """Spots that all evidence together offers for an attribute."""

    spots: tuple[Spot, ...]
    confidence: float
    source: str
    why: str


def suggest(
    page: SpotIndex,
    declared: Sequence[Declared],
    attributes: Sequence[AttributeType],
    known: Mapping[str, Sequence[KnownValue]] | None = None,
) -> list[Suggestion]:
    """Return what each attribute may be on a page, in the attributes' order, the best first."""
    choices: dict[str, list[_Choice]] = {}
    for attribute in attributes:
        values = (known or {}).get(attribute.name, ())
        evidence = gather(page, declared, attribute, values)
        choices[attribute.name] = _join(evidence, is_multi=attribute.is_multi)
    choices = _share_out(choices)

    suggestions: list[Suggestion] = []
    for attribute in attributes:
        offered = [c for c in choices[attribute.name] if c.confidence >= MIN_CONFIDENCE]
        of_attribute = [_suggestion(attribute, choice) for choice in offered[:MAX_SUGGESTIONS]]
        if not of_attribute:
            of_attribute = _absence(page, attribute)
        if not of_attribute:
            cues = [c for c in choices[attribute.name] if _is_cue(c)]
            of_attribute = [_suggestion(attribute, cue) for cue in cues[:MAX_SUGGESTIONS]]
        suggestions += of_attribute
    return suggestions


def _is_cue(choice: _Choice) -> bool:
    """Return whether something on a key path is at least worth a look: no other attribute is it."""
    return choice.source == KEY_PATH and choice.confidence >= MIN_CUE_CONFIDENCE


def _suggestion(attribute: AttributeType, choice: _Choice) -> Suggestion:
    marks = tuple(proposed_node(spot) for spot in choice.spots)
    return Suggestion(attribute.name, marks, choice.source, round(choice.confidence, 2), choice.why)


def proposed_node(spot: Spot) -> ProposedNode:
    return ProposedNode(spot.node.xpath, spot.text, "", spot.start, spot.end)


def _join(evidence: Sequence[Evidence], *, is_multi: bool) -> list[_Choice]:
    """Join the evidence for each spot of a single value, or for lists with the same first value.

    Of such lists the longest counts.
    """
    by_first_spot: defaultdict[object, list[Evidence]] = defaultdict(list)
    for piece in evidence:
        by_first_spot[piece.spots[0].key].append(piece)
    choices = []
    for pieces in by_first_spot.values():
        if is_multi:
            spots = max(pieces, key=lambda piece: (piece.weight > 0.5, len(piece.spots))).spots
        else:
            spots = pieces[0].spots[:1]
        choices.append(_joined(spots, pieces))
    return _best_first(choices)


def _joined(spots: tuple[Spot, ...], evidence: Sequence[Evidence]) -> _Choice:
    """Join all evidence for some spots; of each source the best piece counts."""
    best_by_source: dict[str, Evidence] = {}
    for piece in evidence:
        best = best_by_source.get(piece.source)
        if best is None or piece.weight > best.weight:
            best_by_source[piece.source] = piece
    doubt = 1.0
    for piece in best_by_source.values():
        doubt *= 1 - min(piece.weight, MAX_WEIGHT)
    pieces = sorted(best_by_source.values(), key=lambda piece: -piece.weight)
    why = "; ".join(piece.why for piece in pieces[:MAX_REASONS])
    return _Choice(spots, min(MAX_CONFIDENCE, 1 - doubt), pieces[0].source, why)


def _best_first(choices: list[_Choice]) -> list[_Choice]:
    return sorted(choices, key=lambda choice: -choice.confidence)


def _share_out(choices: dict[str, list[_Choice]]) -> dict[str, list[_Choice]]:
    """Reduce each choice that holds a spot for which another attribute has more evidence."""
    best: dict[object, tuple[float, str]] = {}
    for name, offered in choices.items():
        for choice in offered[:1]:
            for spot in choice.spots:
                best[spot.key] = max(best.get(spot.key, (0.0, "")), (choice.confidence, name))

    shared: dict[str, list[_Choice]] = {}
    for name, offered in choices.items():
        reduced = []
        for choice in offered:
            owners = {best[spot.key][1] for spot in choice.spots if spot.key in best}
            confidence = choice.confidence
            if owners - {name}:
                confidence *= SHARE_OF_OTHERS
            reduced.append(replace(choice, confidence=confidence))
        shared[name] = _best_first(reduced)
    return shared


def _absence(page: SpotIndex, attribute: AttributeType) -> list[Suggestion]:
    """Suggest that a page lacks an attribute that most other pages label and it does not."""
    labels = meaning_of(attribute.name).labels
    if not page.other_prints or page.page_print.labels & labels:
        return []
    n_others = len(page.other_prints)
    n_labelled = sum(bool(other.labels & labels) for other in page.other_prints)
    if n_labelled < MIN_LABELLED_SHARE * n_others:
        return []
    why = f"{n_labelled} of {n_others} other samples label it, this page does not"
    confidence = round(ABSENCE_WEIGHT * n_labelled / n_others, 2)
    return [Suggestion(attribute.name, (), LABELS, confidence, why)]
