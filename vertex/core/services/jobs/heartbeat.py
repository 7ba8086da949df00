"""Whether the machinery behind the jobs is alive: the clock, and a worker for each queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.timesince import timesince

from vertex.core.models import Heartbeat, Job

CLOCK = "clock"
ALIVE_WITHIN = timedelta(minutes=2)
OVERDUE_AFTER = timedelta(minutes=2)


@dataclass(frozen=True)
class MachineHealth:
    """The state of the clock and the workers at one moment."""

    n_overdue: int
    swept_at: datetime | None  # the clock's last tick that a worker answered
    heartbeat_at: Mapping[str, datetime] = field(default_factory=dict)  # the last one, by queue
    problems: tuple[str, ...] = ()  # sentences for an operator


def record_heartbeat(name: str, *, now: datetime | None = None) -> None:
    """Record that the clock or a queue's worker is alive."""
    Heartbeat.objects.update_or_create(name=name, defaults={"at": now or timezone.now()})


def read_machine_health(*, now: datetime | None = None) -> MachineHealth:
    """Return whether the clock and each queue's workers live, and what an operator should do."""
    now = now or timezone.now()
    beat_at_by_name = dict(Heartbeat.objects.values_list("name", "at"))
    heartbeat_at = {
        queue: beat_at_by_name[queue] for queue in Job.Queue.values if queue in beat_at_by_name
    }
    # A worker that is busy with a long job answers no tick, but it keeps its lease.
    held = Job.objects.filter(state=Job.State.RUNNING, leased_until__gte=now)
    for queue in held.values_list("queue", flat=True):
        heartbeat_at[queue] = now
    swept_at = beat_at_by_name.get(CLOCK)
    return MachineHealth(
        n_overdue=Job.objects.overdue(now, OVERDUE_AFTER).count(),
        swept_at=swept_at,
        heartbeat_at=heartbeat_at,
        problems=tuple(_problems(heartbeat_at, swept_at, now)),
    )


def _problems(
    heartbeat_at: Mapping[str, datetime], swept_at: datetime | None, now: datetime
) -> list[str]:
    """Return a sentence for each part that is not alive, with the way out."""
    silent = [queue for queue in Job.Queue.values if not _is_recent(heartbeat_at.get(queue), now)]
    problems = []
    if not _is_recent(swept_at, now):
        problems.append(
            f"The clock stands still ({_when(swept_at, now)}): "
            f"start beat and a worker for the queue {CLOCK}."
        )
        if swept_at is not None:
            # Workers answer its ticks: since it stopped, nobody knows how they are.
            return problems
    if len(silent) == len(Job.Queue):
        problems.append("No worker is running: jobs wait until one is started.")
    elif silent:
        problems.append(
            f"No worker serves the queue {', '.join(silent)}: its jobs wait until one is started."
        )
    return problems


def _is_recent(at: datetime | None, now: datetime) -> bool:
    return at is not None and now - at <= ALIVE_WITHIN


def _when(at: datetime | None, now: datetime) -> str:
    return "it has never ticked" if at is None else f"last tick {timesince(at, now)} ago"
