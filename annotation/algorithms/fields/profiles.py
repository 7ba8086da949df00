"""Learn what the fields of a vertical look like from the right slots of sites that are known.

Notation:   The profile of a site holds, for each field, the slots that show it, at most
            MAX_EXAMPLES_A_FIELD; and of all its slots how many have each token. The profile of a
            vertical is those of its sites.
Readings:   A slot shows a field if its values are the field's on nearly all pages. Where several
            do, their descriptions differ by what stands around them, and each tells something.
Cost:       A few hundred tokens a field and site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotation.algorithms.fields.slot_features import BAGS, Bag, Bags, SlotDescription

MIN_FIT: Final = 0.85  # F1 over pages of a slot that shows a field
MAX_EXAMPLES_A_FIELD: Final = 4
MAX_TOKENS_OF_EXAMPLE: Final = 150  # of one bag, the most frequent
MAX_COMMON_TOKENS: Final = 600  # of one bag of a site
MIN_SLOTS_OF_TOKEN: Final = 2  # rarer ones count as not seen

Values = Mapping[str, Sequence[str]]  # by field, of one page


@dataclass(frozen=True, slots=True)
class FieldExample:
    """A slot that shows a field."""

    bags: Bags
    numbers: Sequence[float]

    def as_json(self) -> dict[str, Any]:
        return {"bags": self.bags, "numbers": list(self.numbers)}


@dataclass(frozen=True, slots=True)
class SiteProfile:
    """What the slots of a known site tell of the fields of its vertical."""

    site: str
    examples: Mapping[str, Sequence[FieldExample]]  # by field
    n_slots: int
    n_slots_by_token: Mapping[str, Mapping[str, int]]  # by bag

    def as_json(self) -> dict[str, Any]:
        """Return the profile as it is stored."""
        return {
            "site": self.site,
            "n_slots": self.n_slots,
            "n_slots_by_token": self.n_slots_by_token,
            "examples": {
                field: [example.as_json() for example in examples]
                for field, examples in self.examples.items()
            },
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SiteProfile:
        """Return the profile that `as_json` describes."""
        examples = {
            field: [FieldExample(entry["bags"], entry["numbers"]) for entry in entries]
            for field, entries in document["examples"].items()
        }
        return cls(document["site"], examples, document["n_slots"], document["n_slots_by_token"])


def profile_site(
    site: str,
    descriptions: Sequence[SlotDescription],
    fits: Mapping[str, Sequence[float]],
) -> SiteProfile:
    """Return the profile of a site; `fits` says of each field how well each slot shows it."""
    n_slots_by_token = {}
    for bag in BAGS:
        counts = Counter(token for slot in descriptions for token in slot.bags[bag])
        common = [(token, n) for token, n in counts.most_common(MAX_COMMON_TOKENS)]
        n_slots_by_token[bag] = {token: n for token, n in common if n >= MIN_SLOTS_OF_TOKEN}
    examples = {}
    for field, field_fits in fits.items():
        order = sorted(range(len(descriptions)), key=lambda index: -field_fits[index])
        best = [index for index in order[:MAX_EXAMPLES_A_FIELD] if field_fits[index] >= MIN_FIT]
        if best:
            examples[field] = [_example(descriptions[index]) for index in best]
    return SiteProfile(site, examples, len(descriptions), n_slots_by_token)


def _example(description: SlotDescription) -> FieldExample:
    bags = {bag: _most_frequent(description.bags[bag]) for bag in BAGS}
    return FieldExample(bags, [round(number, 4) for number in description.numbers])


def _most_frequent(bag: Bag) -> dict[str, float]:
    strongest = sorted(bag.items(), key=lambda item: (-item[1], item[0]))[:MAX_TOKENS_OF_EXAMPLE]
    return {token: round(share, 3) for token, share in strongest}


def fit_of(
    shown: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]], *, is_multi: bool
) -> float:
    """Return the F1 over pages of what a slot shows, against a field's values.

    Of a single value the first text of a page counts; several are compared as sets.

    >>> fit_of([["a", "x"], ["b"]], [["a"], ["b"]], is_multi=False)
    1.0
    """
    n_shown = n_wanted = n_right = 0
    for texts, values in zip(shown, wanted, strict=True):
        counted = {_plain(text) for text in (texts if is_multi else texts[:1])}
        expected = {_plain(value) for value in values}
        n_shown += bool(counted)
        n_wanted += bool(expected)
        if is_multi:
            n_right += bool(counted) and counted == expected
        else:
            n_right += bool(counted) and counted <= expected
    return 2 * n_right / (n_shown + n_wanted) if n_shown + n_wanted else 0.0


def _plain(text: str) -> str:
    """Return a text without its blanks, which nobody sees alike."""
    return "".join(text.split())
