"""Whether a rule is good enough, told by pages that nobody annotated.

*Paper*: vertex, III-C.5: "We consider a rule to be valid if it has a precision of 100% and a recall
of > 85% over the test set", of about 20 pages. *Notation*: precision (right values / extracted
values), recall (right values / values that should be there). *Readings*: a person judges whole
pages; only what is marked on a page that is not right counts against the rule. A wrong value is
also one that was not found. Several values of an attribute in one record count as one. The rule is
judged over all its attributes together; each attribute's own figures stand beside it. *Departures*:
three right pages say little about a thousand others. A rule is valid once the lower end of the
recall's interval (Wilson's, one-sided) is above the paper's 85 %. Values of a page may fail
together, so a page that shows a value is one trial. The interval is about the pages that were not
judged; of the judged ones the recall is known. Where all pages of a small cluster were judged,
nothing is left to doubt. *Cost*: linear in the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, Final, Literal

MIN_RECALL: Final = 0.85
DEVIATIONS: Final = 1.645  # of a normal distribution; 5 % lie beyond it on one side

Standing = Literal["valid", "not_valid", "undecided"]


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
    n_pages: int = 0  # that have a value
    # Pages of the cluster that could be judged and were not; None: endless.
    n_others: int | None = None

    @property
    def precision(self) -> float | None:
        """Return the share of the extracted values that are right; None if none was extracted."""
        extracted = self.right + self.wrong
        return self.right / extracted if extracted else None

    @property
    def recall(self) -> float | None:
        """Return the share of the values that were found; None where there are none to find."""
        there = self.right + self.wrong + self.missed
        return self.right / there if there else None

    @property
    def least_recall(self) -> float:
        """Return what the recall on all pages of the cluster is at least, as far as is known."""
        if self.recall is None:
            return 0.0
        of_others = lower_end(self.recall, self.n_pages)
        if self.n_others is None:
            return of_others
        n_all = self.n_pages + self.n_others
        return (self.n_pages * self.recall + self.n_others * of_others) / n_all

    @property
    def standing(self) -> Standing:
        """Return whether nothing is wrong and little missing, if enough pages were judged."""
        recall = self.recall
        if self.wrong or (recall is not None and recall <= MIN_RECALL):
            return "not_valid"
        return "valid" if self.least_recall > MIN_RECALL else "undecided"

    @property
    def is_valid(self) -> bool:
        return self.standing == "valid"

    def add(self, other: Score) -> None:
        """Add the values of another score; pages are counted by whoever knows which they are."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed

    @property
    def has_values(self) -> bool:
        return bool(self.right or self.wrong or self.missed)


@dataclass(slots=True)
class Validity:
    """The scores of a rule."""

    n_pages: int = 0
    whole: Score = field(default_factory=Score)
    attributes: dict[str, Score] = field(default_factory=dict)

    @property
    def n_right_needed(self) -> int:
        """Return how many judged pages are enough for a valid rule if all of them are right."""
        n_others = self.whole.n_others
        n_all = None if n_others is None else self.n_pages + n_others
        n = 1
        while True:
            left = None if n_all is None else max(0, n_all - n)
            if Score(right=n, n_pages=n, n_others=left).is_valid:
                return n
            n += 1


def validity_of(
    judgements: Iterable[Judgement], attributes: Sequence[str], *, n_others: int | None = None
) -> Validity:
    """Return what the judgements of some pages come to.

    `n_others` pages of the cluster could be judged and were not; None where there is no
    end of them.

    >>> right = Judgement([{"name": "Rope", "price": "5"}], is_right=True)
    >>> validity_of([right], ["name", "price"]).whole
    Score(right=2, wrong=0, missed=0, n_pages=1, n_others=None)
    """
    validity = Validity(
        whole=Score(n_others=n_others),
        attributes={name: Score(n_others=n_others) for name in attributes},
    )
    for judgement in judgements:
        validity.n_pages += 1
        scores = {name: _score(judgement, name) for name in attributes}
        validity.whole.n_pages += any(score.has_values for score in scores.values())
        for name, score in scores.items():
            validity.attributes[name].n_pages += score.has_values
            validity.attributes[name].add(score)
            validity.whole.add(score)
    return validity


def lower_end(share: float, n: int) -> float:
    """Return the lower end of Wilson's interval for a share that was seen in n trials; 0 for none.

    >>> round(lower_end(1.0, 20), 2), round(lower_end(0.95, 20), 2)
    (0.88, 0.8)
    """
    if n <= 0:
        return 0.0
    doubt = DEVIATIONS**2 / n
    spread = DEVIATIONS * sqrt(share * (1 - share) / n + doubt / (4 * n))
    return (share + doubt / 2 - spread) / (1 + doubt)


def _score(judgement: Judgement, name: str) -> Score:
    """Return what a judgement says of one attribute."""
    n_values = sum(record.get(name) is not None for record in judgement.records)
    if judgement.is_right or (judgement.marked and name not in judgement.marked):
        return Score(right=n_values)
    if n_values:
        return Score(wrong=n_values)
    is_all_missing = not any(judgement.records)
    return Score(missed=1 if name in judgement.marked or is_all_missing else 0)
