"""How an attribute's values usually look on a cluster's pages, and how odd another value looks.

Notation:   The kinds of a text are the characters that it consists of: capitals, other letters,
            digits, blanks, and each other character for itself. The oddness of a value is the
            greatest of three surprises, 0 where nothing surprises: kinds that no usual value has,
            as likely as kinds were seen once (Good-Turing); and how many spreads its length, and
            the amount of a price or number, is away from the middle one. A spread is measured at
            nine tenths of the values: where they come in a few lengths, as "Visa" and "American
            Express" do, the median of their distances would make a third of them odd.
Readings:   What looks like the others may still be wrong: the price of a neighbour is not odd.
Cost:       Linear in the characters that are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log, log1p
from statistics import median
from typing import Any, Final, NamedTuple

Value = str | Sequence[str | None]

MIN_VALUES: Final = 4  # of which looks are learnt
MAX_VALUES_READ: Final = 500  # of an attribute
MAX_CHARS_LOOKED_AT: Final = 200
MIN_SPREAD: Final = 0.2  # of logarithms: what differs by less is alike
# This share of the values is at most so many spreads away from the middle one, as in a
# normal distribution.
USUAL_SHARE, USUAL_SPREADS = 0.9, 1.645


class ShownText(NamedTuple):
    """A value as it is shown, and what was read from it."""

    text: str
    normalized: object  # a JSON value; None: nothing could be read


@dataclass(frozen=True, slots=True)
class Middle:
    """The median of logarithms, and how far they usually are from it."""

    median: float
    spread: float

    def surprise_of(self, logarithm: float) -> float:
        n_spreads = (logarithm - self.median) / max(self.spread, MIN_SPREAD)
        return log1p(n_spreads * n_spreads)


@dataclass(frozen=True, slots=True)
class ValueLooks:
    """How the values of an attribute usually look."""

    n: int
    n_by_kinds: Mapping[str, int]
    length: Middle
    amount: Middle | None  # None: they are not amounts

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> ValueLooks:
        """Return the looks that were written as JSON. Raises KeyError, TypeError, ValueError."""
        amount = form["amount"]
        return cls(
            n=int(form["n"]),
            n_by_kinds={str(kinds): int(n) for kinds, n in form["n_by_kinds"].items()},
            length=_middle_from_json(form["length"]),
            amount=None if amount is None else _middle_from_json(amount),
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def oddness_of(self, value: ShownText) -> float:
        """Return how odd a value looks: 0 where it looks like the others.

        >>> prices = learn_looks([ShownText(f"${n}.99", None) for n in range(10, 30)])
        >>> prices.oddness_of(ShownText("$17.99", None))
        0.0
        >>> prices.oddness_of(ShownText("Sold out", None)) > 2
        True
        """
        surprises = [
            self._surprise_of_kinds(value.text),
            self.length.surprise_of(_log_length(value.text)),
        ]
        amount = _log_amount(value.normalized)
        if self.amount is not None and amount is not None:
            surprises.append(self.amount.surprise_of(amount))
        return max(surprises)

    def _surprise_of_kinds(self, text: str) -> float:
        if kinds_of(text) in self.n_by_kinds:
            return 0.0
        n_seen_once = sum(n == 1 for n in self.n_by_kinds.values())
        return log((self.n + 2) / (n_seen_once + 1))


def learn_looks(values: Sequence[ShownText]) -> ValueLooks:
    """Return how values look. Raises ValueError where there is none."""
    read_amounts = [_log_amount(value.normalized) for value in values]
    amounts = [amount for amount in read_amounts if amount is not None]
    return ValueLooks(
        n=len(values),
        n_by_kinds=dict(Counter(kinds_of(value.text) for value in values)),
        length=_middle([_log_length(value.text) for value in values]),
        amount=_middle(amounts) if len(amounts) >= MIN_VALUES else None,
    )


def looks_by_attribute(
    records: Iterable[tuple[Mapping[str, Value], Mapping[str, object]]],
) -> dict[str, ValueLooks]:
    """Return how the values of each attribute look in some records, if it has enough values.

    Each record comes as its values and what was read from them, by attribute.
    """
    values_by_name: dict[str, list[ShownText]] = {}
    for values, normalized in records:
        for name, value in values.items():
            shown = shown_texts(value, normalized.get(name))
            values_by_name.setdefault(name, []).extend(shown)
    return {
        name: learn_looks(shown[:MAX_VALUES_READ])
        for name, shown in values_by_name.items()
        if len(shown) >= MIN_VALUES
    }


def shown_texts(value: Value, normalized: object) -> list[ShownText]:
    """Return each text of a value with what was read from it; a nested list's gaps are left out."""
    if isinstance(value, str):
        return [ShownText(value, normalized)]
    read = normalized if isinstance(normalized, list) else [None] * len(value)
    return [
        ShownText(text, of_text)
        for text, of_text in zip(value, read, strict=True)
        if text is not None
    ]


def oddness_of_values(looks: ValueLooks | None, values: Sequence[ShownText]) -> float:
    """Return the mean oddness of an attribute's values; 0 where nothing is known of their looks."""
    if looks is None or not values:
        return 0.0
    return sum(map(looks.oddness_of, values)) / len(values)


def kinds_of(text: str) -> str:
    """Return which kinds of characters a text has.

    >>> kinds_of("Our Price: $1,299.00")
    ' $,.9:Aa'
    """
    kinds = {kind_of(character) for character in text[:MAX_CHARS_LOOKED_AT].strip()}
    return "".join(sorted(kinds))


def kind_of(character: str) -> str:
    """Return what stands for a character: 9, a blank, A or a; any other one stands for itself."""
    if character.isdigit():
        return "9"
    if character.isspace():
        return " "
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character


def _log_length(text: str) -> float:
    return log(len(text) + 1)


def _log_amount(normalized: object) -> float | None:
    """Return the logarithm of a price's or number's amount; None for all else, 0 and less."""
    number: Any = normalized
    if isinstance(normalized, dict):
        number = normalized.get("amount")
        if not isinstance(number, str):
            return None
    elif isinstance(normalized, bool) or not isinstance(normalized, int | float):
        return None
    amount = float(number)
    return log(amount) if amount > 0 else None


def _middle(logarithms: Sequence[float]) -> Middle:
    middle = median(logarithms)
    deviations = sorted(abs(logarithm - middle) for logarithm in logarithms)
    return Middle(middle, deviations[int(USUAL_SHARE * (len(deviations) - 1))] / USUAL_SPREADS)


def _middle_from_json(form: Mapping[str, Any]) -> Middle:
    return Middle(float(form["median"]), float(form["spread"]))
