"""A crawl at work: one thread alone uses the database and parses, others wait for the hosts.

Each host has a queue of its own, so that one that hangs holds up only itself. Responses are stored
in the order in which their pages were asked for: whatever interrupts a crawl, it visits the same
pages in the same order.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from clustering.fetching.browser.rendering import Renderer, open_renderer
from clustering.fetching.client import Fetched, open_fetcher
from clustering.fetching.robots import MAX_CRAWL_DELAY, Robots, RobotsFile, fetch_robots
from clustering.models import Host, Page
from clustering.services.crawl import hosts
from clustering.services.crawl.crawl_results import CrawlWriter, takes_page
from clustering.services.crawl.fetch_threads import FetchTask, FetchThreads
from clustering.services.crawl.frontier import Frontier, LinkTarget
from clustering.services.crawl.host_queue import MAX_CONNECTIONS, HostQueue
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed, JobRun

MIN_BATCH: Final = 32  # answers that are stored at once
MAX_BATCH: Final = 64  # answers in one transaction
MAX_WAIT_FOR_BATCH: Final = 0.2  # seconds that an answer waits for others
BEAT_SECONDS: Final = 1.0  # after which a crawl renews its job's lease
HOST_BEAT_SECONDS: Final = 15.0  # after which it renews the leases of its hosts
MAX_HELD_BYTES: Final = 64 * 1024 * 1024  # answers that wait to be stored
MIN_REPORTED_WAIT: Final = 3.0  # seconds


class HostLost(Exception):
    """Another crawl took over a host that this one had leased."""


@dataclass(slots=True, eq=False)
class Crawler:
    """One crawl at work: `go` runs it, `close` must follow."""

    run: JobRun
    site: Site
    frontier: Frontier
    writer: CrawlWriter
    stop: threading.Event = field(default_factory=threading.Event)
    ready: SimpleQueue[FetchTask] = field(default_factory=SimpleQueue)
    queues: dict[int, HostQueue] = field(default_factory=dict)
    queue_by_task: dict[FetchTask, HostQueue] = field(default_factory=dict)
    # Hosts that another crawl has, and when to try again.
    waits_for: dict[int, float] = field(default_factory=dict)
    renderer: Renderer | None = None
    doing: str = ""  # the message of the job where nothing is being waited for
    n_visited: int = 0
    n_due: int = 0
    stored_at: float = 0.0
    beaten_at: float = 0.0
    hosts_kept_at: float = 0.0

    def go(self) -> dict[str, Any]:
        """Visit pages until none is due or enough are visited."""
        self.begin()
        self.visit_due()
        return self.end()

    def visit_due(self) -> None:
        """Visit the due pages, and those that they lead to where links are followed."""
        while True:
            self._open_queues()
            self._ask()
            if self._is_finished():
                break
            self._collect()
            self._store_what_is_ready()
            self.beat()

    def add(self, target: LinkTarget) -> None:
        """Make one more page due, unless it belongs to another site or looks like a trap."""
        with transaction.atomic():
            self.run.renew()
            n_due_by_host, traps = self.frontier.add([target])
            self.writer.refuse_all(traps)
        self.n_due += n_due_by_host.total()
        self._expect(n_due_by_host)

    def close(self) -> None:
        """Stop all threads, close the connections and release the hosts."""
        self.stop.set()
        for queue in self.queues.values():
            queue.threads.dismiss()
        for queue in self.queues.values():
            queue.threads.join()
            queue.fetcher.close()
        hosts.release_hosts(job=self.run.job)

    @property
    def max_pages(self) -> float:
        return float(self.run.job.params.get("max_pages") or math.inf)

    def begin(self) -> None:
        """Make the entry due, and count what an interrupted run left due."""
        if self.site.render:
            self.renderer = open_renderer(self.stop)
        self.n_visited = self.run.job.n_done
        entry = self.run.job.params["entry"]
        with transaction.atomic():
            self.run.renew(message=f"Begin at {entry}")
            self.frontier.retry(entry)
            _, traps = self.frontier.add([LinkTarget(entry, entry, 0)])
            self.writer.refuse_all(traps)
        due = self.frontier.n_due_by_host()
        self.n_due = sum(due.values())
        self.waits_for = dict.fromkeys(due, 0.0)

    def _open_queues(self) -> None:
        """Lease the hosts that have due pages and that no other crawl is fetching from."""
        now = monotonic()
        for pk, again_at in list(self.waits_for.items()):
            if again_at > now:
                continue
            host = Host.objects.get(pk=pk)
            if hosts.lease_host(host=host, job=self.run.job):
                del self.waits_for[pk]
                self.queues[pk] = self._open_queue(host)
            else:
                self.waits_for[pk] = now + BEAT_SECONDS

    def _open_queue(self, host: Host) -> HostQueue:
        delay = self.run.job.params.get("delay")
        queue = HostQueue(
            host=host,
            base_delay=self.site.crawl_delay if delay is None else float(delay),
            fetcher=open_fetcher(self.stop),
            threads=FetchThreads(MAX_CONNECTIONS, self.ready),
        )
        if self.site.obey_robots:
            if hosts.has_fresh_robots(host):
                self._obey(queue)
            else:
                queue.awaits_robots = True
        return queue

    def _obey(self, queue: HostQueue) -> None:
        queue.robots = Robots(queue.host.robots_text, settings.USER_AGENT)
        queue.awaits_robots = False
        if queue.is_asked_to_be_slower:
            self.writer.refuse(
                f"{queue.host.name}/robots.txt",
                "crawl_delay",
                f"asks for {queue.robots.crawl_delay:g} seconds a request; "
                f"{MAX_CRAWL_DELAY:g} are kept",
            )

    # Asking

    def _ask(self) -> None:
        """Start as many requests as each host may get now, in turns."""
        queues = [queue for queue in self.queues.values() if not queue.is_idle]
        for queue in queues:
            self._ask_for_robots(queue)
            self._give_up(queue)
        n_left = self.max_pages - self.n_visited - sum(len(queue.tasks) for queue in queues)
        is_going_on = sum(queue.n_bytes for queue in queues) < MAX_HELD_BYTES
        while is_going_on:
            is_going_on = False
            for queue in queues:
                if n_left > 0 and self._ask_next(queue):
                    n_left -= 1
                    is_going_on = True

    def _ask_next(self, queue: HostQueue) -> bool:
        page = queue.next_page(self.frontier)
        if page is None:
            return False
        refused = queue.refusal_of(page.url)
        task = FetchTask(
            page, None if refused else partial(self._visit, queue, page.url), refused=refused
        )
        queue.tasks.append(task)
        if refused:
            task.settle()
            task.is_ready = True
        else:
            self._send(queue, task)
        return True

    def _ask_for_robots(self, queue: HostQueue) -> None:
        if queue.awaits_robots and not queue.has_asked_for_robots and queue.may_be_asked:
            queue.has_asked_for_robots = True
            self._send(
                queue, FetchTask(None, partial(fetch_robots, queue.fetcher, queue.host.name))
            )

    def _send(self, queue: HostQueue, task: FetchTask) -> None:
        self.queue_by_task[task] = queue
        queue.threads.send(task)

    def _visit(self, queue: HostQueue, url: str) -> Fetched:
        """Fetch a page; a thread of the host runs this."""
        if self.renderer is not None:
            return self.renderer.render(url, takes=takes_page)
        return queue.fetcher.fetch(url, max_redirects=0, takes=takes_page)

    def _give_up(self, queue: HostQueue) -> None:
        """Write off the due pages of a host that cannot be fetched from."""
        if not queue.gives_up_for or queue.tasks:
            return
        with transaction.atomic():
            self.run.renew()
            n_pages = self.frontier.write_off(queue.host, queue.gives_up_code, queue.gives_up_for)
            if n_pages:
                reason = f"{queue.gives_up_for}; {n_pages} known page(s) of it were not fetched"
                self.writer.refuse(queue.host.name, queue.gives_up_code, reason)
        self.n_due -= n_pages
        queue.write_off()

    # Accepting answers

    def _collect(self) -> None:
        """Wait a moment for answers, and accept all that are there."""
        try:
            self._accept(self.ready.get(timeout=self._patience()))
            while True:
                self._accept(self.ready.get_nowait())
        except Empty:
            return

    def _patience(self) -> float:
        """Return how long nothing needs to be done but to wait for answers."""
        now = monotonic()
        moments = [queue.next_at - now for queue in self.queues.values() if not queue.is_idle]
        return min([moment for moment in moments if moment > 0] + [MAX_WAIT_FOR_BATCH / 2])

    def _accept(self, task: FetchTask) -> None:
        queue = self.queue_by_task.pop(task)
        task.is_ready = True
        pause = queue.learn_from(task)
        if pause:
            hosts.keep_pause(host=queue.host, until=timezone.now() + pause)
        if task.page is None:
            self._accept_robots(queue, task)

    def _accept_robots(self, queue: HostQueue, task: FetchTask) -> None:
        queue.has_asked_for_robots = False
        if isinstance(task.answer, RobotsFile):
            hosts.keep_robots(host=queue.host, file=task.answer)
            self._obey(queue)
            queue.wait(queue.delay)  # which was not known when robots.txt was asked for
        elif task.refused is not None and not task.refused.is_transient and not task.was_stopped:
            queue.give_up(task.refused.code, f"{queue.host.name}/robots.txt: {task.refused}")

    # Storing

    def _store_what_is_ready(self) -> None:
        """Store answers in the order of asking, several at once where they come fast."""
        queues = self.queues.values()
        n_ready = sum(queue.n_ready for queue in queues)
        nobody_works = any(queue.n_ready and not queue.n_outstanding for queue in queues)
        has_waited = monotonic() - self.stored_at >= MAX_WAIT_FOR_BATCH
        if n_ready < MIN_BATCH and not (n_ready and (nobody_works or has_waited)):
            return
        ready = [(queue, task) for queue in queues for task in queue.take_ready()]
        for start in range(0, len(ready), MAX_BATCH):
            self._store(ready[start : start + MAX_BATCH])
        self.stored_at = monotonic()

    def _store(self, batch: list[tuple[HostQueue, FetchTask]]) -> None:
        queue_by_page = {task.page.pk: queue for queue, task in batch if task.page}
        prepared = self.writer.prepare([task for _, task in batch])
        with transaction.atomic():
            result = self.writer.store(prepared)
            self.n_visited += result.n_visited
            self.n_due += result.n_due_by_host.total() + len(result.retries) - len(batch)
            n_total = int(min(self.max_pages, self.n_visited + max(0, self.n_due)))
            self.run.renew(n_done=self.n_visited, n_total=n_total, message=self._message())
            for queue in set(queue_by_page.values()):
                if queue.delay:
                    hosts.keep_next_fetch(
                        host=queue.host, at=timezone.now() + timedelta(seconds=queue.delay)
                    )
        for page in result.retries:
            queue_by_page[page.pk].postpone(page)
        self._expect(result.n_due_by_host)
        for line in result.lines:
            self.run.report(line)

    def _expect(self, host_pks: Iterable[int]) -> None:
        """Have due pages of these hosts looked for again."""
        for pk in host_pks:
            if pk in self.queues:
                self.queues[pk].refill()
            else:
                self.waits_for.setdefault(pk, 0.0)

    # Going on and ending

    def beat(self) -> None:
        """Renew the leases of job and hosts. Raises HostLost, and what cancels the job."""
        now = monotonic()
        if now - self.beaten_at >= BEAT_SECONDS:
            self.beaten_at = now
            self.run.renew(message=self._message())
        if now - self.hosts_kept_at >= HOST_BEAT_SECONDS:
            self.hosts_kept_at = now
            if not hosts.keep_hosts(hosts=self.queues.keys(), job=self.run.job):
                raise HostLost("another crawl took a host over while this one stood still")

    def _message(self) -> str:
        """Return what is being waited for, else what is being done."""
        now = monotonic()
        waits = [
            f"{queue.host.name} is left alone for {queue.next_at - now:.0f} seconds"
            for queue in self.queues.values()
            if not queue.is_idle and queue.next_at - now > max(queue.delay, MIN_REPORTED_WAIT)
        ]
        if self.waits_for:
            names = Host.objects.filter(pk__in=self.waits_for).values_list("name", flat=True)
            waits += [f"waits for {name}, from which another crawl is fetching" for name in names]
        return "; ".join(waits).capitalize() or self.doing

    @property
    def has_enough(self) -> bool:
        return self.n_visited >= self.max_pages

    def _is_finished(self) -> bool:
        if any(queue.tasks for queue in self.queues.values()):
            return False
        if self.has_enough:
            return True
        return not self.waits_for and all(queue.is_idle for queue in self.queues.values())

    def end(self) -> dict[str, Any]:
        """Return the job's result: pages by state, and those left. Raises JobFailed without any."""
        job = self.run.job
        n_by_state = dict(
            Page.objects.filter(crawl=job).values_list("state").annotate(n=Count("pk"))
        )
        n_left = n_by_state.pop(Page.State.DUE, 0)
        with transaction.atomic():
            self.run.renew(n_done=self.n_visited, n_total=self.n_visited, message="")
            if n_left:
                reason = (
                    f"stopped after {self.n_visited} pages, as asked; {n_left} known pages are left"
                )
                self.writer.refuse(self.site.root_url, "max_pages", reason)
        if not n_by_state.get(Page.State.STORED):
            raise JobFailed(self.frontier.first_problem())
        return {**n_by_state, "left": n_left}
