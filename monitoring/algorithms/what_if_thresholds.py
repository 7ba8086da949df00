"""Compute what other thresholds would have done with the checks that were made.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B: "setting a high threshold for the % of sample URLs broken can help to reduce the
            number of false positives".
Notation:   A past check is the tests of its pages, cluster by cluster, with what was decided then.
Readings:   None.
Departures: None; each past check is judged again by the function that judges new ones.
Cost:       Linear in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from monitoring.algorithms.site_change import ClusterVerdict, PageTest, judge_cluster
from monitoring.algorithms.verdicts import Thresholds


class PastCheck(NamedTuple):
    """A check as it was."""

    number: int
    tests_by_cluster: Mapping[str, Sequence[PageTest]]
    coverage_by_cluster: Mapping[str, tuple[float, float]]
    broken: frozenset[str]  # clusters, by the thresholds of that time
    layouts_by_cluster: Mapping[str, Sequence[str]] = {}  # that were found to be redesigned

    def verdicts(self, thresholds: Thresholds) -> Iterator[tuple[str, ClusterVerdict]]:
        """Yield the verdict of each cluster by other thresholds."""
        for cluster, tests in self.tests_by_cluster.items():
            yield (
                cluster,
                judge_cluster(
                    cluster,
                    tests,
                    coverage=self.coverage_by_cluster.get(cluster),
                    thresholds=thresholds,
                    divide=partial(_layouts_then, self.layouts_by_cluster.get(cluster, ())),
                ),
            )


class OtherVerdict(NamedTuple):
    """A check that would have ended otherwise."""

    number: int
    no_longer: tuple[str, ...]  # clusters that would not have been broken
    newly: tuple[str, ...]  # clusters that would have been broken as well


class WhatIf(NamedTuple):
    """What thresholds would have done over a history."""

    n_checks: int
    n_changed_then: int  # checks that found a site change
    n_changed_now: int  # those that would have found one
    other_verdicts: tuple[OtherVerdict, ...]

    def __str__(self) -> str:
        if not self.n_checks:
            return "There are no checks yet to judge again."
        checks = "one check" if self.n_checks == 1 else f"{self.n_checks:,} checks"
        changes = _count_changes(self.n_changed_now)
        n_others = f"{len(self.other_verdicts):,}" if self.other_verdicts else "No check"
        return (
            f"Over {checks}: {changes} instead of {self.n_changed_then:,}. "
            f"{n_others} would have ended otherwise."
        )


def judge_again(checks: Iterable[PastCheck], thresholds: Thresholds) -> WhatIf:
    """Return what the thresholds would have made of past checks."""
    n_checks = n_then = n_now = 0
    other_verdicts = []
    for check in checks:
        broken = {name for name, verdict in check.verdicts(thresholds) if verdict.is_broken}
        n_checks += 1
        n_then += bool(check.broken)
        n_now += bool(broken)
        if broken != check.broken:
            other_verdicts.append(
                OtherVerdict(
                    check.number,
                    no_longer=tuple(sorted(check.broken - broken)),
                    newly=tuple(sorted(broken - check.broken)),
                )
            )
    return WhatIf(n_checks, n_then, n_now, tuple(other_verdicts))


def _layouts_then(
    layouts: Sequence[str], _failing: frozenset[str], _among: frozenset[str]
) -> Sequence[str]:
    """Return the layouts that were found then: the pages that they were found on are not kept."""
    return layouts


def _count_changes(n: int) -> str:
    return "one site change" if n == 1 else f"{n:,} site changes"
