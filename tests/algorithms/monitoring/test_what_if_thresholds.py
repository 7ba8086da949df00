"""What other thresholds would have done with past checks."""

from __future__ import annotations

from monitoring.algorithms.site_change import FailedField, PageTest
from monitoring.algorithms.verdicts import Thresholds
from monitoring.algorithms.what_if_thresholds import PastCheck, judge_again

LOST = (FailedField("name", "Rope", None, "null_extraction"),)


def past(number: int, n_failed: int, *, broken: bool) -> PastCheck:
    tests = [
        PageTest(
            f"p/{n}",
            "changed" if n < n_failed else "ok",
            shingle_test=True,
            field_test=n >= n_failed,
            structure_test=True,
            failed=LOST if n < n_failed else (),
            had=frozenset({"name", "brand", "sku"}),
            lost=frozenset({"name"} if n < n_failed else ()),
        )
        for n in range(10)
    ]
    return PastCheck(number, {"products": tests}, {}, frozenset({"products"} if broken else ()))


HISTORY = [past(3, 10, broken=True), past(2, 6, broken=True), past(1, 0, broken=False)]


def test_the_same_thresholds_decide_the_same() -> None:
    verdicts = judge_again(HISTORY, Thresholds())

    assert (3, 2, 2, ()) == verdicts
    assert (
        "Over 3 checks: 2 site changes instead of 2. No check would have ended otherwise."
        == str(verdicts)
    )


def test_a_higher_share_of_pages_would_have_been_quieter() -> None:
    verdicts = judge_again(HISTORY, Thresholds(pages=0.8))

    assert (1, [2]) == (
        verdicts.n_changed_now,
        [other_verdict.number for other_verdict in verdicts.other_verdicts],
    )
    assert ("products",) == verdicts.other_verdicts[0].no_longer
    assert "one site change instead of 2" in str(verdicts)


def test_a_lower_one_would_have_said_more() -> None:
    quiet = [past(1, 3, broken=False)]

    assert ("products",) == judge_again(quiet, Thresholds(pages=0.2)).other_verdicts[0].newly


def test_without_a_history_it_says_so() -> None:
    assert "no checks yet" in str(judge_again([], Thresholds()))
