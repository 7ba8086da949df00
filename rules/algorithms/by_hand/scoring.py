"""Compare what a rule finds on annotated pages with what their editors annotated.

Readings:   A value is right where it is shown as the editor's is, blanks aside; of a list of values
            all must be, in their order. What an editor said nothing of counts neither way: there
            only how often something is found is told.
Cost:       Linear in the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.algorithms.attribute_types import AttributeType
from clustering.values.displayed import displayed
from clustering.values.typed_regexes import select
from rules.algorithms.running.records import Extracted, texts_of

Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoredPage:
    """A sample with its annotations and what a rule extracted from it."""

    # By attribute, no values where it is not on the page; None: nobody annotated the page.
    annotated: Mapping[str, Values] | None
    extracted: Mapping[str, Values] | None  # None: the rule did not run


@dataclass(frozen=True, slots=True)
class WrongPage:
    """A page on which a rule is wrong, by its index among the samples."""

    page: int
    expected: Values
    extracted: Values


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
    examples: list[WrongPage] = field(default_factory=list)

    @property
    def n_annotated(self) -> int:
        return self.n_right + self.n_wrong + self.n_missed + self.n_unwanted + self.n_absent

    @property
    def n_bad(self) -> int:
        return self.n_wrong + self.n_missed + self.n_unwanted


def values_found(extracted: Extracted) -> dict[str, Values]:
    """Return the values of a page by attribute, those of all its records one after the other."""
    values_by_attribute: dict[str, Values] = {}
    for record in extracted.records:
        for name, value in record.values.items():
            values_by_attribute[name] = (*values_by_attribute.get(name, ()), *texts_of(value))
    return values_by_attribute


def score_pages(
    attributes: Sequence[AttributeType], pages: Sequence[ScoredPage]
) -> list[AttributeScore]:
    """Return how a rule does on each attribute; a page on which it did not run has no values."""
    return [_score(attribute, pages) for attribute in attributes]


def _score(attribute: AttributeType, pages: Sequence[ScoredPage]) -> AttributeScore:
    score = AttributeScore(attribute.name)
    for number, page in enumerate(pages):
        extracted = (page.extracted or {}).get(attribute.name, ())
        if page.annotated is None or attribute.name not in page.annotated:
            score.n_others += page.extracted is not None
            score.n_found += bool(extracted)
            continue
        expected = _as_extracted(attribute, page.annotated[attribute.name])
        if _squeezed(expected) == _squeezed(extracted):
            score.n_right += bool(expected)
            score.n_absent += not expected
            continue
        score.n_unwanted += not expected
        score.n_missed += bool(expected) and not extracted
        score.n_wrong += bool(expected) and bool(extracted)
        score.examples.append(WrongPage(number, expected, extracted))
    return score


def _squeezed(values: Values) -> list[str]:
    """Return values without blanks: between blocks a reader sees some that the source lacks."""
    return ["".join(value.split()) for value in values]


def _as_extracted(attribute: AttributeType, annotated: Values) -> Values:
    """Return annotated values as a run would extract them."""
    texts = [displayed(value) for value in annotated]
    if not attribute.regex:
        return tuple(texts)
    selected = [select(attribute.regex, text) for text in texts]
    return tuple(text for text in selected if text)
