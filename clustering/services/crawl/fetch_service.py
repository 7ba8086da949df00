"""Do the jobs of the queue `fetch` in one process: crawls of many sites, side by side.

A crawl that visits all pages is driven by the engine of this process, together with all others of
its kind; so are the pages of a list or of sitemaps, once these are read. Work that reads them, or
decides page by page what to visit, has a thread of its own, with an engine for itself; all of them
share the loop of the network. Where more work waits than there are threads, what does not lose by
it takes turns. Other processes like this one may run beside it: jobs and hosts are leased, and
nothing else is shared.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import structlog
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.utils import timezone

from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.crawling import visits_all_pages
from clustering.services.crawl.engine import Engine, stopping, threads_wanted
from clustering.services.crawl.hosts import release_left_hosts
from clustering.services.crawl.listed_pages import figures_of, is_listed
from clustering.services.crawl.revisiting import links_to_follow
from vertex.core.models import Job
from vertex.core.models.jobs import JobQuerySet
from vertex.core.services.jobs import heartbeat, held_jobs, jobs
from vertex.core.services.jobs.jobs import JobNotClaimed, Work
from vertex.core.services.jobs.processes import is_gone

MAX_CRAWLS: Final = 500  # driven by the engine at once
MAX_THREADS: Final = 16  # of other work at once
LOOK_SECONDS: Final = 0.5  # between two looks for jobs that are due
ABANDONED_SECONDS: Final = 5.0  # between two looks for jobs whose process is gone
HEARTBEAT_SECONDS: Final = 30.0
PATIENCE_AT_END: Final = 5.0  # seconds for the threads to give their jobs back
PAUSE_AFTER_TROUBLE: Final = 1.0  # seconds, where the database refused something
# A process holds hundreds of jobs, so its death says little of each. Those that saw so many deaths
# without getting any further are taken up one after the other, each on trial for a while: a death
# then tells whose fault it was. A process that is new does nothing else beside; one that is not
# tries those that are left to it later, where a process is known to be gone only by its leases.
MANY_DEATHS: Final = 3
TRIAL_SECONDS: Final = 20.0
# What a crawl brought may end the process a moment later: no other one is begun on trial
# until then.
SECONDS_AFTER_PROGRESS: Final = 2.0

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class FetchService:
    """The jobs that one process holds."""

    work_by_task: Mapping[str, Work]
    engine: Engine = field(default_factory=Engine)
    _is_new: bool = True  # it has taken up nothing but jobs on trial
    _on_trial: int | None = None  # a job
    _trial_ends_at: float = 0.0
    _next_trial_at: float = 0.0
    _threads: dict[int, threading.Thread] = field(default_factory=dict)  # by job
    _looked_at: float = 0.0
    _looked_for_abandoned_at: float = 0.0
    _beaten_at: float = 0.0

    def run(self) -> None:
        """Take jobs and go on with them until `stopping` is set; then give them back."""
        try:
            while not stopping.is_set():
                try:
                    self.go_on()
                except DatabaseError:  # away for a moment, or locked: the rows are as they were
                    log.exception("fetching_interrupted")
                    close_old_connections()
                    stopping.wait(PAUSE_AFTER_TROUBLE)
        finally:
            self._give_back()

    def go_on(self) -> None:
        """Do one step: take what is due, drive the crawls, and end those that are over."""
        now = monotonic()
        if now - self._beaten_at >= HEARTBEAT_SECONDS:
            self._beaten_at = now
            heartbeat.record_heartbeat(Job.Queue.FETCH)
        if now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            self._take_jobs()
        self.engine.step()
        self._end_crawls()

    def _take_jobs(self) -> None:
        self._threads = {job: thread for job, thread in self._threads.items() if thread.is_alive()}
        is_trying = self._is_trying() or self._try_one()
        if is_trying and self._is_new:
            return
        self._is_new = False
        threads_wanted.clear()
        for job in self._waiting_jobs():
            self._take(job)

    def _is_trying(self) -> bool:
        """Return whether a job is on trial, or was until a moment ago.

        A trial is over once the job ends, gets further, or after a while.
        """
        if self._on_trial is None:
            return monotonic() < self._next_trial_at
        # One whose thread has not claimed it yet is on trial, too.
        without_progress = Job.objects.filter(pk=self._on_trial, n_tries__gte=MANY_DEATHS)
        if self._on_trial not in self._held or not without_progress.exists():
            self._on_trial = None
            self._next_trial_at = monotonic() + SECONDS_AFTER_PROGRESS
            return True
        if monotonic() < self._trial_ends_at:
            return True
        without_progress.update(n_tries=MANY_DEATHS)  # it killed nobody
        self._on_trial = None
        return False

    def _try_one(self) -> bool:
        """Take up a job that saw many deaths, and return whether there is one that can be."""
        for job in self._abandoned(self._jobs_here.filter(n_tries__gte=MANY_DEATHS)):
            self._take(job)
            if job.pk in self._held:
                self._on_trial, self._trial_ends_at = job.pk, monotonic() + TRIAL_SECONDS
                return True
        return False

    def _waiting_jobs(self) -> Iterator[Job]:
        """Yield the jobs that are due, then now and then those that their process has left."""
        yield from self._jobs_here.due(timezone.now()).order_by("due_at", "pk")[:MAX_CRAWLS]
        if monotonic() - self._looked_for_abandoned_at >= ABANDONED_SECONDS:
            self._looked_for_abandoned_at = monotonic()
            release_left_hosts()
            yield from self._abandoned(self._jobs_here.filter(n_tries__lt=MANY_DEATHS))

    @property
    def _jobs_here(self) -> JobQuerySet:
        return Job.objects.filter(queue=Job.Queue.FETCH, task__in=self.work_by_task)

    @property
    def _held(self) -> set[int]:
        return self.engine.crawlers.keys() | self._threads.keys()

    def _abandoned(self, rows: JobQuerySet) -> Iterator[Job]:
        """Yield the jobs whose process is gone, those farthest from being given up first.

        So a row of deaths that none of them is to blame for does not hit the same job
        again and again.
        """
        now = timezone.now()
        left = rows.filter(state=Job.State.RUNNING).exclude(pk__in=self._held)
        for job in left.order_by("n_tries", "pk"):
            is_late = job.leased_until is not None and job.leased_until < now
            if is_late or is_gone(job.leased_by):
                yield job

    def _take(self, job: Job) -> None:
        """Take a job up, unless as many of its kind are held already or another process has it."""
        if job.pk in self._threads:
            return  # which has not claimed it yet, or has just given it back
        if visits_all_pages(job) or is_listed(job) or links_to_follow(job) is not None:
            if len(self.engine.crawlers) < MAX_CRAWLS:
                self._take_crawl(job)
        elif len(self._threads) < MAX_THREADS:
            self._start_thread(job)
        else:
            threads_wanted.set()

    def _take_crawl(self, job: Job) -> None:
        with suppress(JobNotClaimed):
            run = jobs.claim_job(job.pk)
            with held_jobs.caught() as errors:
                follows_links = not is_listed(run.job)
                self.engine.begin(run, links_to_follow(run.job), follows_links=follows_links)
            if errors:
                jobs.end_with(run, errors[0])

    def _start_thread(self, job: Job) -> None:
        work = self.work_by_task[job.task]
        thread = threading.Thread(
            target=_work_apart, args=(job.pk, work), name=f"job {job.pk}", daemon=True
        )
        self._threads[job.pk] = thread
        thread.start()

    def _end_crawls(self) -> None:
        """End the jobs of crawls that are settled or cannot go on."""
        for crawler in self.engine.take_ended():
            with held_jobs.caught() as errors:
                self._end_crawl(crawler)
            if errors:
                jobs.end_with(crawler.run, errors[0])
            crawler.close()

    def _end_crawl(self, crawler: Crawler) -> None:
        if crawler.error is not None:
            jobs.end_with(crawler.run, crawler.error)
            return
        crawler.run.finish(crawler.end() | figures_of(crawler.run.job))

    def _give_back(self) -> None:
        """Make the jobs due again for whoever comes next, and release the hosts."""
        # In one transaction: hundreds of crawls would wait for the disk several times each. Where
        # it fails, the next process finds that this one is gone.
        with suppress(DatabaseError), transaction.atomic():
            for crawler in list(self.engine.crawlers.values()):
                crawler.close()
                jobs.hand_back(crawler.run)
        ends_at = monotonic() + PATIENCE_AT_END
        for thread in self._threads.values():
            thread.join(max(0.0, ends_at - monotonic()))


def _work_apart(job: int, work: Work) -> None:
    """Do a job in a thread with a database connection of its own."""
    try:
        with suppress(JobNotClaimed, SystemExit):
            jobs.run_job(job, work)
    finally:
        connection.close()
