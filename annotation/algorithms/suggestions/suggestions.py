"""Suggest where the values of attributes stand on a page, before anybody has annotated one.

Notation:   Evidence says that a spot is an attribute's value, with a weight from 0 to 1. All evidence for
            one spot is joined as 1 - product of (1 - weight).
Readings:   What a page declares (JSON-LD, microdata, meta) is looked up in what it displays; where it is
            not displayed, the declaration itself is suggested. Values known from elsewhere are looked up
            likewise. Labels, names of classes, typed patterns and the heading that differs per page point
            at spots. A spot belongs to the attribute with most evidence for it; others get half of theirs.
Departures: KeyClus's key paths need a search log. Where none is at hand, the heading that the page's title
            repeats and that differs from page to page stands for them.
Cost:       Linear in the page, times a small number for each attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from annotation.algorithms.suggestions.declared import Declared
from annotation.algorithms.suggestions.evidence import (
    Evidence,
    KnownValue,
    WantedAttribute,
    gather,
)
from annotation.algorithms.suggestions.names import meaning_of
from annotation.algorithms.suggestions.page_index import PageIndex, Spot
from clustering.dom.paths import element_paths

MOST_SUGGESTIONS: Final = 3
LEAST: Final = 0.2  # confidence
SHARED: Final = 0.35  # what remains for an attribute of a spot that another has more evidence for
MOST_CONFIDENT: Final = 0.99
OFTEN: Final = 0.6  # share of the other pages that must have what this one lacks


class SuggestedNode(NamedTuple):
    """Where a value stands, as an anchor names it."""

    xpath: str
    text: str
    end_xpath: str = ""
    start: int | None = None
    end: int | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "xpath": self.xpath,
            "end_xpath": self.end_xpath,
            "start": self.start,
            "end": self.end,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value of an attribute that an editor may accept; without marks: that the page has none."""

    attribute: str
    marks: tuple[SuggestedNode, ...]
    source: str  # json-ld, microdata, meta, known value, pattern, key path or labels
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


class _Choice(NamedTuple):
    """Spots that all evidence together offers for an attribute."""

    spots: tuple[Spot, ...]
    confidence: float
    source: str
    why: str

    def halved(self) -> _Choice:
        """Return what remains of it where the spot belongs to another attribute."""
        return _Choice(self.spots, self.confidence * SHARED, self.source, self.why)


def suggest(
    page: PageIndex,
    declared: Sequence[Declared],
    attributes: Sequence[WantedAttribute],
    known: Mapping[str, Sequence[KnownValue]] | None = None,
) -> list[Suggestion]:
    """Return what each attribute may be on a page, in the attributes' order, the best first."""
    found = {
        wanted.name: gather(page, declared, wanted, (known or {}).get(wanted.name, ()))
        for wanted in attributes
    }
    choices = {
        wanted.name: _join_lists(found[wanted.name])
        if wanted.is_multi
        else _join(found[wanted.name])
        for wanted in attributes
    }
    choices = _share_out(choices)
    suggestions: list[Suggestion] = []
    for wanted in attributes:
        kept = [one for one in choices[wanted.name] if one.confidence >= LEAST][:MOST_SUGGESTIONS]
        suggestions += [_suggestion(wanted.name, one) for one in kept]
        if not kept and (absent := _absent(page, wanted)):
            suggestions.append(absent)
    return suggestions


def _join(evidence: Sequence[Evidence]) -> list[_Choice]:
    """Join the evidence for each spot of a single value."""
    by_spot: dict[object, list[Evidence]] = {}
    for one in evidence:
        for spot in one.spots[:1]:
            by_spot.setdefault(spot.key, []).append(one)
    return _sorted([_joined(all_of_it[0].spots[:1], all_of_it) for all_of_it in by_spot.values()])


def _join_lists(evidence: Sequence[Evidence]) -> list[_Choice]:
    """Join the evidence of lists with the same first value; the longest list counts."""
    by_first: dict[object, list[Evidence]] = {}
    for one in evidence:
        by_first.setdefault(one.spots[0].key, []).append(one)
    return _sorted(
        [
            _joined(
                max(all_of_it, key=lambda one: (one.weight > 0.5, len(one.spots))).spots, all_of_it
            )
            for all_of_it in by_first.values()
        ]
    )


def _joined(spots: tuple[Spot, ...], evidence: Sequence[Evidence]) -> _Choice:
    best_by_source: dict[str, Evidence] = {}
    for one in evidence:
        if one.source not in best_by_source or one.weight > best_by_source[one.source].weight:
            best_by_source[one.source] = one
    doubt = 1.0
    for one in best_by_source.values():
        doubt *= 1 - min(one.weight, 0.97)
    told = sorted(best_by_source.values(), key=lambda one: -one.weight)
    return _Choice(
        spots,
        min(MOST_CONFIDENT, 1 - doubt),
        told[0].source,
        "; ".join(one.why for one in told[:3]),
    )


def _sorted(choices: list[_Choice]) -> list[_Choice]:
    return sorted(choices, key=lambda one: -one.confidence)


def _share_out(choices: dict[str, list[_Choice]]) -> dict[str, list[_Choice]]:
    """Let each spot belong to the attribute that has most evidence for it."""
    best: dict[object, tuple[float, str]] = {}
    for name, offered in choices.items():
        for choice in offered[:1]:
            for spot in choice.spots:
                best[spot.key] = max(best.get(spot.key, (0.0, "")), (choice.confidence, name))
    return {
        name: _sorted(
            [
                choice.halved()
                if any(best.get(spot.key, (0.0, name))[1] != name for spot in choice.spots)
                else choice
                for choice in offered
            ]
        )
        for name, offered in choices.items()
    }


def _suggestion(name: str, choice: _Choice) -> Suggestion:
    marks = tuple(mark_of(spot) for spot in choice.spots)
    return Suggestion(name, marks, choice.source, round(choice.confidence, 2), choice.why)


def mark_of(spot: Spot) -> SuggestedNode:
    path = element_paths([spot.node.element])[0] + spot.node.step
    return SuggestedNode(path, spot.text, "", spot.start, spot.end)


def _absent(page: PageIndex, wanted: WantedAttribute) -> Suggestion | None:
    """Suggest absence where most other pages label the attribute and this one does not."""
    labels = meaning_of(wanted.name).labels
    here = page.own_print.labels & labels
    n_there = sum(bool(other.labels & labels) for other in page.others)
    if here or not page.others or n_there < OFTEN * len(page.others):
        return None
    why = f"{n_there} of {len(page.others)} other samples label it, this page does not"
    return Suggestion(wanted.name, (), "labels", round(0.8 * n_there / len(page.others), 2), why)
