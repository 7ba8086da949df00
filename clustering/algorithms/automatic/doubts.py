"""Say which joins may be wrong and why, and bring people's answers back to the groups of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.join_model import JoinModel
from clustering.algorithms.automatic.joining import Decision, GroupAnswer
from clustering.algorithms.doubts import CERTAIN
from clustering.algorithms.grouping import Doubt, PageAnswer

MAX_DOUBTS = 30
MIN_GAIN = 0.1  # log-odds; a kind of evidence that adds less is not named
MAX_REASONS = 3  # for, and against

# What a column is about, by its beginning; the first that fits. Then what it says if it speaks for
# one template, and what if against.
SUBJECTS: Final[Sequence[tuple[tuple[str, ...], str, str]]] = (
    (("fields:", "labelled:"), "the same fields", "other fields"),
    (("captions:", "labels:"), "the same labels", "other labels"),
    (
        ("weighed:", "informative:", "paths:", "skeleton:", "rank:"),
        "much the same structure",
        "another structure",
    ),
    (("frame:",), "the same page classes", "other page classes"),
    (("titles:",), "like titles", "other words in the titles"),
    (("declared:",), "the same declared type", "another declared type"),
    (("address",), "like addresses", "other addresses"),
    (("counts:",), "as many links and texts", "more or fewer links and texts"),
)


def describe_doubts(
    decisions: Sequence[Decision],
    model: JoinModel,
    first: NDArray[np.intp],
    page_numbers: Sequence[int],
) -> list[Doubt]:
    """Return the decisions that may be wrong, those first that may misjudge most page pairs.

    `page_numbers` has the index under which each page is known outside.
    """
    uncertain = [decision for decision in decisions if decision.certainty < CERTAIN]
    uncertain.sort(key=lambda decision: (-decision.weight, decision.left[0], decision.right[0]))
    members = defaultdict(list)
    for page, group in enumerate(first.tolist()):
        members[group].append(page_numbers[page])
    return [
        Doubt(
            left=_pages_of(decision.left, members),
            right=_pages_of(decision.right, members),
            probability=round(decision.probability, 4),
            is_joined=decision.is_joined,
            why=_reasons(model.contributions(decision.columns)),
        )
        for decision in uncertain[:MAX_DOUBTS]
    ]


def _pages_of(groups: NDArray[np.intp], members: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the pages of first groups, those of the largest first."""
    by_size = sorted(groups.tolist(), key=lambda group: (-len(members[group]), group))
    return [page for group in by_size for page in members[group]]


def _reasons(contributions: Mapping[str, float]) -> list[str]:
    """Return what speaks for one template and what against it, the strongest first."""
    gains: Counter[int] = Counter()
    for name, gain in contributions.items():
        for number, (beginnings, _, _) in enumerate(SUBJECTS):
            if name.startswith(beginnings):
                gains[number] += gain  # type: ignore[assignment]  # a Counter holds fractions too
                break
    ordered = gains.most_common()
    speaking_for = [SUBJECTS[number][1] for number, gain in ordered if gain >= MIN_GAIN]
    against = [SUBJECTS[number][2] for number, gain in reversed(ordered) if gain <= -MIN_GAIN]
    return [
        *(f"for: {reason}" for reason in speaking_for[:MAX_REASONS]),
        *(f"against: {reason}" for reason in against[:MAX_REASONS]),
    ]


def groups_of_answers(
    answers: Sequence[PageAnswer], urls: Sequence[str], first: NDArray[np.intp]
) -> list[GroupAnswer]:
    """Return what people answered, for the first groups that hold the pages they answered about.

    An answer of which one side has no page here is left out. A first group with pages of both sides
    belongs to the side of which it has more. Of two answers about the same groups the newest holds.
    """
    numbers = dict(zip(urls, first.tolist(), strict=True))
    translated: dict[frozenset[int], GroupAnswer] = {}
    for answer in reversed(answers):
        left = Counter(numbers[url] for url in answer.left if url in numbers)
        right = Counter(numbers[url] for url in answer.right if url in numbers)
        only_left = [group for group, n in left.most_common() if n > right[group]]
        only_right = [group for group, n in right.most_common() if n >= left[group]]
        if only_left and only_right:
            subject = frozenset((only_left[0], only_right[0]))
            translated.setdefault(subject, GroupAnswer(only_left, only_right, answer.is_same))
    return list(translated.values())
