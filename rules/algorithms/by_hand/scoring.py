"""Compare what a rule finds on annotated pages with what the editors said of them.

Readings:   A value is right where it is shown as the editor's is, blanks aside; of a list of values all must
            be, in their order. What an editor said nothing of counts neither way: there only how often
            something is found is told.
Cost:       Linear in the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.algorithms.attribute_types import AttributeType
from clustering.values.displayed import displayed
from clustering.values.typed_regexes import select
from rules.algorithms.running.records import Extracted

Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoredPage:
    """A sample with what was said of it and what was found; None: nobody said anything, or nothing ran."""

    said: Mapping[str, Values] | None  # by attribute; no values where it is not on the page
    found: Mapping[str, Values] | None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A page on which a rule is wrong, by its place among the samples."""

    page: int
    expected: Values
    got: Values


@dataclass(slots=True)
class AttributeScore:
    """How a rule does on one attribute; numbers of pages."""

    name: str
    n_right: int = 0
    n_wrong: int = 0  # another value than the editor's
    n_missed: int = 0  # nothing, where the editor marked a value
    n_unwanted: int = 0  # a value, where the editor said that the page has none
    n_absent: int = 0  # nothing, where the editor said so
    n_found: int = 0  # of those that nobody annotated
    n_others: int = 0
    examples: list[Wrong] = field(default_factory=list)

    @property
    def n_annotated(self) -> int:
        return self.n_right + self.n_wrong + self.n_missed + self.n_unwanted + self.n_absent

    @property
    def n_bad(self) -> int:
        return self.n_wrong + self.n_missed + self.n_unwanted


def values_found(extracted: Extracted) -> dict[str, Values]:
    """Return the values of a page by attribute, those of all its records one after the other."""
    found: dict[str, Values] = {}
    for record in extracted.records:
        for name, value in record.values.items():
            found[name] = (*found.get(name, ()), *(value if isinstance(value, list) else [value]))
    return found


def score_pages(
    attributes: Sequence[AttributeType], pages: Sequence[ScoredPage]
) -> list[AttributeScore]:
    """Return how a rule does on each attribute; a page on which it did not run has no values."""
    return [_score(attribute, pages) for attribute in attributes]


def _score(attribute: AttributeType, pages: Sequence[ScoredPage]) -> AttributeScore:
    score = AttributeScore(attribute.name)
    for number, page in enumerate(pages):
        got = (page.found or {}).get(attribute.name, ())
        if page.said is None or attribute.name not in page.said:
            score.n_others += page.found is not None
            score.n_found += bool(got)
            continue
        expected = _as_extracted(attribute, page.said[attribute.name])
        if _squeezed(expected) == _squeezed(got):
            score.n_right += bool(expected)
            score.n_absent += not expected
            continue
        score.n_unwanted += not expected
        score.n_missed += bool(expected) and not got
        score.n_wrong += bool(expected) and bool(got)
        score.examples.append(Wrong(number, expected, got))
    return score


def _squeezed(values: Values) -> list[str]:
    """Return values without their blanks: between blocks a reader sees some that the source has not."""
    return ["".join(value.split()) for value in values]


def _as_extracted(attribute: AttributeType, said: Values) -> Values:
    """Return what an editor said as a run would show it."""
    shown = [displayed(value) for value in said]
    if not attribute.regex:
        return tuple(shown)
    return tuple(found for value in shown if (found := select(attribute.regex, value)))
