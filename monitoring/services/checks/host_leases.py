"""Take turns at a host with crawls: one job at a time fetches from it, with the pause that it asks for.

A job that finds a host taken does not hold a worker: it is due again some minutes later, and its
message names what it waits for. At a terminal it waits in place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from clustering.fetching.client import Fetcher
from clustering.fetching.robots import MAX_CRAWL_DELAY, Robots, fetch_robots
from clustering.models import Host
from clustering.services.crawl import hosts
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun

P = ParamSpec("P")

RETRY_SECONDS: Final = 2.0  # after which a job at a terminal tries the lease again
MAX_SILENCE_SECONDS: Final = 30.0  # seconds that a host may ask for and that are waited in place
FIRST_WAIT: Final = timedelta(minutes=2)
LATER_WAIT: Final = timedelta(minutes=15)
MAX_POSTPONED: Final = timedelta(hours=6)  # that a job waits for others


class HostTaken(Exception):
    """Another job fetches from the host, or the host asked to be left alone until some time."""

    def __init__(self, reason: str, until: datetime | None = None) -> None:
        super().__init__(reason)
        self.until = until


class HostLeases:
    """The hosts that a job has leased, with their robots.txt."""

    def __init__(self, site: Site, job: Job, *, patience: float = 0.0) -> None:
        self._site, self._job = site, job
        self._gives_up_at = time.monotonic() + patience
        self._hosts: dict[str, Host] = {}
        self._robots: dict[str, Robots] = {}

    def take(self, origin: str) -> None:
        """Lease a host, and wait for as long as it asks between two requests. Raises HostTaken."""
        host = self._hosts.get(origin)
        if host is None:
            host = hosts.find_host(origin=origin)
            self._lease(host)
            self._hosts[origin] = host
        self._wait(host)
        # The wait may have been longer than the lease. Leasing anew would begin the counts anew.
        if not all(hosts.keep_hosts([(self._job, [host.pk])])):
            self._lease(host)

    def pause(self, origin: str, requested_pause: timedelta | None = None) -> None:
        """Record that the host was asked just now; the next request of anybody waits."""
        host = self._hosts[origin]
        hosts.keep_next_fetch(host=host, at=timezone.now() + timedelta(seconds=self._delay(origin)))
        if requested_pause:
            hosts.keep_pause(host=host, until=timezone.now() + requested_pause)

    def count(self, origin: str, *, was_asked: bool, n_bytes: int, problem: str) -> None:
        """Count what came of an address where operators see what crawls asked the host."""
        host = self._hosts.get(origin)
        if host is not None:  # nobody has leased it for an address that was never to be asked
            hosts.count_answers([hosts.HostAnswer(host.pk, was_asked, n_bytes, problem)])

    def robots_of(self, origin: str, fetcher: Fetcher) -> Robots:
        """Return a host's robots.txt, fetched once a day. Raises HostTaken, FetchRefused."""
        if origin not in self._robots:
            self.take(origin)
            host = self._hosts[origin]
            if not hosts.has_fresh_robots(host):
                hosts.keep_robots(host=host, file=fetch_robots(fetcher, origin))
                self.pause(origin)
            self._robots[origin] = Robots(host.robots_text, settings.USER_AGENT)
        return self._robots[origin]

    def release(self) -> None:
        """Release all leased hosts."""
        hosts.release_hosts(job=self._job)

    def _delay(self, origin: str) -> float:
        """Return the seconds between two requests: the site's, or more where robots.txt asks for it."""
        robots = self._robots.get(origin)
        if robots is None:
            return self._site.crawl_delay
        return max(self._site.crawl_delay, min(robots.crawl_delay, MAX_CRAWL_DELAY))

    def _lease(self, host: Host) -> None:
        while not hosts.lease_host(host=host, job=self._job):
            if time.monotonic() > self._gives_up_at:
                raise HostTaken(f"{host.leased_by or 'another job'} fetches from {host.name}")
            time.sleep(RETRY_SECONDS)

    def _wait(self, host: Host) -> None:
        """Wait until the host may be asked again. Raises HostTaken where that is too long."""
        moments = [at for at in (host.next_fetch_at, host.retry_after) if at is not None]
        if not moments:
            return
        seconds = (max(moments) - timezone.now()).total_seconds()
        patience = self._gives_up_at - time.monotonic()
        if seconds > max(MAX_SILENCE_SECONDS, self._delay(host.name), patience):
            raise HostTaken(f"{host.name} asked to be left alone", max(moments))
        time.sleep(max(0.0, seconds))


def patience_of(run: JobRun) -> float:
    """Return the seconds that a job waits in place: long where somebody at a terminal waits for it."""
    return 0.0 if run.job.params.get("is_patient", True) else MAX_POSTPONED.total_seconds()


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


def _postpone(run: JobRun, error: HostTaken) -> dict[str, Any]:
    """Make the job due again later; what it fetched until now stays. Raises JobFailed, JobCancelled."""
    waited = timezone.now() - run.job.created_at
    if waited > MAX_POSTPONED:
        hours = MAX_POSTPONED.total_seconds() / 3600
        raise jobs.JobFailed(
            f"{error} for more than {hours:.0f} hours; nothing was checked or changed"
        )
    wait = FIRST_WAIT if waited < LATER_WAIT else LATER_WAIT
    due_at = max(timezone.now() + wait, error.until or timezone.now())
    unless_cancelled = run.held.filter(cancel_requested_at__isnull=True)
    if not unless_cancelled.update(
        state=Job.State.DUE,
        due_at=due_at,
        rung_at=None,
        lease="",
        leased_until=None,
        n_tries=F("n_tries") - 1,
        message=f"waits: {error}"[:300],
    ):
        raise jobs.JobCancelled
    return {"waits_for": str(error)}
