"""People's answers to the doubts of a site's clusterings: those that hold, for an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clustering.algorithms.doubts import answers_that_hold
from clustering.algorithms.grouping import PageAnswer
from clustering.models import ClusterAnswer
from vertex.core.models import Site

N_TYPICAL = 5  # pages of each side that a clustering of a sample should see


def holding_answers(site: Site) -> list[ClusterAnswer]:
    """Return the answers that hold, in the order in which they were given.

    Those that were undone are left out, and those that a newer one contradicts.
    """
    answers = list(ClusterAnswer.objects.not_undone().filter(site=site).select_related("given_by"))
    indices = answers_that_hold(
        [PageAnswer(answer.left, answer.right, answer.is_same) for answer in answers]
    )
    return [answers[index] for index in indices]


def answers_about(
    answers: Iterable[ClusterAnswer], target_of: Callable[[str], str | None]
) -> list[PageAnswer]:
    """Return answers about the pages that are still there, as an algorithm takes them.

    `target_of` returns the clustered page that a URL leads to. An answer is left out where nothing
    is left of a side.
    """
    present: list[PageAnswer] = []
    for answer in answers:
        left = _present_urls(answer.left, target_of)
        right = [url for url in _present_urls(answer.right, target_of) if url not in set(left)]
        if left and right:
            present.append(PageAnswer(left, right, answer.is_same))
    return present


def typical_urls(answers: Iterable[ClusterAnswer]) -> set[str]:
    """Return the most typical pages of both sides of each answer."""
    return {
        url
        for answer in answers
        for side in (answer.left, answer.right)
        for url in side[:N_TYPICAL]
    }


def _present_urls(urls: Sequence[str], target_of: Callable[[str], str | None]) -> list[str]:
    targets = [target_of(url) for url in urls]
    return list(dict.fromkeys(target for target in targets if target is not None))
