"""Rank data slots by doubtful labels: which of them would most likely have got these labels.

Paper:      Dalvi, Kumar, Soliman, "Automatic Wrappers for Large Scale Web Extraction" (PVLDB 4(4),
            2011), sections 3 and 4: the wrapper X is ranked by P(L | X) P(X).
Notation:   L -> the labelled texts of all pages; X -> the texts of a slot; r -> the recall of who
            labels, p -> the precision. P(L | X) is, up to a factor that all slots share,
            (r / (1 - p)) ^ |L and X| times ((1 - r) / p) ^ |X without L|; P(X) is exp(-price).
Readings:   A label that is right with probability w counts w times. A page without labels says
            nothing of the slots: nobody looked at it. Of a field with a single value only the first
            text of a slot on a page counts.
Departures: The paper enumerates wrappers from subsets of the labels; the slots of a cluster are the
            candidates here, since they are at hand and hardly any field lacks one. Its publication
            model, P(X), becomes the price of the slot's key: what counts texts breaks sooner.
Cost:       Linear in the texts of the slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple, TypeAlias

from clustering.algorithms.slots.finding import DataSlot, SlotText

LABELLING_RECALL: Final = 0.9  # r: of a page's texts of the field, so many are labelled
# p: of the texts that are not the field's, so many are not labelled
LABELLING_PRECISION: Final = 0.95
MIN_LABELLED_PAGES: Final = 3
MIN_AGREEMENT: Final = 0.9  # of the labelled pages, for a slot that is trusted
PRICE_OF_COUNTING: Final = 1.0  # a key that counts texts
COUNTING_KEYS: Final = frozenset({"place, label, ordinal", "place, ordinal", "texts since label"})


class DoubtfulLabel(NamedTuple):
    """A text that may show a field's value."""

    weight: float  # how likely it is right
    part: str = ""  # of the text that is the value; blank for all of it


Labels: TypeAlias = Mapping[int, Mapping[int, DoubtfulLabel]]  # by page and number of the text


@dataclass(frozen=True, slots=True)
class RankedSlot:
    """A slot with how well it explains the labels."""

    slot: DataSlot
    log_likelihood: float  # less the price
    n_labelled: int  # pages with labels
    n_agreed: int  # of those, on which all that counts of the slot is labelled

    @property
    def is_trusted(self) -> bool:
        if self.n_labelled < MIN_LABELLED_PAGES:
            return False
        return self.n_agreed >= MIN_AGREEMENT * self.n_labelled

    @property
    def certainty(self) -> float:
        """Return how sure another page is to agree: by the rule of succession."""
        return (self.n_agreed + 1) / (self.n_labelled + 2)


def rank_slots(slots: Sequence[DataSlot], labels: Labels, *, is_multi: bool) -> list[RankedSlot]:
    """Return the slots that have a label, the likeliest first; of equal ones the fuller first."""
    ranked = [_rank(slot, labels, is_multi=is_multi) for slot in slots]
    with_labels = [entry for entry in ranked if entry.n_agreed]
    return sorted(with_labels, key=lambda entry: (-entry.log_likelihood, -entry.slot.fill))


def counted_texts(slot: DataSlot, page: int, *, is_multi: bool) -> tuple[SlotText, ...]:
    """Return the texts of a slot on a page that are values of the field."""
    texts = slot.texts.get(page, ())
    return texts if is_multi else texts[:1]


def _rank(slot: DataSlot, labels: Labels, *, is_multi: bool) -> RankedSlot:
    gain = log(LABELLING_RECALL / (1 - LABELLING_PRECISION))
    loss = log((1 - LABELLING_RECALL) / LABELLING_PRECISION)
    log_likelihood = -PRICE_OF_COUNTING if slot.key[0] in COUNTING_KEYS else 0.0
    n_labelled = n_agreed = 0
    for page, label_by_number in labels.items():
        if not label_by_number:
            continue
        n_labelled += 1
        texts = counted_texts(slot, page, is_multi=is_multi)
        weights = [
            label_by_number[text.number].weight if text.number in label_by_number else 0.0
            for text in texts
        ]
        log_likelihood += sum(weight * gain + (1 - weight) * loss for weight in weights)
        n_agreed += bool(weights) and all(weights)
    return RankedSlot(slot, log_likelihood, n_labelled, n_agreed)
