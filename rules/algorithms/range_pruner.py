"""Learn which part of a node's text is the value.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.4.
Notation:   The offset of a word counts from 1 at the beginning or from -1 at the end: "$25.99" in
            "Our Price: $25.99" has 3 and -1.
Readings:   "Whichever is more consistent": an offset holds on all examples or is not used; of two that do,
            the smaller number.
Departures: A text before or after the value that all examples share beats an offset. With one example it is
            cut at digits, which are likely to change. Several values in one text are split where all examples
            have the same text between them.
Cost:       Linear in the texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rules.algorithms.rule import Selection
from rules.algorithms.xpaths import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_AFFIX = 60
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Example:
    """The shown text of a node and the values in it, in their order."""

    text: str
    values: tuple[str, ...]

    @property
    def span(self) -> tuple[int, int]:
        """Where the first value begins and the last one ends."""
        start = self.text.find(self.values[0])
        place = start
        for value in self.values:
            place = self.text.find(value, place) + len(value)
        return start, place

    @property
    def left(self) -> str:
        return self.text[: self.span[0]]

    @property
    def right(self) -> str:
        return self.text[self.span[1] :]

    @property
    def between(self) -> Iterator[str]:
        place = self.span[0]
        for one, other in pairwise(self.values):
            end = self.text.find(one, place) + len(one)
            place = self.text.find(other, end)
            yield self.text[end:place]


def select_parts(selection: Selection, text: str) -> list[str]:
    """Return the values that a selection takes from a text; none where it does not fit.

    >>> select_parts(Selection(prefix="Price:"), "Our Price: $25.99")
    ['$25.99']
    """
    rest = _without_affixes(selection, shown(text))
    if rest is None:
        return []
    words = rest.split(" ")
    first = selection.first - 1 if selection.first > 0 else len(words) + selection.first
    last = selection.last if selection.last > 0 else len(words) + selection.last + 1
    if first < 0 or last > len(words):
        return []
    part = " ".join(words[first:last])
    parts = part.split(selection.separator) if selection.separator else [part]
    return [shown(one) for one in parts if shown(one)]


def _without_affixes(selection: Selection, text: str) -> str | None:
    """Return the text between prefix and suffix, None where one is missing that must be there."""
    if selection.prefix:
        _, found, rest = text.partition(selection.prefix)
        if not found and not selection.is_optional:
            return None
        text = rest if found else text
    if selection.suffix:
        cut = text.rpartition if selection.is_last_suffix else text.partition
        start, found, _ = cut(selection.suffix)
        if not found and not selection.is_optional:
            return None
        text = start if found else text
    return text.strip() or None


def learn_selection(examples: Sequence[Example], *, is_optional: bool = False) -> Selection | None:
    """Return the selection that takes exactly the values from all examples, None where there is none."""
    separator = _separator_of(examples)
    if separator is None:
        return None
    for selection in [
        *_whole(separator),
        *_affixes(examples, separator, is_optional=is_optional),
        *_offsets(examples),
    ]:
        if all(select_parts(selection, example.text) == list(example.values) for example in examples):
            return selection
    return None


def _separator_of(examples: Sequence[Example]) -> str | None:
    """Return the text between values, empty where each text has one; None where it differs."""
    found = {between.strip() or between for example in examples for between in example.between}
    if len(found) > 1 or "" in found:
        return None
    return next(iter(found), "")


def _whole(separator: str) -> Iterator[Selection]:
    yield Selection(separator=separator)


def _affixes(examples: Sequence[Example], separator: str, *, is_optional: bool) -> Iterator[Selection]:
    prefix, suffix = _prefix_of(examples), _suffix_of(examples)
    lacks = any(not e.left for e in examples) and any(e.left for e in examples)
    lacks = lacks or (any(not e.right for e in examples) and any(e.right for e in examples))
    for optional in (True,) if lacks or is_optional else (False, True):
        for is_last in (False, True) if suffix else (False,):
            yield Selection(prefix, suffix, optional, is_last, separator=separator)


def _prefix_of(examples: Sequence[Example]) -> str:
    """Return the text that all values follow, from the beginning of a word."""
    lefts = [example.left for example in examples if example.left]
    if not lefts:
        return ""
    common = commonprefix([left[::-1] for left in lefts])[::-1]
    if len(lefts) == 1:
        common = _DIGIT.split(common)[-1] if _DIGIT.search(common) else common
    if any(len(left) > len(common) and left[-len(common) - 1 :][:1] != " " for left in lefts):
        head, space, rest = common.partition(" ")
        common = rest if space and rest.strip() else common if not head.isalnum() else rest
    return common[-LONGEST_AFFIX:].strip()


def commonprefix(texts: Sequence[str]) -> str:
    """Return the letters with which all texts begin."""
    first, last = min(texts), max(texts)
    n = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first if n is None else first[:n]


def _suffix_of(examples: Sequence[Example]) -> str:
    """Return the text that follows all values, to the end of a word."""
    rights = [example.right for example in examples if example.right]
    if not rights:
        return ""
    common = commonprefix(rights)
    if len(rights) == 1:
        common = _DIGIT.split(common)[0] if _DIGIT.search(common) else common
    if any(len(right) > len(common) and right[len(common)] != " " for right in rights):
        rest, space, tail = common.rpartition(" ")
        common = rest if space and rest.strip() else common if not tail.isalnum() else rest
    return common[:LONGEST_AFFIX].strip()


def _offsets(examples: Sequence[Example]) -> Iterator[Selection]:
    """Yield the word offsets that hold on all examples, small numbers first."""
    firsts, lasts = [], []
    for example in examples:
        n = len(example.text.split(" "))
        first = len(example.left.split(" ")) if example.left else 1
        last = n - (len(example.right.split(" ")) - 1 if example.right else 0)
        firsts.append({first, first - n - 1})
        lasts.append({last, last - n - 1})
    for first in sorted(set.intersection(*firsts), key=lambda offset: (abs(offset), -offset)):
        for last in sorted(set.intersection(*lasts), key=lambda offset: (abs(offset), -offset)):
            yield Selection(first=first, last=last)


def learn_offsets(examples: Sequence[Example]) -> Selection | None:
    """Return the selection by word offsets alone, as the paper has it."""
    for selection in [Selection(), *_offsets(examples)]:
        if all(select_parts(selection, example.text) == list(example.values) for example in examples):
            return selection
    return None
