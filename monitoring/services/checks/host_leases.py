"""Take turns at a host with crawls: one job at a time fetches from it, with the pause that it asks for.

A job that finds a host taken does not hold a worker: it is due again some minutes later, and says for what
it waits. At a terminal it waits in place.
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

SOON: Final = 2.0  # seconds after which somebody at a terminal looks again
LONGEST_SILENCE: Final = 30.0  # seconds that a host may ask for and that are waited in place
COME_BACK: Final = timedelta(minutes=2)
LATER: Final = timedelta(minutes=15)
AT_MOST: Final = timedelta(hours=6)  # that a job waits for others


class HostTaken(Exception):
    """Another job fetches from the host, or the host asked to be left alone until some time."""

    def __init__(self, told: str, until: datetime | None = None) -> None:
        super().__init__(told)
        self.until = until


class HostLeases:
    """The hosts at which a job has its turn."""

    def __init__(self, site: Site, job: Job, *, patience: float = 0.0) -> None:
        self._site, self._job = site, job
        self._gives_up_at = time.monotonic() + patience
        self._hosts: dict[str, Host] = {}
        self._robots: dict[str, Robots] = {}

    def take(self, origin: str) -> None:
        """Have the turn at a host, and wait for as long as it asks between two requests. Raises HostTaken."""
        host = self._hosts.get(origin)
        if host is None:
            host = hosts.find_host(origin=origin)
            self._lease(host)
            self._hosts[origin] = host
        self._wait(host)
        self._lease(host)  # the wait may have been longer than the lease

    def pause(self, origin: str, asked: timedelta | None = None) -> None:
        """Note that the host was asked just now; the next request of anybody waits."""
        host = self._hosts[origin]
        hosts.keep_next_fetch(host=host, at=timezone.now() + timedelta(seconds=self._delay(origin)))
        if asked:
            hosts.keep_pause(host=host, until=timezone.now() + asked)

    def robots_of(self, origin: str, fetcher: Fetcher) -> Robots:
        """Return what a host lets robots do, asked for once a day. Raises HostTaken, Refused."""
        if origin not in self._robots:
            self.take(origin)
            host = self._hosts[origin]
            if not hosts.has_fresh_robots(host):
                hosts.keep_robots(host=host, file=fetch_robots(fetcher, origin))
                self.pause(origin)
            self._robots[origin] = Robots(host.robots_text, settings.USER_AGENT)
        return self._robots[origin]

    def end(self) -> None:
        """Give the hosts free."""
        hosts.release_hosts(job=self._job)

    def _delay(self, origin: str) -> float:
        robots = self._robots.get(origin)
        return max(
            self._site.crawl_delay, min(robots.crawl_delay, MAX_CRAWL_DELAY) if robots else 0.0
        )

    def _lease(self, host: Host) -> None:
        while not hosts.lease_host(host=host, job=self._job):
            if time.monotonic() > self._gives_up_at:
                raise HostTaken(f"{host.leased_by or 'another job'} fetches from {host.name}")
            time.sleep(SOON)

    def _wait(self, host: Host) -> None:
        moments = [at for at in (host.next_fetch_at, host.retry_after) if at is not None]
        seconds = (max(moments) - timezone.now()).total_seconds() if moments else 0.0
        longest = max(LONGEST_SILENCE, self._delay(host.name), self._gives_up_at - time.monotonic())
        if seconds > longest:
            raise HostTaken(f"{host.name} asked to be left alone", max(moments))
        time.sleep(max(0.0, seconds))


def patience_of(run: JobRun) -> float:
    """Return the seconds that a job waits in place: long where somebody at a terminal waits for it."""
    return 0.0 if run.job.params.get("is_patient", True) else AT_MOST.total_seconds()


def postpones(
    work: Callable[Concatenate[JobRun, P], dict[str, Any]],
) -> Callable[Concatenate[JobRun, P], dict[str, Any]]:
    """Let work be due again later where it raises HostTaken."""

    @wraps(work)
    def patient_work(run: JobRun, /, *args: P.args, **options: P.kwargs) -> dict[str, Any]:
        try:
            return work(run, *args, **options)
        except HostTaken as taken:
            return _postpone(run, taken)

    return patient_work


def _postpone(run: JobRun, taken: HostTaken) -> dict[str, Any]:
    """Let the job be due again later; what it fetched until now is kept. Raises JobFailed, JobCancelled."""
    waited = timezone.now() - run.job.created_at
    if waited > AT_MOST:
        hours = AT_MOST.total_seconds() / 3600
        raise jobs.JobFailed(
            f"{taken} for more than {hours:.0f} hours; nothing was checked or changed"
        )
    wait = COME_BACK if waited < LATER else LATER
    due_at = max(timezone.now() + wait, taken.until or timezone.now())
    goes_on = run.held.filter(cancel_requested_at__isnull=True)
    if not goes_on.update(
        state=Job.State.DUE,
        due_at=due_at,
        rung_at=None,
        lease="",
        leased_until=None,
        n_tries=F("n_tries") - 1,
        message=f"waits: {taken}"[:300],
    ):
        raise jobs.JobCancelled
    return {"waits_for": str(taken)}
