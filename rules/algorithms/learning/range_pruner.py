"""Learn which part of a node's text is the value.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.4.
Notation:   The offset of a word counts from 1 at the beginning or from -1 at the end: "$25.99" in
            "Our Price: $25.99" has 3 and -1.
Readings:   "Whichever is more consistent": of two offsets that hold on all examples the smaller
            number; where none does, `learn_offsets` counts examples, and the default learner says
            that no part of the text is the value.
Departures: A text before or after the value that all examples share beats an offset. How much of
            it is stable is seen at the same nodes of unannotated pages, the witnesses; without
            them it is cut at digits with one example, which are likely to change. A value that the
            text holds twice is tried at each occurrence. Several values in one text are split
            where all examples have the same text between them, or, where no example has two, where
            the unannotated pages divide such values.
Cost:       Linear in the texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product

from rules.algorithms.rule.rule import Selection
from rules.algorithms.rule.xpaths import shown

MAX_AFFIX_CHARS = 60
MAX_AFFIXES = 12  # texts on a side of the value that are tried
MAX_READINGS = 16  # of examples whose value stands in the text more than once
MIN_WITNESSES = 3
MIN_WITNESSED_SHARE = 0.2  # of the witnesses, which must have a text beside the value
MIN_SHARE_OF_BEST = 0.9  # of the witnesses that have the most common text
# Of the witnesses that may end with the value before the text behind it counts as optional.
MAX_ENDING_SHARE = 0.1
MIN_DIVIDED_SHARE = 0.2  # of the witnesses, which a separator must divide
MIN_WORDS_ALLOWED = 3  # in a text that could be a value, however short the values are
SEPARATORS = (",", ";", "|", "/", "·", "•")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class CutExample:
    """The shown text of a node and the values in it, in order, with their beginnings if known."""

    text: str
    values: tuple[str, ...]
    starts: tuple[int, ...] = ()

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each value begins and ends; if unknown, where it first divides no word."""
        if self.starts:
            pairs = zip(self.starts, self.values, strict=True)
            return [(start, start + len(value)) for start, value in pairs]
        spans, end = [], 0
        for value in self.values:
            start = find_word(self.text, value, end)
            end = start + len(value)
            spans.append((start, end))
        return spans

    @property
    def left(self) -> str:
        return self.text[: self.spans[0][0]]

    @property
    def right(self) -> str:
        return self.text[self.spans[-1][1] :]

    @property
    def between(self) -> Iterator[str]:
        for (_, end), (next_start, _) in pairwise(self.spans):
            yield self.text[end:next_start]

    @property
    def readings(self) -> Iterator[CutExample]:
        """The example, then with its one value at each other occurrence that divides no word."""
        yield self
        if len(self.values) > 1:
            return
        for start in islice(word_starts(self.text, self.values[0]), MAX_READINGS):
            if (start,) != self.starts:
                yield replace(self, starts=(start,))


def word_starts(text: str, value: str, start: int = 0) -> Iterator[int]:
    """Yield where a value begins in a text and divides no word.

    >>> list(word_starts("14 for 4", "4"))
    [7]
    """
    start = text.find(value, start)
    while value and start >= 0:
        end = start + len(value)
        if not (_is_inside_word(text, start) or _is_inside_word(text, end)):
            yield start
        start = text.find(value, start + 1)


def find_word(text: str, value: str, start: int = 0) -> int:
    """Return where a value first divides no word, else where it first begins, else -1."""
    return next(word_starts(text, value, start), text.find(value, start))


def _is_inside_word(text: str, index: int) -> bool:
    return 0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum()


def select_parts(selection: Selection, text: str) -> list[str]:
    """Return the values that a selection takes from a text; none where it does not fit.

    >>> select_parts(Selection(prefix="Price:"), "Our Price: $25.99")
    ['$25.99']
    """
    inner = _without_affixes(selection, shown(text))
    if inner is None:
        return []
    words = inner.split(" ")
    first = selection.first - 1 if selection.first > 0 else len(words) + selection.first
    last = selection.last if selection.last > 0 else len(words) + selection.last + 1
    if first < 0 or last > len(words):
        return []
    part = " ".join(words[first:last])
    parts = part.split(selection.separator) if selection.separator else [part]
    return [shown(value) for value in parts if shown(value)]


def _without_affixes(selection: Selection, text: str) -> str | None:
    """Return the text between prefix and suffix, None where one is missing that must be there."""
    if selection.prefix:
        _, prefix, behind = text.partition(selection.prefix)
        if prefix:
            text = behind
        elif not selection.is_optional:
            return None
    if selection.suffix:
        divide = text.rpartition if selection.is_last_suffix else text.partition
        before, suffix, _ = divide(selection.suffix)
        if suffix:
            text = before
        elif not selection.is_optional:
            return None
    return text.strip() or None


def learn_selection(
    examples: Sequence[CutExample],
    *,
    is_optional: bool = False,
    is_multi: bool = False,
    witnesses: Sequence[str] = (),
) -> Selection | None:
    """Return the selection that takes exactly the values from all examples, or None.

    `witnesses` are the texts of the same node on pages that nobody annotated: of the texts beside
    the value the longest counts that hardly fewer of them have than any other.
    """
    has_one_each = all(len(example.values) == 1 for example in examples)
    for reading in islice(product(*(example.readings for example in examples)), MAX_READINGS):
        selection = _learn_reading(reading, witnesses, is_optional=is_optional)
        if selection is None:
            continue
        if is_multi and has_one_each and not selection.separator:
            separator = _likely_separator(selection, reading, witnesses)
            return replace(selection, separator=separator)
        return selection
    return None


def _likely_separator(
    selection: Selection, examples: Sequence[CutExample], witnesses: Sequence[str]
) -> str:
    """Return what divides the values of a list where each example has but one, else nothing."""
    values = [example.values[0] for example in examples]
    texts = [text for witness in witnesses for text in select_parts(selection, witness)]
    for separator in SEPARATORS:
        if any(separator in value for value in values):
            continue
        divided = [text.split(separator) for text in texts if separator in text]
        if len(divided) < max(MIN_WITNESSES, MIN_DIVIDED_SHARE * len(texts)):
            continue
        parts = [part.strip() for parts in divided for part in parts]
        if all(part and _could_be_value(part, values) for part in parts):
            return separator
    return ""


def _could_be_value(text: str, values: Sequence[str]) -> bool:
    """Return whether a text is like the values: few more words, and digits only if values have."""
    most_words = max(value.count(" ") + 1 for value in values)
    has_digit = {bool(_DIGIT.search(value)) for value in values}
    is_short = text.count(" ") < max(2 * most_words, MIN_WORDS_ALLOWED)
    return is_short and bool(_DIGIT.search(text)) in has_digit


def _learn_reading(
    examples: Sequence[CutExample], witnesses: Sequence[str], *, is_optional: bool
) -> Selection | None:
    """Return the first of these selections that takes the values from all examples, or None.

    1. The whole text.
    2. The text between prefixes and suffixes that the witnesses have.
    3. The words at offsets, and the text between what the examples share; in this order only with
       witnesses, since those that the examples share would have been witnessed.
    """
    separator = _separator_of(examples)
    if separator is None:
        return None
    selections = [Selection(separator=separator)]
    if len(witnesses) >= MIN_WITNESSES:
        selections += _witnessed(examples, separator, witnesses, is_optional=is_optional)
        selections += _offsets(examples)
        selections += _affixes(examples, separator, is_optional=is_optional)
    else:
        selections += _affixes(examples, separator, is_optional=is_optional)
        selections += _offsets(examples)
    return _first_right(selections, examples)


def _first_right(
    selections: Iterable[Selection], examples: Sequence[CutExample]
) -> Selection | None:
    """Return the first selection that takes exactly the values from all examples, or None."""
    for selection in selections:
        if all(
            select_parts(selection, example.text) == list(example.values) for example in examples
        ):
            return selection
    return None


def _separator_of(examples: Sequence[CutExample]) -> str | None:
    """Return the text between values, empty where each text has one; None where it differs."""
    separators = {between.strip() or between for example in examples for between in example.between}
    if len(separators) > 1 or "" in separators:
        return None
    return next(iter(separators), "")


def _witnessed(
    examples: Sequence[CutExample], separator: str, witnesses: Sequence[str], *, is_optional: bool
) -> Iterator[Selection]:
    """Yield the selections between texts that the witnesses have, the longest texts first."""
    is_optional = is_optional or _some_lack_text_beside(examples)
    for prefix in _confirmed(_tails(examples), witnesses) or [""]:
        behind = witnesses
        if prefix:
            behind = [witness.partition(prefix)[2] for witness in witnesses if prefix in witness]
        for suffix in _confirmed(_heads(examples), behind) or [""]:
            if not prefix and not suffix:
                continue
            lacks = is_optional or _often_lacks(suffix, behind, examples)
            for is_last in (False, True) if suffix else (False,):
                yield Selection(prefix, suffix, lacks, is_last, separator=separator)


def _some_lack_text_beside(examples: Sequence[CutExample]) -> bool:
    """Return whether some values have a text before or after them, and others have none."""
    has_left = {bool(example.left) for example in examples}
    has_right = {bool(example.right) for example in examples}
    return len(has_left) > 1 or len(has_right) > 1


def _often_lacks(suffix: str, behind: Sequence[str], examples: Sequence[CutExample]) -> bool:
    """Return whether the value seems to end some of the texts, which then lack the suffix."""
    if not suffix:
        return False
    values = [value for example in examples for value in example.values]
    n_ending = sum(1 for text in behind if suffix not in text and _could_be_value(text, values))
    return n_ending > MAX_ENDING_SHARE * len(behind)


def _confirmed(texts: Sequence[str], witnesses: Sequence[str]) -> list[str]:
    """Return the texts that hardly fewer witnesses have than have any of them, in their order."""
    counts = {text: sum(text in witness for witness in witnesses) for text in texts}
    most = max(counts.values(), default=0)
    if most <= MIN_WITNESSED_SHARE * len(witnesses):
        return []
    return [text for text, n in counts.items() if n >= MIN_SHARE_OF_BEST * most][:MAX_AFFIXES]


def _tails(examples: Sequence[CutExample]) -> list[str]:
    """Return the ends that all texts before a value share, cut between words, longest first."""
    lefts = [example.left for example in examples if example.left]
    if not lefts:
        return []
    common = commonprefix([left[::-1] for left in lefts])[::-1][-MAX_AFFIX_CHARS:]
    left = max(lefts, key=len)
    start = len(left) - len(common)
    tails = []
    for index in range(start, len(left)):
        if left[index] != " " and not _is_inside_word(left, index):
            letter_before = left[index - 1] if index else ""
            tails.append(_guarded(common[index - start :], before=letter_before))
    return tails


def _heads(examples: Sequence[CutExample]) -> list[str]:
    """Return the beginnings all texts after a value share, cut between words, longest first."""
    rights = [example.right for example in examples if example.right]
    if not rights:
        return []
    common = commonprefix(rights)[:MAX_AFFIX_CHARS]
    right = max(rights, key=len)
    return [
        _guarded(common[:index], after=right[index : index + 1])
        for index in range(len(common), 0, -1)
        if right[index - 1] != " " and not _is_inside_word(right, index)
    ]


def _guarded(text: str, *, before: str = "", after: str = "") -> str:
    """Return a text that bounds values, with a blank where a whole word of it begins or ends.

    The blank says that the word is whole: "in " is not found in "inside". `before` and `after` are
    the letters beside the text in the example; where they are blank, its own first and last count.
    """
    bare = text.strip()
    begins = bare[0].isalnum() and (before or text)[0] == " "
    ends = bare[-1].isalnum() and (after or text)[-1] == " "
    return f"{' ' * begins}{bare}{' ' * ends}"


def _affixes(
    examples: Sequence[CutExample], separator: str, *, is_optional: bool
) -> Iterator[Selection]:
    """Yield the selections between the texts that all examples share."""
    prefix, suffix = _prefix_of(examples), _suffix_of(examples)
    is_optional = is_optional or _some_lack_text_beside(examples)
    for optional in (True,) if is_optional else (False, True):
        for is_last in (False, True) if suffix else (False,):
            yield Selection(prefix, suffix, optional, is_last, separator=separator)


def _prefix_of(examples: Sequence[CutExample]) -> str:
    """Return the text that all values follow, from the beginning of a word."""
    lefts = [example.left for example in examples if example.left]
    if not lefts:
        return ""
    common = commonprefix([left[::-1] for left in lefts])[::-1]
    if len(lefts) == 1:
        common = _DIGIT.split(common)[-1]
    cuts_word = any(len(left) > len(common) and left[-len(common) - 1] != " " for left in lefts)
    if cuts_word:
        half_word, _, words = common.partition(" ")
        if words.strip() or half_word.isalnum():
            common = words
    return common[-MAX_AFFIX_CHARS:].strip()


def commonprefix(texts: Sequence[str]) -> str:
    """Return the letters with which all texts begin."""
    first, last = min(texts), max(texts)
    for index, letter in enumerate(first):
        if last[index : index + 1] != letter:
            return first[:index]
    return first


def _suffix_of(examples: Sequence[CutExample]) -> str:
    """Return the text that follows all values, to the end of a word."""
    rights = [example.right for example in examples if example.right]
    if not rights:
        return ""
    common = commonprefix(rights)
    if len(rights) == 1:
        common = _DIGIT.split(common)[0]
    cuts_word = any(len(right) > len(common) and right[len(common)] != " " for right in rights)
    if cuts_word:
        words, _, half_word = common.rpartition(" ")
        if words.strip() or half_word.isalnum():
            common = words
    return common[:MAX_AFFIX_CHARS].strip()


def _offsets(examples: Sequence[CutExample]) -> Iterator[Selection]:
    """Yield the word offsets that hold on all examples, small numbers first."""
    firsts, lasts = [], []
    for example in examples:
        of_first, of_last = _offsets_of(example)
        firsts.append(of_first)
        lasts.append(of_last)
    for first in sorted(set.intersection(*firsts), key=_smallest_first):
        for last in sorted(set.intersection(*lasts), key=_smallest_first):
            yield Selection(first=first, last=last)


def _smallest_first(offset: int) -> tuple[int, int]:
    """Return what orders offsets by their distance from an end; the start comes before the end."""
    return (abs(offset), -offset)


def learn_offsets(examples: Sequence[CutExample]) -> Selection:
    """Return the selection by word offsets alone, as the paper has it.

    Where none holds on all examples it is the more consistent offset of each end, the one from the
    beginning or the one from the end.
    """
    right = _first_right([Selection(), *_offsets(examples)], examples)
    if right is not None:
        return right
    firsts: Counter[int] = Counter()
    lasts: Counter[int] = Counter()
    for example in examples:
        of_first, of_last = _offsets_of(example)
        firsts.update(of_first)
        lasts.update(of_last)
    return Selection(first=_most_consistent(firsts), last=_most_consistent(lasts))


def _most_consistent(n_by_offset: Mapping[int, int]) -> int:
    """Return the offset that most examples have; of several the one nearest to an end."""
    return min(n_by_offset, key=lambda offset: (-n_by_offset[offset], *_smallest_first(offset)))


def _offsets_of(example: CutExample) -> tuple[set[int], set[int]]:
    """Return the offsets of the value's first and last word, each from beginning and end."""
    n_words = len(example.text.split(" "))
    first, last = example.left.count(" ") + 1, n_words - example.right.count(" ")
    return {first, first - n_words - 1}, {last, last - n_words - 1}
