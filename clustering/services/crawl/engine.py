"""The engine: it drives the crawls of one process, and stores what comes for all of them together.

One thread uses the database: it looks at each crawl when there is something to do for it, and
writes the answers of all crawls in one transaction. Requests are made by the one loop of the
process, and pages are parsed by a few threads; hosts are asked meanwhile. What is lost with a
process are the answers that are not stored yet; their pages are still due in the rows.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from queue import Empty
from time import monotonic
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

import structlog
from django.db import transaction

from clustering.dom.links import FoundLink
from clustering.fetching.browser.rendering import Renderer, open_renderer
from clustering.fetching.loop import Requests
from clustering.services.crawl import hosts, site_sessions
from clustering.services.crawl.crawl_results import CrawlWriter, prepare_answers, store_answers
from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.fetch_tasks import FetchTask
from clustering.services.crawl.frontier import Frontier, MetAddresses
from clustering.services.crawl.host_queue import HostQueue
from clustering.services.crawl.hosts import HostAnswer
from clustering.services.crawl.rendered_pages import rendered_pages
from vertex.core.services.jobs import held_jobs
from vertex.core.services.jobs.jobs import JobRun

MAX_BATCH: Final = 128  # answers in one transaction
BEAT_SECONDS: Final = 1.0  # between two looks whether the jobs are still held
LEASE_BEAT_SECONDS: Final = 15.0  # after which the leases of jobs and hosts are renewed
MAX_HELD_BYTES: Final = 64 * 1024 * 1024  # answers that wait to be stored
MAX_SLEEP: Final = 0.5  # seconds without a look at anything
# After which work that decides page by page gives its thread to what waits.
TURN_SECONDS: Final = 120.0
NO_JOB: Final = 0

log = structlog.get_logger(__name__)
T = TypeVar("T")

Answers = tuple[Crawler, Sequence[tuple[HostQueue, FetchTask]]]  # of one crawl, in their order

# Set where the process is to end: crawls stop at their next step, and the next process goes on.
stopping = threading.Event()
# Set while work waits for a thread: what takes turns is handed back then, and goes on after it.
threads_wanted = threading.Event()


class HostLost(Exception):
    """Another crawl took over a host that this one had leased."""


class SomeLinks(Protocol):
    """Which links lead to new pages that are worth a visit; see `revisiting`."""

    def leads_on(self, link: FoundLink) -> bool: ...


@dataclass(slots=True, eq=False)
class Engine:
    """Crawls at work in one thread."""

    takes_turns: bool = False  # its thread goes to what waits for one: nothing that it did is lost
    requests: Requests[FetchTask] = field(default_factory=Requests)
    crawlers: dict[int, Crawler] = field(default_factory=dict)  # by job
    _looks: list[tuple[float, int, Crawler]] = field(default_factory=list)  # a heap, soonest first
    _n_looks: count[int] = field(default_factory=count)
    _answering: dict[Crawler, None] = field(default_factory=dict)  # crawls with answers to store
    _looked_at: dict[Crawler, None] = field(default_factory=dict)  # lately, and perhaps at its end
    _store_at: float = math.inf
    _n_held_bytes: int = 0
    _begun_at: float = field(default_factory=monotonic)
    _beaten_at: float = 0.0
    _leases_kept_at: float = field(default_factory=monotonic)
    _message_by_job: dict[int, str] = field(default_factory=dict)
    _met: MetAddresses = field(default_factory=MetAddresses)
    _renderer: Renderer | None = None
    _renderer_stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop all crawls where they are, and release their hosts."""
        self._renderer_stop.set()
        for crawler in list(self.crawlers.values()):
            crawler.close()

    def take(self, run: JobRun, *, follows_links: bool = True) -> Crawler:
        """Take a crawl in; without `follows_links` it visits only what is added to it."""
        frontier = Frontier(run.job, run.site, met=self._met)
        writer = CrawlWriter(run.job, run.site, frontier, follows_links=follows_links)
        crawler = Crawler(
            run,
            run.site,
            frontier,
            writer,
            self,
            rendered_pages(run.site),
            session=site_sessions.session_of(run.site),
        )
        self.crawlers[run.job.pk] = crawler
        return crawler

    def begin(
        self, run: JobRun, links: SomeLinks | None = None, *, follows_links: bool = True
    ) -> Crawler:
        """Take a crawl in, and begin it or go on where it stopped.

        With `links` it follows those to new pages only, without `follows_links` none.
        """
        crawler = self.take(run, follows_links=follows_links)
        if links is not None:
            crawler.frontier.only_new = True
            crawler.writer.leads_on = links.leads_on
        try:
            crawler.begin()
        except BaseException:
            crawler.close()
            raise
        self.wake(crawler)
        return crawler

    def drive(self, crawler: Crawler, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Go on until nothing is left to do for a crawl, or it is enough. Raises what ends it."""
        self._end_turn(crawler)
        self.wake(crawler)
        self.beat()
        self._look_at_woken()
        while crawler.error is None and not crawler.is_settled and not is_enough():
            self.go_on(crawler)
        if crawler.error is not None:
            raise crawler.error

    def go_on(self, crawler: Crawler) -> None:
        """Do one step for a crawl that its own thread waits for. Raises what ends it.

        SystemExit hands its job back: the process is to end, or its turn is over.
        """
        if stopping.is_set():
            raise SystemExit
        self._end_turn(crawler)
        self.step()
        if crawler.error is not None:
            raise crawler.error

    def _end_turn(self, crawler: Crawler) -> None:
        """Raise SystemExit where a crawl's turn is over and nothing that was asked for is lost."""
        if not (self.takes_turns and threads_wanted.is_set()) or crawler.queue_by_task:
            return
        if monotonic() - self._begun_at >= TURN_SECONDS:
            raise SystemExit

    def take_ended(self) -> list[Crawler]:
        """Return the crawls that ended since they were last asked for, in good order or not."""
        ended = [
            crawler
            for crawler in self._looked_at
            if crawler.run.job.pk in self.crawlers
            and (crawler.error is not None or crawler.is_settled)
        ]
        self._looked_at.clear()
        return ended

    def drop(self, crawler: Crawler) -> None:
        """Forget a crawl; its answers are not stored any more."""
        if self.crawlers.pop(crawler.run.job.pk, None) is None:
            return
        self._n_held_bytes -= crawler.n_held_bytes
        self._answering.pop(crawler, None)
        self._message_by_job.pop(crawler.run.job.pk, None)
        crawler.frontier.forget_met()
        crawler.looked_at_next = math.inf

    def renderer(self) -> Renderer:
        """Return the browser that draws pages for all crawls."""
        if self._renderer is None:
            self._renderer = open_renderer(self._renderer_stop)
        return self._renderer

    def wake(self, crawler: Crawler, at: float = 0.0) -> None:
        """Have a crawl looked at, now or at a time to come."""
        if at < crawler.looked_at_next:
            crawler.looked_at_next = at
            heapq.heappush(self._looks, (at, next(self._n_looks), crawler))

    def step(self) -> None:
        """Look at the crawls for which there is something to do, then wait a moment for answers."""
        self.beat()  # first: a process that stood still may have lost the hosts that it would ask
        self._look_at_woken()
        self._store_when_due()
        self._collect(self._patience())

    # Looking

    def _look_at_woken(self) -> None:
        now = monotonic()
        while self._looks and self._looks[0][0] <= now:
            at, _, crawler = heapq.heappop(self._looks)
            if at == crawler.looked_at_next:
                self._look_at(crawler)

    def _look_at(self, crawler: Crawler) -> None:
        crawler.looked_at_next = math.inf
        self._looked_at[crawler] = None
        if crawler.error is not None:
            return
        look_again_at = math.inf
        with held_jobs.caught() as errors:
            look_again_at = crawler.look(may_ask=self._n_held_bytes < MAX_HELD_BYTES)
        if errors:
            crawler.error = errors[0]
            return
        store_by = crawler.store_by()
        if store_by < math.inf:
            self._answering[crawler] = None
            self._store_at = min(self._store_at, store_by)
        if look_again_at < math.inf:
            self.wake(crawler, look_again_at)

    def _collect(self, patience: float) -> None:
        """Wait a moment for answers, and take all that are there."""
        try:
            self._accept(self.requests.settled.get(timeout=patience))
            while True:
                self._accept(self.requests.settled.get_nowait())
        except Empty:
            return

    def _patience(self) -> float:
        """Return how long nothing needs to be done but to wait for answers."""
        seconds = min(self._store_at, self._beaten_at + BEAT_SECONDS) - monotonic()
        return min(max(0.0, seconds), self._seconds_to_next_look())

    def _seconds_to_next_look(self) -> float:
        if not self._looks:
            return MAX_SLEEP
        next_look_at, _, _ = self._looks[0]
        return min(max(0.0, next_look_at - monotonic()), MAX_SLEEP)

    def _accept(self, task: FetchTask) -> None:
        crawler = self.crawlers.get(task.job)
        if crawler is None or crawler.error is not None or task not in crawler.queue_by_task:
            return  # the crawl is over
        self._n_held_bytes += task.n_bytes
        with held_jobs.caught() as errors:
            crawler.accept(task)
        if errors:
            crawler.error = errors[0]
        self.wake(crawler)

    # Storing

    def _store_when_due(self) -> None:
        """Store a batch of all answers that are ready, once it is time for those of one crawl.

        The others have their turn at the next step, which first finds the crawls that may
        not go on.
        """
        if monotonic() < self._store_at:
            return
        batch: list[Answers] = []
        n_left = MAX_BATCH
        while self._answering and n_left:
            crawler = next(iter(self._answering))
            ready = crawler.take_ready(n_left)
            self._n_held_bytes -= sum(task.n_bytes for _, task in ready)
            n_left -= len(ready)
            batch.append((crawler, ready))
            if crawler.store_by() == math.inf:
                del self._answering[crawler]
        self._store_at = 0.0 if self._answering else math.inf
        if batch:
            self._store(batch)

    def _store(self, batch: Sequence[Answers]) -> None:
        """Store answers together, or crawl by crawl where one of them cannot be stored."""
        batch = [(crawler, answers) for crawler, answers in batch if crawler.error is None]
        with held_jobs.caught() as errors:
            self._store_together(batch)
        if not errors:
            return
        for crawler, _ in batch:
            crawler.frontier.forget_met()
        if len(batch) == 1:
            batch[0][0].error = errors[0]
            self.wake(batch[0][0])
            return
        log.warning("batch_not_stored", crawls=len(batch), exc_info=errors[0])
        for each in batch:
            self._store([each])

    def _store_together(self, batch: Sequence[Answers]) -> None:
        prepared = prepare_answers(
            [(crawler.writer, [task for _, task in answers]) for crawler, answers in batch],
            self._go_on_beside,
        )
        with transaction.atomic():
            not_held = held_jobs.why_not_held(crawler.run for crawler, _ in batch)
            held = [
                (crawler, answers, each)
                for (crawler, answers), each in zip(batch, prepared, strict=True)
                if crawler.run.job.pk not in not_held
            ]
            results = store_answers([each for _, _, each in held])
            stored = [
                (crawler, answers, result)
                for (crawler, answers, _), result in zip(held, results, strict=True)
            ]
            held_jobs.save_progress(
                crawler.progress_with(result, len(answers)) for crawler, answers, result in stored
            )
            hosts.keep_next_fetches(_delays_of(answers for _, answers, _ in stored))
            hosts.count_answers(
                HostAnswer(queue.host.pk, task.was_asked, task.n_bytes, task.problem)
                for _, answers, _ in stored
                for queue, task in answers
            )
        for crawler, _ in batch:
            if crawler.run.job.pk in not_held:
                crawler.error = not_held[crawler.run.job.pk]
                self.wake(crawler)
        for crawler, answers, result in stored:
            with held_jobs.caught() as errors:
                crawler.note_stored(result, len(answers))
            if errors:
                crawler.error = errors[0]
            self.wake(crawler)

    def _go_on_beside(self, work: Callable[[], T]) -> T:
        """Return what long work returns; hosts are asked and their answers taken meanwhile.

        A page that is made to cost much would hold up all crawls.
        """
        with ThreadPoolExecutor(1) as beside:
            done = beside.submit(work)
            done.add_done_callback(self._wake_up)
            while not done.done():
                self._look_at_woken()
                self._collect(self._seconds_to_next_look())
        return done.result()

    def _wake_up(self, _done: object) -> None:
        """End the wait for answers: one of no crawl has come."""
        self.requests.settled.put(FetchTask(NO_JOB, None))

    # Staying alive

    def beat(self) -> None:
        """Find the crawls that may not go on, tell what each is doing, and renew leases in time."""
        now = monotonic()
        if now - self._beaten_at < BEAT_SECONDS:
            return
        self._beaten_at = now
        if not self.crawlers:
            return
        is_time_for_leases = now - self._leases_kept_at >= LEASE_BEAT_SECONDS
        with transaction.atomic():
            not_held = held_jobs.why_not_held(each.run for each in self.crawlers.values())
            held = [each for pk, each in self.crawlers.items() if pk not in not_held]
            for crawler in held:
                self._show_message(crawler)
            if is_time_for_leases:
                held_jobs.renew_leases(each.run for each in held)
        for pk, error in not_held.items():
            self.crawlers[pk].error = error
            self.wake(self.crawlers[pk])
        if is_time_for_leases:
            self._leases_kept_at = now
            self._keep_hosts()

    def _show_message(self, crawler: Crawler) -> None:
        message = crawler.message()
        if self._message_by_job.get(crawler.run.job.pk) != message:
            self._message_by_job[crawler.run.job.pk] = message
            crawler.run.renew(message=message)

    def _keep_hosts(self) -> None:
        crawlers = list(self.crawlers.values())
        for crawler, is_held in zip(
            crawlers,
            hosts.keep_hosts([(each.run.job, each.queues.keys()) for each in crawlers]),
            strict=True,
        ):
            if not is_held:
                self.wake(crawler)
                crawler.error = HostLost(
                    "another crawl took a host over while this one stood still"
                )
        self._give_way(crawlers)

    def _give_way(self, crawlers: Sequence[Crawler]) -> None:
        """Have crawls release the hosts that jobs wait for which ask for little."""
        held = [each for each in crawlers if each.patient_until == math.inf]
        wanted = hosts.wanted_hosts({host for each in held for host in each.queues})
        for crawler in held:
            for host in wanted & crawler.queues.keys():
                crawler.queues[host].gives_way = True
                self.wake(crawler)


def _delays_of(answers: Iterable[Sequence[tuple[HostQueue, FetchTask]]]) -> dict[int, float]:
    """Return the pauses of the hosts that have answered."""
    return {queue.host.pk: queue.delay for each in answers for queue, _ in each if queue.delay}
