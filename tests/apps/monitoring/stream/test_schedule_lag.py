"""What is due starts within a minute, once, for any number of sites: a benchmark in short."""

from __future__ import annotations

import pytest

from benchmarks import dashboard
from vertex.core.models import Job

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
N_SITES = 6
HOURS = 30


@pytest.fixture
def sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make some sites with schedules, goals and pages that are visited again."""
    small = {
        "N_SITES": N_SITES,
        "N_CLUSTERS": 2,
        "N_DAYS": 1,
        "N_ALERTS": 1,
        "N_CHANGES": 1,
        "N_PAGES": 2,
    }
    for name, number in small.items():
        monkeypatch.setattr(dashboard, name, number)
    dashboard.make()
    dashboard.make_stream()
    dashboard.plan()


@pytest.mark.usefixtures("sites")
def test_checks_and_visits_begin_within_a_minute_and_none_twice() -> None:
    simulated = dashboard.simulate(hours=HOURS)

    assert N_SITES <= simulated["checks"] <= 2 * N_SITES  # daily ones
    assert simulated["visits"] >= N_SITES
    assert 0 == simulated["twice"]
    assert simulated["p99"] - simulated["tick"] <= dashboard.LAG_BAR
    assert not Job.objects.exists()
