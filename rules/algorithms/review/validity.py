"""Whether a rule is good enough, told by pages that it was not learnt from.

*Paper*: vertex, III-C.5: "We consider a rule to be valid if it has a precision of 100% and a recall of > 85%
over the test set", of about 20 pages.
*Notation*: precision (right values / extracted values), recall (right values / values that should be there).
*Readings*: a person judges whole pages; only what is marked on a page that is not right counts against the
rule. A wrong value is also one that was not found. Several values of an attribute in one record count as one.
The rule is judged over all its attributes together; each attribute's own figures stand beside it.
*Cost*: linear in the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MIN_RECALL: Final = 0.85


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a person says of what a rule extracts from a page."""

    records: Sequence[Mapping[str, Any]]  # attribute -> value
    is_right: bool
    # Attributes that are wrong or missing; none: all that was extracted is wrong.
    marked: frozenset[str] = frozenset()


@dataclass(slots=True)
class Score:
    """How many values are right, wrong, and missing although the page has them."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float | None:
        """Return the share of the extracted values that are right; None where none was extracted."""
        extracted = self.right + self.wrong
        return self.right / extracted if extracted else None

    @property
    def recall(self) -> float | None:
        """Return the share of the values that were found; None where there are none to find."""
        there = self.right + self.wrong + self.missed
        return self.right / there if there else None

    @property
    def is_valid(self) -> bool:
        """Return whether nothing is wrong and little is missing."""
        return self.precision == 1 and (self.recall or 0) > MIN_RECALL

    def add(self, other: Score) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed


@dataclass(slots=True)
class Validity:
    """The scores of a rule."""

    n_pages: int = 0
    whole: Score = field(default_factory=Score)
    attributes: dict[str, Score] = field(default_factory=dict)


def validity_of(judgements: Iterable[Judgement], attributes: Sequence[str]) -> Validity:
    """Return what the judgements of some pages come to.

    >>> right = Judgement([{"name": "Rope", "price": "5"}], is_right=True)
    >>> validity_of([right], ["name", "price"]).whole
    Score(right=2, wrong=0, missed=0)
    """
    validity = Validity(attributes={name: Score() for name in attributes})
    for judgement in judgements:
        validity.n_pages += 1
        for name, score in validity.attributes.items():
            score.add(_score(judgement, name))
    for score in validity.attributes.values():
        validity.whole.add(score)
    return validity


def _score(judgement: Judgement, name: str) -> Score:
    """Return what a judgement says of one attribute."""
    n_values = sum(record.get(name) is not None for record in judgement.records)
    if judgement.is_right or (judgement.marked and name not in judgement.marked):
        return Score(right=n_values)
    if n_values:
        return Score(wrong=n_values)
    is_all_missing = not any(judgement.records)
    return Score(missed=1 if name in judgement.marked or is_all_missing else 0)
