"""A crawl at work: one thread alone uses the database and parses, others wait for the hosts.

Each host has a queue of its own, so that one that hangs holds up only itself. Responses are stored in
the order in which their pages were asked for: whatever interrupts a crawl, it visits the same pages in
the same order.
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
from clustering.services.crawl.host_queue import CONNECTIONS, HostQueue
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed, JobRun

BATCH: Final = 32  # answers worth a transaction
AT_MOST: Final = 64  # answers in one transaction
SOON: Final = 0.2  # seconds that an answer waits for company
BEAT: Final = 1.0  # seconds between two looks at whether the job was cancelled
HOST_BEAT: Final = 15.0
MAX_HELD_BYTES: Final = 64 * 1024 * 1024  # answers that wait to be stored
WORTH_TELLING: Final = 3.0  # seconds of waiting


class HostLost(Exception):
    """Another crawl took over a host that this one had leased."""


@dataclass(slots=True, eq=False)
class Crawler:
    """One crawl at work; `go` does it, `close` ends it early or late."""

    run: JobRun
    site: Site
    frontier: Frontier
    answers: CrawlWriter
    stop: threading.Event = field(default_factory=threading.Event)
    ready: SimpleQueue[FetchTask] = field(default_factory=SimpleQueue)
    lanes: dict[int, HostQueue] = field(default_factory=dict)
    lane_by_ticket: dict[FetchTask, HostQueue] = field(default_factory=dict)
    waits_for: dict[int, float] = field(default_factory=dict)  # hosts that another crawl has
    renderer: Renderer | None = None
    doing: str = ""  # what a job tells where nothing is being waited for
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
            self._open_lanes()
            self._ask()
            if self._is_finished():
                break
            self._collect()
            self._store_what_is_ready()
            self.beat()

    def add(self, found: LinkTarget) -> None:
        """Make one more page due, unless it is not to be followed."""
        with transaction.atomic():
            self.run.renew()
            n_due_by_host, traps = self.frontier.add([found])
            self.answers.refuse_all(traps)
        self.n_due += n_due_by_host.total()
        self._expect(n_due_by_host)

    def close(self) -> None:
        """Call everybody back and give the hosts free."""
        self.stop.set()
        for lane in self.lanes.values():
            lane.visitors.dismiss()
        for lane in self.lanes.values():
            lane.visitors.join()
            lane.fetcher.close()
        hosts.release_hosts(job=self.run.job)

    @property
    def max_pages(self) -> float:
        return float(self.run.job.params.get("max_pages") or math.inf)

    def begin(self) -> None:
        if self.site.render:
            self.renderer = open_renderer(self.stop)
        self.n_visited = self.run.job.n_done
        entry = self.run.job.params["entry"]
        with transaction.atomic():
            self.run.renew(message=f"Begin at {entry}")
            self.frontier.retry(entry)
            _, traps = self.frontier.add([LinkTarget(entry, entry, 0)])
            self.answers.refuse_all(traps)
        due = self.frontier.n_due_by_host()
        self.n_due = sum(due.values())
        self.waits_for = dict.fromkeys(due, 0.0)

    def _open_lanes(self) -> None:
        """Take the hosts that have due pages and that no other crawl is fetching from."""
        now = monotonic()
        for pk, again_at in list(self.waits_for.items()):
            if again_at > now:
                continue
            host = Host.objects.get(pk=pk)
            if hosts.lease_host(host=host, job=self.run.job):
                del self.waits_for[pk]
                self.lanes[pk] = self._lane(host)
            else:
                self.waits_for[pk] = now + BEAT

    def _lane(self, host: Host) -> HostQueue:
        delay = self.run.job.params.get("delay")
        lane = HostQueue(
            host=host,
            base_delay=self.site.crawl_delay if delay is None else float(delay),
            fetcher=open_fetcher(self.stop),
            visitors=FetchThreads(CONNECTIONS, self.ready),
        )
        if self.site.obey_robots:
            if hosts.has_fresh_robots(host):
                self._obey(lane)
            else:
                lane.awaits_robots = True
        return lane

    def _obey(self, lane: HostQueue) -> None:
        lane.robots = Robots(lane.host.robots_text, settings.USER_AGENT)
        lane.awaits_robots = False
        if lane.is_asked_to_be_slower:
            self.answers.refuse(
                f"{lane.host.name}/robots.txt",
                "crawl_delay",
                f"asks for {lane.robots.crawl_delay:g} seconds a request; {MAX_CRAWL_DELAY:g} are kept",
            )

    # Asking

    def _ask(self) -> None:
        """Ask each host for as much as it may be asked for now, in turns."""
        lanes = [lane for lane in self.lanes.values() if not lane.is_idle]
        for lane in lanes:
            self._ask_for_robots(lane)
            self._give_up(lane)
        n_left = self.max_pages - self.n_visited - sum(len(lane.tickets) for lane in lanes)
        is_going_on = sum(lane.n_bytes for lane in lanes) < MAX_HELD_BYTES
        while is_going_on:
            is_going_on = False
            for lane in lanes:
                if n_left > 0 and self._ask_next(lane):
                    n_left -= 1
                    is_going_on = True

    def _ask_next(self, lane: HostQueue) -> bool:
        page = lane.next_page(self.frontier)
        if page is None:
            return False
        refused = lane.refusal_of(page.url)
        ticket = FetchTask(
            page, None if refused else partial(self._visit, lane, page.url), refused=refused
        )
        lane.tickets.append(ticket)
        if refused:
            ticket.settle()
            ticket.is_ready = True
        else:
            self._send(lane, ticket)
        return True

    def _ask_for_robots(self, lane: HostQueue) -> None:
        if lane.awaits_robots and not lane.has_asked_for_robots and lane.may_be_asked:
            lane.has_asked_for_robots = True
            self._send(lane, FetchTask(None, partial(fetch_robots, lane.fetcher, lane.host.name)))

    def _send(self, lane: HostQueue, ticket: FetchTask) -> None:
        self.lane_by_ticket[ticket] = lane
        lane.visitors.send(ticket)

    def _visit(self, lane: HostQueue, url: str) -> Fetched:
        """Ask for a page; a visitor's thread runs this."""
        if self.renderer is not None:
            return self.renderer.render(url, takes=takes_page)
        return lane.fetcher.fetch(url, max_redirects=0, takes=takes_page)

    def _give_up(self, lane: HostQueue) -> None:
        """Write off the due pages of a host that cannot be fetched from."""
        if not lane.gives_up_for or lane.tickets:
            return
        with transaction.atomic():
            self.run.renew()
            n_pages = self.frontier.write_off(lane.host, lane.gives_up_code, lane.gives_up_for)
            if n_pages:
                told = f"{lane.gives_up_for}; {n_pages} known page(s) of it were not fetched"
                self.answers.refuse(lane.host.name, lane.gives_up_code, told)
        self.n_due -= n_pages
        lane.write_off()

    # Taking answers

    def _collect(self) -> None:
        """Wait a moment for answers, and take all that are there."""
        try:
            self._take(self.ready.get(timeout=self._patience()))
            while True:
                self._take(self.ready.get_nowait())
        except Empty:
            return

    def _patience(self) -> float:
        """Return how long nothing needs to be done but to wait for answers."""
        now = monotonic()
        moments = [lane.next_at - now for lane in self.lanes.values() if not lane.is_idle]
        return min([moment for moment in moments if moment > 0] + [SOON / 2])

    def _take(self, ticket: FetchTask) -> None:
        lane = self.lane_by_ticket.pop(ticket)
        ticket.is_ready = True
        pause = lane.note(ticket)
        if pause:
            hosts.keep_pause(host=lane.host, until=timezone.now() + pause)
        if ticket.page is None:
            self._take_robots(lane, ticket)

    def _take_robots(self, lane: HostQueue, ticket: FetchTask) -> None:
        lane.has_asked_for_robots = False
        if isinstance(ticket.answer, RobotsFile):
            hosts.keep_robots(host=lane.host, file=ticket.answer)
            self._obey(lane)
            lane.wait(lane.delay)  # which was not known when robots.txt was asked for
        elif (
            ticket.refused is not None
            and not ticket.refused.is_transient
            and not ticket.was_stopped
        ):
            lane.give_up(ticket.refused.code, f"{lane.host.name}/robots.txt: {ticket.refused}")

    # Storing

    def _store_what_is_ready(self) -> None:
        """Store answers in the order of asking, several at once where they come fast."""
        n_ready = sum(lane.n_ready for lane in self.lanes.values())
        nobody_works = any(lane.n_ready and not lane.n_outstanding for lane in self.lanes.values())
        if n_ready >= BATCH or (n_ready and (nobody_works or monotonic() - self.stored_at >= SOON)):
            taken = [(lane, ticket) for lane in self.lanes.values() for ticket in lane.take_ready()]
            for start in range(0, len(taken), AT_MOST):
                self._store(taken[start : start + AT_MOST])
            self.stored_at = monotonic()

    def _store(self, batch: list[tuple[HostQueue, FetchTask]]) -> None:
        lane_by_page = {ticket.page.pk: lane for lane, ticket in batch if ticket.page}
        prepared = self.answers.prepare([ticket for _, ticket in batch])
        with transaction.atomic():
            noted = self.answers.store(prepared)
            self.n_visited += noted.n_visited
            self.n_due += noted.n_due_by_host.total() + len(noted.again) - len(batch)
            n_total = int(min(self.max_pages, self.n_visited + max(0, self.n_due)))
            self.run.renew(n_done=self.n_visited, n_total=n_total, message=self._message())
            for lane in set(lane_by_page.values()):
                if lane.delay:
                    hosts.keep_next_fetch(
                        host=lane.host, at=timezone.now() + timedelta(seconds=lane.delay)
                    )
        for page in noted.again:
            lane_by_page[page.pk].rest(page)
        self._expect(noted.n_due_by_host)
        for line in noted.lines:
            self.run.report(line)

    def _expect(self, host_pks: Iterable[int]) -> None:
        """Look for due pages of these hosts."""
        for pk in host_pks:
            if pk in self.lanes:
                self.lanes[pk].refill()
            else:
                self.waits_for.setdefault(pk, 0.0)

    # Going on and ending

    def beat(self) -> None:
        """Keep the leases, and notice that the job was cancelled."""
        now = monotonic()
        if now - self.beaten_at >= BEAT:
            self.beaten_at = now
            self.run.renew(message=self._message())
        if now - self.hosts_kept_at >= HOST_BEAT:
            self.hosts_kept_at = now
            if not hosts.keep_hosts(hosts=self.lanes.keys(), job=self.run.job):
                raise HostLost("another crawl took a host over while this one stood still")

    def _message(self) -> str:
        """Tell what is being waited for, else what is being done."""
        now = monotonic()
        told = [
            f"{lane.host.name} is left alone for {lane.next_at - now:.0f} seconds"
            for lane in self.lanes.values()
            if not lane.is_idle and lane.next_at - now > max(lane.delay, WORTH_TELLING)
        ]
        names = (
            Host.objects.filter(pk__in=self.waits_for).values_list("name", flat=True)
            if self.waits_for
            else []
        )
        told += [f"waits for {name}, from which another crawl is fetching" for name in names]
        return "; ".join(told).capitalize() or self.doing

    @property
    def has_enough(self) -> bool:
        return self.n_visited >= self.max_pages

    def _is_finished(self) -> bool:
        if any(lane.tickets for lane in self.lanes.values()):
            return False
        return self.has_enough or not (
            self.waits_for or any(not lane.is_idle for lane in self.lanes.values())
        )

    def end(self) -> dict[str, Any]:
        job = self.run.job
        n_by_state = dict(
            Page.objects.filter(crawl=job).values_list("state").annotate(n=Count("pk"))
        )
        n_left = n_by_state.pop(Page.State.DUE, 0)
        with transaction.atomic():
            self.run.renew(n_done=self.n_visited, n_total=self.n_visited, message="")
            if n_left:
                told = (
                    f"stopped after {self.n_visited} pages, as asked; {n_left} known pages are left"
                )
                self.answers.refuse(self.site.root_url, "max_pages", told)
        if not n_by_state.get(Page.State.STORED):
            raise JobFailed(self.frontier.first_problem())
        return {**n_by_state, "left": n_left}
