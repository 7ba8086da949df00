"""Learn which part of a node's text is the value.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.4.
Notation:   The offset of a word counts from 1 at the beginning or from -1 at the end: "$25.99" in
            "Our Price: $25.99" has 3 and -1.
Readings:   "Whichever is more consistent": an offset holds on all examples or is not used; of two that do,
            the smaller number.
Departures: A text before or after the value that all examples share beats an offset. How much of it is
            stable the same nodes of unannotated pages tell; without them it is cut at digits with one
            example, which are likely to change. A value that the text holds twice is tried at each place.
            Several values in one text are split where all examples have the same text between them, or,
            where no example has two, where the unannotated pages divide such values.
Cost:       Linear in the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product

from rules.algorithms.rule.rule import Selection
from rules.algorithms.rule.xpaths import shown

LONGEST_AFFIX = 60
MOST_AFFIXES = 12  # texts on a side of the value that are tried
MOST_READINGS = 16  # of examples whose value stands in the text more than once
FEWEST_WITNESSES = 3
SAME_SHARE = 0.9
BORNE_OUT_SHARE = 0.2
ENDING_SHARE = 0.1
FEW_WORDS = 3
SEPARATORS = (",", ";", "|", "/", "·", "•")
DIVIDED_SHARE = 0.2
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Example:
    """The shown text of a node and the values in it, in order, with where each begins if that is known."""

    text: str
    values: tuple[str, ...]
    starts: tuple[int, ...] = ()

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each value begins and ends; where it is not known, at its first place between words."""
        if self.starts:
            pairs = zip(self.starts, self.values, strict=True)
            return [(start, start + len(value)) for start, value in pairs]
        found, place = [], 0
        for value in self.values:
            start = find_word(self.text, value, place)
            place = start + len(value)
            found.append((start, place))
        return found

    @property
    def left(self) -> str:
        return self.text[: self.spans[0][0]]

    @property
    def right(self) -> str:
        return self.text[self.spans[-1][1] :]

    @property
    def between(self) -> Iterator[str]:
        for one, other in pairwise(self.spans):
            yield self.text[one[1] : other[0]]

    @property
    def readings(self) -> Iterator[Example]:
        """The example, and where its one value stands at several places between words, those."""
        yield self
        if len(self.values) == 1:
            places = islice(word_starts(self.text, self.values[0]), MOST_READINGS)
            yield from (
                replace(self, starts=(place,)) for place in places if (place,) != self.starts
            )


def word_starts(text: str, value: str, start: int = 0) -> Iterator[int]:
    """Yield where a value stands in a text and divides no word.

    >>> list(word_starts("14 for 4", "4"))
    [7]
    """
    place = text.find(value, start)
    while value and place >= 0:
        end = place + len(value)
        if not (_is_inside_word(text, place) or _is_inside_word(text, end)):
            yield place
        place = text.find(value, place + 1)


def find_word(text: str, value: str, start: int = 0) -> int:
    """Return the first place of a value between words, else its first place, -1 where there is none."""
    return next(word_starts(text, value, start), text.find(value, start))


def _is_inside_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


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


def learn_selection(
    examples: Sequence[Example],
    *,
    is_optional: bool = False,
    is_multi: bool = False,
    witnesses: Sequence[str] = (),
) -> Selection | None:
    """Return the selection that takes exactly the values from all examples, None where there is none.

    `witnesses` are the texts of the same node on pages that nobody annotated: of the texts beside the value
    the longest counts that hardly fewer of them have than any other.
    """
    for reading in islice(
        product(*(list(example.readings) for example in examples)), MOST_READINGS
    ):
        found = _learn_reading(reading, witnesses, is_optional=is_optional)
        if found is not None:
            if is_multi and not found.separator and all(len(one.values) == 1 for one in reading):
                return replace(found, separator=_likely_separator(found, reading, witnesses))
            return found
    return None


def _likely_separator(
    found: Selection, examples: Sequence[Example], witnesses: Sequence[str]
) -> str:
    """Return what divides the values of a list where each example happens to have one, else nothing."""
    values = [example.values[0] for example in examples]
    texts = [part for witness in witnesses for part in select_parts(found, witness)]
    for separator in SEPARATORS:
        divided = [text.split(separator) for text in texts if separator in text]
        is_known = any(separator in value for value in values)
        if is_known or len(divided) < max(FEWEST_WITNESSES, DIVIDED_SHARE * len(texts)):
            continue
        if all(
            part.strip() and _is_alike(values, part.strip()) for parts in divided for part in parts
        ):
            return separator
    return ""


def _is_alike(values: Sequence[str], text: str) -> bool:
    """Say whether a text could be a value: about as many words at most, and digits only if values have."""
    most = max(2 * max(value.count(" ") + 1 for value in values), FEW_WORDS)
    has_digit = {bool(_DIGIT.search(value)) for value in values}
    return text.count(" ") < most and bool(_DIGIT.search(text)) in has_digit


def _learn_reading(
    examples: Sequence[Example], witnesses: Sequence[str], *, is_optional: bool
) -> Selection | None:
    separator = _separator_of(examples)
    if separator is None:
        return None
    literal, offsets = _affixes(examples, separator, is_optional=is_optional), _offsets(examples)
    for selection in [
        *_whole(separator),
        *_witnessed(examples, separator, witnesses, is_optional=is_optional),
        *([*offsets, *literal] if len(witnesses) >= FEWEST_WITNESSES else [*literal, *offsets]),
    ]:
        if all(
            select_parts(selection, example.text) == list(example.values) for example in examples
        ):
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


def _witnessed(
    examples: Sequence[Example], separator: str, witnesses: Sequence[str], *, is_optional: bool
) -> Iterator[Selection]:
    """Yield the selections between texts that the witnesses bear out, the longest texts first."""
    if len(witnesses) < FEWEST_WITNESSES:
        return
    prefixes = _borne_out(_tails(examples), witnesses)
    for prefix in prefixes or [""]:
        behind = [
            text.partition(prefix)[2] if prefix else text for text in witnesses if prefix in text
        ]
        for suffix in _borne_out(_heads(examples), behind) or [""]:
            if prefix or suffix:
                lacks = is_optional or _lacks(examples) or _is_often_last(examples, behind, suffix)
                for is_last in (False, True) if suffix else (False,):
                    yield Selection(prefix, suffix, lacks, is_last, separator=separator)


def _lacks(examples: Sequence[Example]) -> bool:
    """Say whether some values have a text before or after them, and others have none."""
    lefts, rights = [bool(e.left) for e in examples], [bool(e.right) for e in examples]
    return len(set(lefts)) > 1 or len(set(rights)) > 1


def _is_often_last(examples: Sequence[Example], behind: Sequence[str], suffix: str) -> bool:
    """Say whether the value seems to end some of the texts, which then lack the suffix."""
    without = [text for text in behind if suffix and suffix not in text]
    values = [value for example in examples for value in example.values]
    alike = [text for text in without if _is_alike(values, text)]
    return len(alike) > ENDING_SHARE * len(behind)


def _borne_out(texts: Sequence[str], witnesses: Sequence[str]) -> list[str]:
    """Return the texts that hardly fewer witnesses have than have any of them, in their order."""
    counts = {text: sum(text in witness for witness in witnesses) for text in texts}
    most = max(counts.values(), default=0)
    if most <= BORNE_OUT_SHARE * len(witnesses):
        return []
    return [text for text, n in counts.items() if n >= SAME_SHARE * most][:MOST_AFFIXES]


def _tails(examples: Sequence[Example]) -> list[str]:
    """Return the ends that all texts before a value share, divided between words, the longest first."""
    lefts = [example.left for example in examples if example.left]
    if not lefts:
        return []
    common = commonprefix([left[::-1] for left in lefts])[::-1][-LONGEST_AFFIX:]
    left = max(lefts, key=len)
    start = len(left) - len(common)
    return [
        _guarded(left[place - 1 : place] if place else "", common[place - start :], before=True)
        for place in range(start, len(left))
        if left[place] != " " and not _is_inside_word(left, place)
    ]


def _heads(examples: Sequence[Example]) -> list[str]:
    """Return the beginnings that all texts after a value share, divided between words, the longest first."""
    rights = [example.right for example in examples if example.right]
    if not rights:
        return []
    common = commonprefix(rights)[:LONGEST_AFFIX]
    right = max(rights, key=len)
    return [
        _guarded(right[place : place + 1], common[:place], before=False)
        for place in range(len(common), 0, -1)
        if right[place - 1] != " " and not _is_inside_word(right, place)
    ]


def _guarded(beside: str, text: str, *, before: bool) -> str:
    """Return a text with the blanks around it where it begins or ends with a word: it divides none."""
    bare = text.strip()
    begins = bare[0].isalnum() and (beside if before else text[0]) == " "
    ends = bare[-1].isalnum() and (text[-1] if before else beside) == " "
    return f"{' ' * begins}{bare}{' ' * ends}"


def _affixes(
    examples: Sequence[Example], separator: str, *, is_optional: bool
) -> Iterator[Selection]:
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
    n = next(
        (n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None
    )
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
        if all(
            select_parts(selection, example.text) == list(example.values) for example in examples
        ):
            return selection
    return None
