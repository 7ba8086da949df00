"""Doubts of a clustering and people's answers to them: their names, and which hold together.

An answer about two sets of pages says that one template made both, or two. Where two answers
contradict each other, also by way of others, the newer one holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import xxhash

from clustering.algorithms.grouping import PageAnswer

FOR, AGAINST = "for:", "against:"
CERTAIN = 0.95  # a decision that is so likely to be right is no doubt


class Reasons(NamedTuple):
    """What speaks for one template, what speaks against it, and what only explains."""

    reasons_for: list[str]
    reasons_against: list[str]
    other_reasons: list[str]


def name_doubt(left: Iterable[str], right: Iterable[str]) -> str:
    """Return the public name of a doubt about two sets of URLs, the same for the same two sets.

    >>> name_doubt(["a", "b"], ["c"]) == name_doubt(["c"], ["b", "a"])
    True
    """
    sides = sorted("\n".join(sorted(side)) for side in (left, right))
    return xxhash.xxh64_hexdigest("\n\n".join(sides).encode())


def split_reasons(why: Iterable[str]) -> Reasons:
    """Sort the sentences of a doubt by what they speak for, without the word that says so.

    >>> split_reasons(["For: the same fields.", "Against: other addresses."]).reasons_against
    ['Other addresses.']
    """
    reasons = Reasons([], [], [])
    for sentence in why:
        lowered = sentence.lower()
        if lowered.startswith(FOR):
            reasons.reasons_for.append(_capitalised(sentence[len(FOR) :]))
        elif lowered.startswith(AGAINST):
            reasons.reasons_against.append(_capitalised(sentence[len(AGAINST) :]))
        else:
            reasons.other_reasons.append(_capitalised(sentence))
    return reasons


def answers_that_hold(answers: Sequence[PageAnswer]) -> list[int]:
    """Return the indices of the answers that hold, in the order in which they were given.

    From the newest to the oldest, an answer is dropped where it contradicts those that hold
    already: it joins pages that they set apart, or sets apart pages that they join, perhaps by way
    of other pages.
    """
    joined = _JoinedPages()
    apart: list[PageAnswer] = []
    holding: list[int] = []
    for index in reversed(range(len(answers))):
        answer = answers[index]
        if answer.is_same:
            groups = joined.groups_of([*answer.left, *answer.right])
            if any(_are_joined_by(groups, other, joined) for other in apart):
                continue
            joined.join([*answer.left, *answer.right])
        else:
            if joined.groups_of(answer.left) & joined.groups_of(answer.right):
                continue
            apart.append(answer)
        holding.append(index)
    return holding[::-1]


class _JoinedPages:
    """Pages that answers join, directly or by way of others."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def groups_of(self, urls: Iterable[str]) -> set[str]:
        """Return a page of each group that the pages are in, always the same one of a group."""
        return {self._find(url) for url in urls}

    def join(self, urls: Sequence[str]) -> None:
        for url in urls[1:]:
            self._parents[self._find(url)] = self._find(urls[0])

    def _find(self, url: str) -> str:
        while (parent := self._parents.get(url, url)) != url:
            url = parent
        return url


def _are_joined_by(groups: set[str], apart: PageAnswer, joined: _JoinedPages) -> bool:
    """Return whether making one group of these groups would join what an answer sets apart."""
    has_left = not groups.isdisjoint(joined.groups_of(apart.left))
    return has_left and not groups.isdisjoint(joined.groups_of(apart.right))


def _capitalised(sentence: str) -> str:
    stripped = sentence.strip()
    return stripped[:1].upper() + stripped[1:]
