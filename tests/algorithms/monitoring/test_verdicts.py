"""The verdicts, and from when on a cluster counts as broken."""

from __future__ import annotations

from monitoring.algorithms.verdicts import BROKEN, UNREACHABLE, USUAL_THRESHOLDS
from monitoring.models import Check


def test_a_check_is_stored_with_any_verdict_that_is_broken_or_away() -> None:
    assert {*BROKEN, UNREACHABLE} < set(Check.Verdict.values)


def test_pages_fail_by_majority_as_in_the_paper() -> None:
    assert (0.5, 0.1) == (USUAL_THRESHOLDS.pages, USUAL_THRESHOLDS.rules)
