"""The clock's ticks, which go on although the machine's clock is put back."""

from __future__ import annotations

from typing import Any

from celery.beat import PersistentScheduler


class Scheduler(PersistentScheduler):
    """Celery's scheduler, which alone is silent until the time of its last tick comes again."""

    def tick(self, *arguments: Any, **options: Any) -> float:
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if (entry.last_run_at or now) > now]
        if ahead:
            for entry in ahead:
                entry.last_run_at = now
            self._heap = None  # made anew: its moments are those of the clock before
        return float(super().tick(*arguments, **options))
