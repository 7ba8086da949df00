"""Fetch addresses for a job that is no crawl, in the same turns: its answers go to the job.

Whoever checks a page or draws it with its style sheets asks the same engine as crawls do: by leases
of hosts, robots.txt, pauses and limits. A crawl gives way to it within half a minute. Where another
job has the host for longer, the job holds no worker: it is due again some minutes later, and its
message names what it waits for. At a terminal it waits in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from time import monotonic
from typing import Any, Concatenate, Final, ParamSpec

from django.db.models import F
from django.utils import timezone

from clustering.fetching.log_in import LogInFailed
from clustering.fetching.refusals import FetchRefused
from clustering.services.crawl.crawler import Crawler, NobodyLoggedIn
from clustering.services.crawl.engine import Engine
from clustering.services.crawl.fetch_tasks import Errand
from clustering.services.crawl.hosts import HostTaken
from vertex.core.models import Job
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun

P = ParamSpec("P")

HOST_PATIENCE: Final = 40.0  # seconds in which a crawl has given way
FIRST_WAIT: Final = timedelta(minutes=2)
LATER_WAIT: Final = timedelta(minutes=15)
MAX_POSTPONED: Final = timedelta(hours=6)  # that a job waits for others


class OutOfTime(FetchRefused):
    """The time that was given for all addresses is over."""

    code = "out_of_time"


@dataclass(slots=True)
class Errands:
    """The addresses that one job has fetched, each host's in its turns."""

    engine: Engine
    crawler: Crawler

    def do(self, errands: Iterable[Errand], *, seconds: float = math.inf) -> Iterator[Errand]:
        """Yield each errand when it is answered or refused. Raises HostTaken.

        What is not answered after so many seconds is refused.
        """
        ends_at = monotonic() + seconds
        waiting = dict.fromkeys(errands)
        self.crawler.send_out(waiting)
        self.engine.wake(self.crawler)
        while waiting:
            while self.crawler.settled_errands:
                errand = self.crawler.settled_errands.popleft()
                del waiting[errand]
                yield errand
            problem = self._problem(ends_at) if waiting else None
            if problem is not None:
                self.crawler.call_off_errands()
                yield from _refused(waiting, problem)
                return

    def _problem(self, ends_at: float) -> FetchRefused | None:
        """Do one step; return why nothing more will be answered, None where something may."""
        if monotonic() > ends_at:
            return OutOfTime("the time for all pages is over")
        try:
            self.engine.go_on(self.crawler)
        except NobodyLoggedIn as error:
            return LogInFailed(str(error))
        return None


@contextmanager
def open_errands(
    run: JobRun, *, is_for_files: bool = False, takes_turns: bool = False
) -> Iterator[Errands]:
    """Open the turns of a job at the hosts of its site and others; they are released at the end.

    Files that pages are drawn with are fetched without logging in for them, and left out where a
    host asks for a long pause. Who `takes_turns` goes on where it was handed back.
    """
    with Engine(takes_turns=takes_turns) as engine:
        crawler = engine.take(run, follows_links=False)
        crawler.patient_until = monotonic() + _patience_of(run)
        crawler.logs_in = not is_for_files
        crawler.leaves_out_paused = is_for_files
        yield Errands(engine, crawler)


def postpones(
    work: Callable[Concatenate[JobRun, P], dict[str, Any]],
) -> Callable[Concatenate[JobRun, P], dict[str, Any]]:
    """Return the work, postponed where it raises HostTaken."""

    @wraps(work)
    def patient_work(run: JobRun, /, *args: P.args, **options: P.kwargs) -> dict[str, Any]:
        try:
            return work(run, *args, **options)
        except HostTaken as error:
            return _postpone(run, error)

    return patient_work


def _patience_of(run: JobRun) -> float:
    """Return the seconds a job waits in place: long where somebody at a terminal waits for it."""
    is_patient = run.job.params.get("is_patient", True)
    return HOST_PATIENCE if is_patient else MAX_POSTPONED.total_seconds()


def _refused(errands: Iterable[Errand], problem: FetchRefused) -> Iterator[Errand]:
    for errand in errands:
        errand.refuse(problem)
        yield errand


def _postpone(run: JobRun, error: HostTaken) -> dict[str, Any]:
    """Make the job due again later, with what it fetched. Raises JobFailed, JobCancelled."""
    now = timezone.now()
    waits_since = run.held.values_list("waits_since", flat=True).first() or now
    waited = now - waits_since
    if waited > MAX_POSTPONED:
        hours = MAX_POSTPONED.total_seconds() / 3600
        raise jobs.JobFailed(f"{error} for more than {hours:.0f} hours; nothing was changed")
    wait = FIRST_WAIT if waited < LATER_WAIT else LATER_WAIT
    due_at = max(now + wait, error.until or now)
    unless_cancelled = run.held.filter(cancel_requested_at__isnull=True)
    if not unless_cancelled.update(
        state=Job.State.DUE,
        due_at=due_at,
        rung_at=None,
        lease="",
        leased_until=None,
        n_tries=F("n_tries") - 1,
        waits_since=waits_since,
        message=f"waits: {error}"[:300],
    ):
        raise jobs.JobCancelled
    return {"waits_for": str(error)}
