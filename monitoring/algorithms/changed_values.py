"""Find what the values of an attribute became where all of them may have changed and no words tell.

Notation:   A candidate is a data slot of the new pages, read as a whole or as the first or the
            second number of its texts. The margin of a candidate is how far its log-odds are above
            those of the best one that shows something else.
Readings:   One logistic function weighs the signs of a candidate, another one tells by log-odds and
            margin how sure it is: of two prices of which nothing else tells, neither is.
Departures: The weights are trained by `python -m benchmarks.changed_values DATA`.
Cost:       Linear in candidates and their texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from lxml.etree import _Element
from numpy.typing import NDArray
from scipy.special import expit

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.noisy_labels import COUNTING_KEYS
from clustering.algorithms.slots.finding import DataSlot, SlotFinder, SlotText
from clustering.values.recognising import find_typed, is_whole
from monitoring.algorithms.change_signs import (
    ChangeSigns,
    StoredValues,
    TextsByPage,
    signs_of,
)
from monitoring.algorithms.known_values import plain

Table: TypeAlias = NDArray[np.float64]
# The number of a page, and a value that stands there, in plain form.
OtherValue: TypeAlias = tuple[int, str]

WEIGHTS: Final = files(__package__) / "weights" / "changed_values.json"
MIN_CERTAINTY: Final = 0.9  # of what is proposed
MIN_PAGES: Final = 5  # with a stored value
MIN_FILL: Final = 0.15  # of the pages, that show a candidate
MAX_SAME_SHARE: Final = 0.5  # of the pages of two candidates; above it they show the same
MAX_SHARE_OF_OTHERS: Final = 0.5  # of a candidate's texts, that are values of other attributes
N_NUMBERS: Final = 2  # of a text, that may be the value
COLUMNS: Final = (*ChangeSigns._fields, "counting")


class CandidateValue(NamedTuple):
    """What a candidate shows at a text: all of it, or a number of it."""

    at: SlotText
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.at.text.text[self.start : self.end]

    @property
    def is_whole(self) -> bool:
        return self.end - self.start == len(self.at.text.text)


@dataclass(frozen=True, slots=True, eq=False)
class SlotCandidate:
    """A data slot, read as a whole or as one of the numbers of its texts."""

    slot: DataSlot
    shown: Mapping[int, Sequence[CandidateValue]]  # by number of the page
    signs: Table  # in the order of COLUMNS
    plain_texts: frozenset[OtherValue]

    @property
    def texts(self) -> dict[int, list[str]]:
        return {page: [value.text for value in values] for page, values in self.shown.items()}


@dataclass(frozen=True, slots=True)
class ChangeWeights:
    """The trained model."""

    means: Table
    scales: Table
    weights: Table
    intercept: float
    certainty: tuple[float, float, float]  # intercept, weights of log-odds and margin

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ChangeWeights:
        """Return the weights that `as_json` describes. Raises KeyError for a missing column."""
        columns = [document["columns"][name] for name in COLUMNS]
        means, scales, weights = np.array(columns).T
        return cls(means, scales, weights, document["intercept"], tuple(document["certainty"]))

    def as_json(self) -> dict[str, Any]:
        """Return the weights as they are stored: each column's mean, scale and weight."""
        rows = zip(COLUMNS, self.means, self.scales, self.weights, strict=True)
        return {
            "columns": {
                name: [round(float(number), 4) for number in numbers] for name, *numbers in rows
            },
            "intercept": round(self.intercept, 4),
            "certainty": [round(number, 4) for number in self.certainty],
        }

    def log_odds(self, candidates: Sequence[SlotCandidate]) -> list[float]:
        """Return of each candidate the log-odds that it shows what the values became."""
        if not candidates:
            return []
        signs = np.array([candidate.signs for candidate in candidates])
        result: list[float] = (
            (signs - self.means) / self.scales @ self.weights + self.intercept
        ).tolist()
        return result

    def certainty_of(self, log_odds: float, margin: float) -> float:
        """Return how likely a value of a candidate is right."""
        intercept, of_log_odds, of_margin = self.certainty
        return float(expit(intercept + of_log_odds * log_odds + of_margin * margin))


@dataclass(frozen=True, slots=True)
class ChosenSlot:
    """The best candidate of an attribute."""

    candidate: SlotCandidate
    log_odds: float
    margin: float
    certainty: float  # how likely a value of the candidate is right


def shipped_weights() -> ChangeWeights:
    """Return the weights that come with the product."""
    return ChangeWeights.from_json(json.loads(WEIGHTS.read_text()))


def find_slots(trees: Sequence[_Element]) -> list[DataSlot]:
    """Return the slots of the new pages in which values may stand."""
    return SlotFinder(trees).find(min_fill=MIN_FILL)


def candidates_of(
    slots: Sequence[DataSlot], attribute: AttributeType, stored: TextsByPage
) -> list[SlotCandidate]:
    """Return where the values of an attribute may stand now; `stored` are those of before."""
    if len(stored) < MIN_PAGES:
        return []
    values = StoredValues.of(attribute, stored)
    candidates = []
    for slot in slots:
        is_counting = float(slot.key[0] in COUNTING_KEYS)
        for shown in _readings_of(slot, values):
            texts = {page: [value.text for value in of_page] for page, of_page in shown.items()}
            signs = signs_of(values, texts)
            if signs is not None:
                plain_texts = frozenset(
                    (page, plain(text)) for page, of_page in texts.items() for text in of_page
                )
                table_row = np.array([*signs, is_counting])
                candidates.append(SlotCandidate(slot, shown, table_row, plain_texts))
    return candidates


def choose(
    candidates: Sequence[SlotCandidate],
    weights: ChangeWeights,
    other_values: frozenset[OtherValue] = frozenset(),
) -> ChosenSlot | None:
    """Return the best candidate that does not show other attributes' values; None if none is."""
    free = [candidate for candidate in candidates if not _is_of_others(candidate, other_values)]
    log_odds = weights.log_odds(free)
    ranked = sorted(zip(log_odds, free, strict=True), key=lambda pair: -pair[0])
    if not ranked:
        return None
    best_odds, best = ranked[0]
    others = (odds for odds, other in ranked[1:] if not _show_the_same(best, other))
    margin = best_odds - next(others, ranked[-1][0])
    return ChosenSlot(best, best_odds, margin, weights.certainty_of(best_odds, margin))


def _readings_of(slot: DataSlot, stored: StoredValues) -> Iterator[dict[int, list[CandidateValue]]]:
    """Yield what a slot shows, read as a whole and as its first and second number."""
    n = None if stored.attribute.is_multi else 1
    yield {
        page: [CandidateValue(text, 0, len(text.text.text)) for text in texts[:n]]
        for page, texts in slot.texts.items()
    }
    kind = _bare_kind(stored)
    if not kind:
        return
    for index in range(N_NUMBERS):
        shown = {}
        for page, texts in slot.texts.items():
            spans = find_typed(kind, texts[0].text.text)
            if index < len(spans):
                shown[page] = [CandidateValue(texts[0], *spans[index])]
        if any(not value.is_whole for values in shown.values() for value in values):
            yield shown


def _bare_kind(stored: StoredValues) -> str:
    """Return the kind of number that stored values are: price, number, or blank where none is."""
    if not stored.amounts:
        return ""
    for kind in ("price", "number"):
        if all(is_whole(kind, text) for text in stored.texts):
            return kind
    return ""


def _is_of_others(candidate: SlotCandidate, other_values: frozenset[OtherValue]) -> bool:
    """Return whether most of what a candidate shows is known as values of other attributes."""
    n_of_others = len(candidate.plain_texts & other_values)
    return n_of_others > MAX_SHARE_OF_OTHERS * len(candidate.plain_texts)


def _show_the_same(first: SlotCandidate, second: SlotCandidate) -> bool:
    """Return whether two candidates show a common value on most of their common pages."""
    common = first.shown.keys() & second.shown.keys()
    if not common:
        return False
    first_texts, second_texts = first.texts, second.texts
    n_same = sum(not set(first_texts[p]).isdisjoint(second_texts[p]) for p in common)
    return n_same > MAX_SAME_SHARE * len(common)
