"""Pages that are made to cost much cost little, in all that is done with a page."""

from __future__ import annotations

import pytest

from benchmarks.hostile import WORKS, Work, costs_of
from benchmarks.hostile.pages import KINDS
from clustering.services.children.limits import CPU_SECONDS, MEMORY
from tests.apps.clustering.children import burdens
from tests.conftest import IS_FULL

SIZES = [100_000, 3_000_000] if IS_FULL else [20_000]


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_no_kind_of_page_comes_to_the_limits(work: Work) -> None:
    costs = list(costs_of(work, KINDS, SIZES))

    assert len(KINDS) * len(SIZES) == len(costs)
    assert [] == [cost for cost in costs if cost.stopped]
    assert max(cost.seconds for cost in costs) < CPU_SECONDS
    assert max(cost.memory for cost in costs) < MEMORY


def test_a_page_that_comes_to_the_limits_is_told() -> None:
    endless = Work("endless", lambda child, body: child.call(burdens.endless_where_long, body))

    (cost,) = costs_of(endless, ["paragraphs"], [10_000])

    assert "time" == cost.stopped
    assert CPU_SECONDS == cost.seconds
