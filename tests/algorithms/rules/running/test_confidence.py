from __future__ import annotations

import pytest

from rules.algorithms.running.confidence import (
    agreement_of,
    confidence_in,
    confidence_in_record,
    fitted_weights,
    signs_of,
    trust_after,
    weakness_of,
)
from rules.algorithms.running.records import RawValue

AGREED = RawValue("x", n_rivals=4, n_agree=4)
HALF_AGREED = RawValue("x", n_rivals=4, n_agree=2)
DISPUTED = RawValue("x", n_rivals=4, n_agree=0)
WITHOUT_VOTE = RawValue("x")


def test_agreement_is_that_of_losers_which_find_something() -> None:
    assert 0.5 == agreement_of([HALF_AGREED])
    assert 0.5 == agreement_of([AGREED, DISPUTED, WITHOUT_VOTE])
    assert 1.0 == agreement_of([WITHOUT_VOTE])


def test_values_on_which_losers_agree_are_surer() -> None:
    sureness = [confidence_in([value], is_multi=False) for value in (DISPUTED, HALF_AGREED, AGREED)]

    assert sureness == sorted(set(sureness))
    assert confidence_in([AGREED], is_multi=True) < confidence_in([AGREED], is_multi=False)


def test_several_nodes_of_one_text_are_no_fault() -> None:
    doubled = RawValue("x", n_nodes=2, n_rivals=4, n_agree=4)

    assert confidence_in([AGREED], is_multi=False) == confidence_in([doubled], is_multi=False)


def test_what_all_find_is_hardly_ever_marked() -> None:
    assert 0.99 < confidence_in([AGREED], is_multi=False)
    assert 0.8 < confidence_in_record([confidence_in([AGREED], is_multi=False)] * 12)


def test_a_record_is_right_where_all_its_values_are() -> None:
    assert 0.25 == confidence_in_record([0.5, 0.5])
    assert 0.0 == confidence_in_record([])


@pytest.mark.parametrize(("n_right", "n_wrong"), [(1, 1), (5, 5), (0, 3)])
def test_wrong_values_lower_the_odds_the_more_they_are(n_right: int, n_wrong: int) -> None:
    lowered = trust_after(n_right, n_wrong)

    assert trust_after(2 * n_right, 2 * n_wrong) < lowered < 0.0


def test_judged_values_move_confidence_towards_their_share() -> None:
    assert 0.0 == trust_after(0, 0)
    trust = trust_after(500, 500)

    assert 0.4 < confidence_in([HALF_AGREED], is_multi=False, trust=trust) < 0.7


def test_the_weights_of_the_product_are_readable() -> None:
    weights = fitted_weights()

    assert weights.agreement > 0 > weights.several
    assert 0 > weights.refuted
    assert 0 > weights.weakness


def test_values_that_look_odd_are_less_sure() -> None:
    sureness = [confidence_in([AGREED], is_multi=False, oddness=odd) for odd in (4.0, 2.0, 0.0)]

    assert sureness == sorted(set(sureness))


def test_a_single_value_is_refuted_where_nobody_agrees() -> None:
    def is_refuted(value: RawValue, *, is_multi: bool = False) -> bool:
        return signs_of([value], is_multi=is_multi, oddness=0.0, rank=None).is_refuted

    assert is_refuted(DISPUTED)
    assert not any(map(is_refuted, [AGREED, HALF_AGREED, WITHOUT_VOTE]))
    assert not is_refuted(DISPUTED, is_multi=True)


def test_a_rule_of_a_poor_rank_is_less_sure_and_one_of_unknown_rank_is_usual() -> None:
    def sureness(rank: float | None) -> float:
        return confidence_in([AGREED], is_multi=False, rank=rank)

    assert sureness(0.5) < sureness(-2.0) < sureness(-3.0) == sureness(None) < sureness(-3.8)
    assert weakness_of(99.0) == weakness_of(1.0)
