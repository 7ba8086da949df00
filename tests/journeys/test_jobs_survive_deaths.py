"""Jobs die or lose their database inside transactions: nothing is lost, doubled or called gone."""

from __future__ import annotations

import pytest

from benchmarks.deaths import CUT, KILL, inject
from tests.conftest import IS_FULL

N_FAULTS = 1_000 if IS_FULL else 8
KINDS = [] if IS_FULL else ["import_pages", "extract_again"]
MAX_RECOVERY = 30.0  # seconds, in 95 of 100

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


def test_a_fault_at_any_point_of_a_job_changes_nothing_of_what_it_comes_to() -> None:
    outcomes = inject(N_FAULTS, seconds=6 * 3600, kinds=KINDS)

    assert N_FAULTS == len(outcomes)
    assert {KILL, CUT} == {outcome["fault"] for outcome in outcomes}
    assert [] == [outcome for outcome in outcomes if outcome["problem"]]
    assert 0 == sum(outcome["lost"] + outcome["doubled"] + outcome["gone"] for outcome in outcomes)
    seconds = sorted(outcome["seconds"] for outcome in outcomes)
    assert seconds[int(0.95 * (N_FAULTS - 1))] <= MAX_RECOVERY
