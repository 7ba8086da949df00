"""Work is summed up from what was done and when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotation.algorithms.effort import KINDS, MAX_PAUSE, Action, sum_up

NAME, PRICE = 7, 8


def test_the_time_before_an_action_belongs_to_its_attribute_and_page() -> None:
    sums = sum_up(
        [
            Action(1, None, "page_opened", 100.0),
            Action(1, NAME, "click", 103.0),
            Action(1, PRICE, "key", 104.5),
            Action(1, None, "page_done", 105.0),
        ],
        {},
    )

    assert {(1, None): 5.0, (1, NAME): 3.0, (1, PRICE): 1.5} == {
        key: s.seconds for key, s in sums.items()
    }
    assert (1, 1, 1) == (sums[1, None].n_clicks, sums[1, None].n_keys, sums[1, None].n_done)
    assert (1, 0) == (sums[1, NAME].n_clicks, sums[1, NAME].n_keys)


def test_a_long_pause_counts_as_a_minute() -> None:
    assert MAX_PAUSE == sum_up([Action(1, None, "key", 5000.0)], {1: 0.0})[1, None].seconds


def test_what_was_done_before_the_page_was_left_adds_no_time() -> None:
    assert 0 == sum_up([Action(1, None, "key", 5.0)], {1: 9.0})[1, None].seconds


def test_accepted_and_corrected_suggestions_are_counted() -> None:
    sums = sum_up([Action(1, NAME, kind, 1.0) for kind in ("accepted", "corrected", "undone")], {})

    assert (1, 1, 1) == (
        sums[1, NAME].n_accepted,
        sums[1, NAME].n_corrected,
        sums[1, NAME].n_undone,
    )


actions = st.lists(
    st.builds(
        Action,
        page=st.sampled_from([1, 2]),
        attribute=st.sampled_from([None, NAME, PRICE]),
        kind=st.sampled_from(KINDS),
        at=st.floats(0, 1000),
    )
)


@given(actions, st.integers(0, 20))
def test_two_batches_come_to_the_same_as_one(done: list[Action], cut: int) -> None:
    done = sorted(done, key=lambda action: action.at)
    first = sum_up(done[:cut], {})
    left = {page: sums.last_at for (page, attribute), sums in first.items() if attribute is None}
    second = sum_up(done[cut:], left)
    whole = sum_up(done, {})

    for key, sums in whole.items():
        parts = [part[key] for part in (first, second) if key in part]
        assert abs(sums.seconds - sum(part.seconds for part in parts)) < 1e-6
        assert sums.n_keys == sum(part.n_keys for part in parts)
