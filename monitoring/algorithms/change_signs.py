"""Measure how much some texts of the new pages look like what the values of an attribute became.

Notation:   Stored values are those that an attribute had on the pages before; shown texts are what
            stands on the new versions of these pages at one place. Both are known by the number of
            the page.
Readings:   A price of today is another one, yet it looks like a price, the pages that had one have
            one, and what was dear is dear. What changes among few values shows the same few again.
Cost:       Linear in the texts, but for ranking the amounts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import atanh, log, log1p, sqrt
from statistics import fmean, median
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata

from annotation.algorithms.attribute_types import AttributeType
from clustering.values.numbers import find_number
from monitoring.algorithms.known_values import AMOUNTS, plain
from monitoring.algorithms.value_models import shape_of

MIN_TOGETHER: Final = 0.3  # of the pages with a value or a text, that have both
MIN_SHARE_OF_AMOUNTS: Final = 0.8  # of the values of an attribute, or of the texts of a candidate
MAX_AMOUNT_CHARS: Final = 40
MAX_WORDED_CHARS: Final = 400
MAX_SHIFT: Final = 2.0  # of logarithms; amounts that are further apart are others
SMALL_SHIFT: Final = 0.02  # below it amounts are nearly the same
MAX_ORDER: Final = 0.995  # of a correlation
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_AMOUNT_WITH_UNIT: Final = re.compile(r"\W*\d[\d.,]*\W*[^\W\d_]{0,12}\W*")
_ANY_NUMBER: Final = "0"

TextsByPage: TypeAlias = Mapping[int, Sequence[str]]


class ChangeSigns(NamedTuple):
    """What is measured of shown texts beside stored values, in the order of the weights."""

    together: float  # pages with both, of those with either
    several: float  # how many more or fewer texts a page has than values
    shapes: float  # cosine of the shapes of all texts
    words: float  # the same of their words
    known: float  # texts that are a stored value of any page
    shown: float  # stored values that some page shows
    distinct: float  # how far the shares of distinct texts are apart
    length: float  # how far the mean lengths are apart
    is_amount: float
    order: float  # of amounts: correlation of their ranks, stretched near 1
    shift: float  # of amounts: how far the median of new to old is from 1
    spread: float  # of amounts: how far new to old is from its median


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The values that an attribute had, described once for all candidates."""

    attribute: AttributeType
    by_page: TextsByPage
    texts: Sequence[str]
    shapes: Counter[str]
    words: Counter[str]
    amounts: Mapping[int, float]  # by page; empty where the values are no amounts

    @classmethod
    def of(cls, attribute: AttributeType, by_page: TextsByPage) -> StoredValues:
        """Describe values; those of an attribute that has several on a page are no amounts."""
        texts = [text for page_texts in by_page.values() for text in page_texts]
        is_amount = not attribute.is_multi and are_amounts(attribute, texts)
        amounts = _amounts(by_page) if is_amount else {}
        return cls(attribute, by_page, texts, _shapes(texts), words_of(texts), amounts)


def signs_of(stored: StoredValues, shown: TextsByPage) -> ChangeSigns | None:
    """Return what is measured of shown texts; None where they cannot be what the values became."""
    both = stored.by_page.keys() & shown.keys()
    together = len(both) / len(stored.by_page.keys() | shown.keys())
    if together < MIN_TOGETHER:
        return None
    pages = sorted(both)
    texts = [text for page in pages for text in shown[page]]
    change = _change_of_amounts(stored, shown, pages)
    if change is None:
        return None
    values = set(map(plain, stored.texts))
    plain_texts = list(map(plain, texts))
    distinct_texts = set(plain_texts)
    return ChangeSigns(
        together=together,
        several=abs(log(len(texts) / len(pages)) - log(len(stored.texts) / len(stored.by_page))),
        shapes=cosine(stored.shapes, _shapes(texts)),
        words=cosine(stored.words, words_of(texts)),
        known=sum(text in values for text in plain_texts) / len(texts),
        shown=len(values & distinct_texts) / len(values),
        distinct=abs(len(values) / len(stored.texts) - len(distinct_texts) / len(texts)),
        length=abs(log(_mean_length(texts) / _mean_length(stored.texts))),
        is_amount=float(bool(stored.amounts)),
        order=change.order,
        shift=change.shift,
        spread=change.spread,
    )


class _AmountChange(NamedTuple):
    order: float
    shift: float
    spread: float


def _change_of_amounts(
    stored: StoredValues, shown: TextsByPage, pages: Sequence[int]
) -> _AmountChange | None:
    """Return how amounts changed: zeros without stored ones, None where the texts have too few."""
    if not stored.amounts:
        return _AmountChange(0.0, 0.0, 0.0)
    new = _amounts({page: shown[page] for page in pages})
    if len(new) < MIN_SHARE_OF_AMOUNTS * len(pages):
        return None
    common = sorted(new.keys() & stored.amounts.keys())
    if not common:
        return None
    ratios = [log(new[page] / stored.amounts[page]) for page in common]
    middle = median(ratios)
    spread = median(abs(ratio - middle) for ratio in ratios)
    old_amounts = [stored.amounts[page] for page in common]
    order = _rank_correlation(old_amounts, [new[page] for page in common])
    return _AmountChange(
        atanh(max(-MAX_ORDER, min(order, MAX_ORDER))), _finely(abs(middle)), _finely(spread)
    )


def _finely(distance: float) -> float:
    """Return a distance of logarithms so that small ones are told apart, too."""
    return log1p(min(distance, MAX_SHIFT) / SMALL_SHIFT)


def are_amounts(attribute: AttributeType, texts: Sequence[str]) -> bool:
    """Return whether nearly all values are a number, with a unit or a currency at most."""
    if attribute.type not in AMOUNTS | {"text"}:
        return False
    n_amounts = sum(_AMOUNT_WITH_UNIT.fullmatch(text) is not None for text in texts)
    return attribute.type in AMOUNTS or n_amounts >= MIN_SHARE_OF_AMOUNTS * len(texts)


def _amounts(by_page: TextsByPage) -> dict[int, float]:
    """Return the first number of each page's first text, of those above zero."""
    amounts = {}
    for page, texts in by_page.items():
        number = find_number(texts[0]) if len(texts[0]) <= MAX_AMOUNT_CHARS else None
        if number is not None and number > 0:
            amounts[page] = float(number)
    return amounts


def _rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return how alike two orders are, from -1 to 1; 0 where one of them has no order."""
    if len(set(first)) < 2 or len(set(second)) < 2:
        return 0.0
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _shapes(texts: Iterable[str]) -> Counter[str]:
    return Counter(map(shape_of, texts))


def words_of(texts: Iterable[str]) -> Counter[str]:
    """Count the texts that have each word; all numbers are one."""
    counts: Counter[str] = Counter()
    for text in texts:
        words = _WORD.findall(text[:MAX_WORDED_CHARS].casefold())
        counts.update({_ANY_NUMBER if word[0].isdigit() else word for word in words})
    return counts


def cosine(first: Counter[str], second: Counter[str]) -> float:
    """Return the cosine of the angle between two counts; 0 where one of them counts nothing."""
    product = sum(n * second[key] for key, n in first.items())
    first_square = sum(n * n for n in first.values())
    second_square = sum(n * n for n in second.values())
    if not first_square or not second_square:
        return 0.0
    return product / sqrt(first_square * second_square)


def _mean_length(texts: Sequence[str]) -> float:
    return fmean(len(text) + 1 for text in texts)
