from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import time_machine
from celery import Celery
from celery.beat import PersistentScheduler

from vertex.running.scheduler import Scheduler

SECONDS_BY_TICK = {"often": 5.0, "seldom": 60.0}


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False) as coordinates:
        yield coordinates


def ticks_within(scheduler: PersistentScheduler, clock: Any, seconds: int) -> set[str]:
    """Return what ticked while the clock went on, second by second."""
    with patch.object(scheduler, "apply_entry") as send:
        for _ in range(seconds):
            clock.shift(timedelta(seconds=1))
            for _ in SECONDS_BY_TICK:  # it sends one at a time
                scheduler.tick()
    return {call.args[0].name for call in send.call_args_list}


def scheduler_of(kind: type[PersistentScheduler], folder: Path) -> PersistentScheduler:
    app = Celery("test", broker="memory://", set_as_current=False)
    app.conf.beat_schedule = {
        name: {"task": name, "schedule": seconds} for name, seconds in SECONDS_BY_TICK.items()
    }
    scheduler = kind(app=app, schedule_filename=str(folder / "beat"))
    scheduler.schedule.pop("celery.backend_cleanup", None)
    return scheduler


@pytest.mark.parametrize("days", [-1, 1])
def test_all_ticks_come_after_the_clock_was_moved(
    days: int, clock: time_machine.Traveller, tmp_path: Path
) -> None:
    scheduler = scheduler_of(Scheduler, tmp_path)
    assert set(SECONDS_BY_TICK) == ticks_within(scheduler, clock, 90)
    clock.shift(timedelta(days=days))
    assert set(SECONDS_BY_TICK) == ticks_within(scheduler, clock, 90)
    assert {"often"} == ticks_within(scheduler, clock, 10)


def test_celery_alone_waits_for_the_old_hour(clock: time_machine.Traveller, tmp_path: Path) -> None:
    scheduler = scheduler_of(PersistentScheduler, tmp_path)
    assert set(SECONDS_BY_TICK) == ticks_within(scheduler, clock, 90)
    clock.shift(timedelta(days=-1))
    assert set() == ticks_within(scheduler, clock, 90)
