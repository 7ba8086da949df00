"""One crawl at work: what it asks its hosts for next, and what it makes of the answers.

An engine looks at it when there is something to do, hands it the answers and stores them. Each host
has a queue of its own, so that one that hangs holds up only itself. Responses are stored in the
order in which their pages were asked for: whatever interrupts a crawl, it visits the same pages in
the same order.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Final, Protocol

from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from clustering.dom.log_in_forms import leads_out
from clustering.fetching.browser.rendering import Renderer
from clustering.fetching.client import Fetched, open_client
from clustering.fetching.log_in import check_logged_in, log_in
from clustering.fetching.loop import Requests, do_with_browser, network_loop
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.robots import MAX_CRAWL_DELAY, Robots, RobotsFile, read_robots
from clustering.fetching.sessions import SiteLogIn, SiteSession, WayOut
from clustering.models import Host, Page
from clustering.services.crawl import hosts, site_sessions
from clustering.services.crawl.crawl_results import BatchResult, CrawlWriter, takes_page
from clustering.services.crawl.fetch_tasks import Errand, FetchTask
from clustering.services.crawl.frontier import DuePage, Frontier, LinkTarget, NewlyDue
from clustering.services.crawl.host_queue import HostGivenUp, HostQueue
from clustering.services.crawl.hosts import HostAnswer, HostTaken
from clustering.services.crawl.rendered_pages import RenderedPages
from vertex.core.models import Site
from vertex.core.services.jobs.held_jobs import JobProgress
from vertex.core.services.jobs.jobs import JobFailed, JobRun

GIVE_WAY_SECONDS: Final = 3.0  # after which a host that was released for another job is wanted back
RETRY_HOST_SECONDS: Final = 1.0  # after which a host that another job has is tried again
MAX_SILENCE_SECONDS: Final = 30.0  # that a host may ask for and that everybody waits in place
MIN_REPORTED_WAIT: Final = 3.0  # seconds
MAX_LOG_IN_TRIES: Final = 3  # where the host is in trouble
MAX_LOGGED_OUT: Final = 3  # pages in a row that show nobody logged in, after logging in again


class NobodyLoggedIn(JobFailed):
    """The site is for those who are logged in, and nobody can be."""


class CrawlDriver(Protocol):
    """What drives crawls; see `engine`."""

    requests: Requests[FetchTask]

    def drive(self, crawler: Crawler, is_enough: Callable[[], bool] = ...) -> None: ...

    def beat(self) -> None: ...

    def drop(self, crawler: Crawler) -> None: ...

    def renderer(self) -> Renderer: ...


@dataclass(slots=True)
class LogInState:
    """How far a crawl is with logging in."""

    is_awaited: bool = False  # nothing else is asked for
    is_mended: bool = False  # somebody was found logged out, and logged in again
    done_at: float = 0.0  # the clock of the process
    n_tries: int = 0
    pages_without: set[int] = field(default_factory=set)  # in a row that show nobody logged in


@dataclass(slots=True, eq=False)
class Crawler:
    """One crawl at work: `go` runs it, `close` must follow."""

    run: JobRun
    site: Site
    frontier: Frontier
    writer: CrawlWriter
    engine: CrawlDriver
    rendered: RenderedPages
    queues: dict[int, HostQueue] = field(default_factory=dict)
    queue_by_task: dict[FetchTask, HostQueue] = field(default_factory=dict)
    # Hosts that another crawl has, and when to try again.
    waits_for: dict[int, float] = field(default_factory=dict)
    # Errands to go on, by host, until its queue has them.
    errands: dict[int, list[Errand]] = field(default_factory=dict)
    settled_errands: deque[Errand] = field(default_factory=deque)  # until whoever asked takes them
    session: SiteSession | None = None  # with which the site is fetched, where it is not as all are
    logs_in: bool = True  # where the site is for those who are logged in
    # The clock of the process until when a host is waited for that another job has; crawls
    # give way.
    patient_until: float = math.inf
    leaves_out_paused: bool = False  # hosts that ask for a long pause
    log_in: LogInState = field(default_factory=LogInState)
    doing: str = ""  # the message of the job where nothing is being waited for
    n_visited: int = 0
    n_due: int = 0
    error: Exception | None = None  # why it cannot go on
    looked_at_next: float = math.inf  # by the engine

    def go(self) -> dict[str, Any]:
        """Visit pages until none is due or enough are visited."""
        self.begin()
        self.visit_due()
        return self.end()

    def visit_due(self) -> None:
        """Visit the due pages, and those that they lead to where links are followed."""
        self.engine.drive(self)

    def add(self, target: LinkTarget) -> None:
        """Make one more page due, unless it belongs to another site or looks like a trap."""
        self.add_all([target])

    def add_all(
        self,
        targets: Iterable[LinkTarget],
        *,
        given_by_url: Mapping[str, str] | None = None,
        refused: Iterable[tuple[str, str, str]] = (),
    ) -> None:
        """Make more pages due; `given_by_url` has those that somebody wrote in another way.

        A refusal is saved for each of `refused`: its subject, a word and the reason.
        """
        with transaction.atomic():
            self.run.renew()
            newly_due, traps = self.frontier.add(targets)
            for url, given_url in (given_by_url or {}).items():
                self.frontier.keep_given_url(url, given_url)
            self.writer.refuse_all(traps)
            for subject, code, reason in refused:
                self.writer.refuse(subject, code, reason)
        self._expect(newly_due)

    def fetch_file(self, url: str, max_bytes: int) -> Fetched:
        """Return a file of the site that is no page, fetched in its turn. Raises FetchRefused.

        Due pages are left to `visit_due`, but for those that are visited while it is waited for.
        """
        errand = Errand(url, max_bytes)
        self.send_out([errand])
        self.engine.drive(self, is_enough=lambda: errand in self.settled_errands)
        self.settled_errands.clear()
        if errand.answer is None:
            raise errand.refused or FetchRefused(f"{url} was not fetched")
        return errand.answer

    def send_out(self, errands: Iterable[Errand]) -> None:
        """Have errands done when it is the turn of each."""
        for errand in errands:
            host = self.frontier.host_of(errand.address)
            if host in self.queues:
                self.queues[host].errands.append(errand)
            else:
                self.errands.setdefault(host, []).append(errand)
                self.waits_for.setdefault(host, 0.0)

    def call_off_errands(self) -> None:
        """Forget all errands: nobody waits for them any more."""
        self.errands.clear()
        for queue in self.queues.values():
            queue.errands.clear()
            queue.errands_under_way.clear()
        self._call_off([task for task in self.queue_by_task if task.errand is not None])

    def _call_off(self, tasks: Sequence[FetchTask]) -> None:
        """Wait for these answers no more; their hosts may have been asked this moment."""
        self.engine.requests.call_off(tasks)
        for task in tasks:
            queue = self.queue_by_task.pop(task)
            queue.wait(queue.delay)

    def read_robots(self, url: str) -> None:
        """Have the robots.txt of an address's host read, where it is obeyed and not known.

        The engine reads it before anything else of a host that the crawl waits for.
        """
        host = self.frontier.host_of(url)
        self.waits_for.setdefault(host, 0.0)
        self.engine.drive(self, is_enough=lambda: self._knows_robots(host))

    def _knows_robots(self, host: int) -> bool:
        return host in self.queues and not self.queues[host].awaits_robots

    def beat(self) -> None:
        """Renew all leases when it is time. Raises what ends the crawl."""
        self.engine.beat()
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Call off what was asked for, close the connections and release the hosts."""
        self.engine.drop(self)
        self._call_off(list(self.queue_by_task))
        for queue in self.queues.values():
            network_loop().call_soon_threadsafe(queue.client.close)
        pauses = {pk: queue.pause_left for pk, queue in self.queues.items()}
        hosts.keep_next_fetches({pk: pause for pk, pause in pauses.items() if pause > 0})
        hosts.release_hosts(job=self.run.job)

    @property
    def max_pages(self) -> float:
        return float(self.run.job.params.get("max_pages") or math.inf)

    @property
    def has_enough(self) -> bool:
        return self.n_visited >= self.max_pages

    @property
    def is_settled(self) -> bool:
        """Return whether nothing is due, or enough was visited, and all answers are stored."""
        if any(queue.tasks or queue.has_errands for queue in self.queues.values()):
            return False
        if self.has_enough:
            return True
        return not self.waits_for and all(queue.is_idle for queue in self.queues.values())

    def begin(self) -> None:
        """Make the entry due, where there is one, and count what an interrupted run left due."""
        self.n_visited = self.run.job.n_done
        entry = self.run.job.params.get("entry")
        if entry:
            self._begin_at(entry)
        due = self.frontier.n_due_by_host()
        self.n_due = sum(due.values())
        self.waits_for = dict.fromkeys(due, 0.0)

    def _begin_at(self, entry: str) -> None:
        with transaction.atomic():
            self.run.renew(message=f"Begin at {entry}")
            self.frontier.retry(entry)
            _, traps = self.frontier.add([LinkTarget(entry, 0)])
            given_entry = self.run.job.params.get("given_entry")
            if given_entry:
                self.frontier.keep_given_url(entry, given_entry)
            self.writer.refuse_all(traps)

    def check_has_pages(self, problem: str) -> None:
        """Raise JobFailed where nothing was visited or made due: no address was one of the site."""
        if not self.n_visited and not Page.objects.filter(crawl=self.run.job).exists():
            raise JobFailed(problem)

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

    # Asking

    def look(self, *, may_ask: bool) -> float:
        """Ask for what may be asked for now; return when to look again though no answer came."""
        self._expect_log_in()
        self._give_way()
        self._open_queues()
        queues = [queue for queue in self.queues.values() if not queue.is_idle]
        for queue in queues:
            self._ask_for_robots(queue)
            self._ask_for_errands(queue)
            self._check_patience(queue)
            self._give_up(queue)
        if may_ask and not self.log_in.is_awaited:
            self._ask(queues)
        moments = [queue.look_at() for queue in queues]
        return min([*moments, *self.waits_for.values()], default=math.inf)

    def _open_queues(self) -> None:
        """Lease the hosts that have due pages and that no other job is fetching from."""
        now = monotonic()
        for pk, again_at in list(self.waits_for.items()):
            if again_at > now:
                continue
            host = Host.objects.get(pk=pk)
            was_left_behind = bool(host.leased_by)
            if hosts.lease_host(host=host, job=self.run.job):
                del self.waits_for[pk]
                self.queues[pk] = self._open_queue(host)
                if was_left_behind:  # by a process that is gone, and may have asked this moment
                    self.queues[pk].wait(self.queues[pk].delay)
                self.queues[pk].errands.extend(self.errands.pop(pk, []))
            elif now > self.patient_until:
                raise HostTaken(f"{host.leased_by or 'another job'} fetches from {host.name}")
            else:
                self.waits_for[pk] = now + RETRY_HOST_SECONDS
                if self.patient_until < math.inf:
                    hosts.want_host(host=host)

    def _give_way(self) -> None:
        """Release the hosts that other jobs wait for once nothing of them is under way."""
        for pk, queue in list(self.queues.items()):
            if queue.may_be_released:
                del self.queues[pk]
                network_loop().call_soon_threadsafe(queue.client.close)
                hosts.release_host(host=queue.host, job=self.run.job)
                self.waits_for[pk] = monotonic() + GIVE_WAY_SECONDS

    def _check_patience(self, queue: HostQueue) -> None:
        """Leave a host out, or raise HostTaken, where it asks for too long a pause."""
        now = monotonic()
        patience = max(MAX_SILENCE_SECONDS, queue.delay, self.patient_until - now)
        if queue.next_at - now > patience and not queue.is_idle:
            moments = [queue.host.next_fetch_at, queue.host.retry_after]
            now_there = timezone.now()
            until = max((moment for moment in moments if moment is not None), default=now_there)
            problem = f"{queue.host.name} asked to be left alone"
            if not self.leaves_out_paused:
                raise HostTaken(problem, until)
            queue.give_up(HostGivenUp.code, f"{problem} until {until:%H:%M} UTC")

    def _open_queue(self, host: Host) -> HostQueue:
        delay = self.run.job.params.get("delay")
        queue = HostQueue(
            host=host,
            base_delay=self.site.crawl_delay if delay is None else float(delay),
            client=open_client(self.session),
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

    def _ask(self, queues: list[HostQueue]) -> None:
        """Start as many requests as each host may get now, in turns."""
        n_left = self.max_pages - self.n_visited - sum(len(queue.tasks) for queue in queues)
        is_going_on = True
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
        job = self.run.job.pk
        refused = queue.refusal_of(page.url) or self._refusal_of_way_out(page.url)
        if refused:
            now = monotonic()
            queue.tasks.append(FetchTask(job, page, refused=refused, ready_at=now, is_ready=True))
        else:
            is_rendered = self.rendered.has(page.url)
            ask = partial(self._visit, queue, page, is_rendered=is_rendered)
            task = FetchTask(job, page, ask=ask)
            queue.tasks.append(task)
            self._send(queue, task)
        return True

    def _ask_for_robots(self, queue: HostQueue) -> None:
        if queue.awaits_robots and not queue.has_asked_for_robots and queue.may_be_asked:
            queue.has_asked_for_robots = True
            ask = partial(read_robots, queue.client, queue.host.name)
            self._send(queue, FetchTask(self.run.job.pk, None, ask=ask))

    def _ask_for_errands(self, queue: HostQueue) -> None:
        """Ask for as many errands as the host may get now."""
        while not self.log_in.is_awaited or (queue.errands and queue.errands[0].is_log_in):
            errand = queue.next_errand()
            if errand is None:
                return
            # Whoever was given an account may use the form, whatever robots.txt says of it.
            refused = None if errand.is_log_in else queue.refusal_of(errand.address)
            task = FetchTask(self.run.job.pk, None, errand, refused=refused)
            if refused:
                self._count(queue, task)
                errand.refuse(refused)
                self.settled_errands.append(errand)
                continue
            is_rendered = errand.is_page and self.rendered.has(errand.address)
            task.ask = partial(self._go_on_errand, queue, errand, is_rendered=is_rendered)
            queue.errands_under_way.add(errand)
            self._send(queue, task)

    async def _go_on_errand(
        self, queue: HostQueue, errand: Errand, *, is_rendered: bool
    ) -> Fetched:
        """Make the request of an errand, on the loop."""
        if errand.is_log_in and self.session is not None and self.session.log_in is not None:
            return await log_in(
                queue.client, self.session, self.session.log_in, site_sessions.call_apart
            )
        request = partial(
            queue.client.fetch,
            errand.address,
            headers=errand.headers,
            max_redirects=0,
            max_bytes=errand.max_bytes,
            seconds=errand.seconds,
            takes=errand.takes,
        )
        if not errand.is_page:
            return await request()
        return await self._fetch_page(errand.address, request, is_rendered=is_rendered)

    def _accept_errand(self, queue: HostQueue, task: FetchTask, errand: Errand) -> None:
        """Hand an answer to whoever asked, or go on: another try, a redirect, after logging in."""
        queue.errands_under_way.discard(errand)
        self._count(queue, task)
        if queue.delay:
            hosts.keep_next_fetches({queue.host.pk: queue.delay})
        if self._mends_log_out(task) or errand.take(task):
            self.send_out([errand])
        else:
            self.settled_errands.append(errand)

    def _count(self, queue: HostQueue, task: FetchTask) -> None:
        """Count what came of an errand where operators see what is asked of a host."""
        hosts.count_answers([HostAnswer(queue.host.pk, task.was_asked, task.n_bytes, task.problem)])

    def _send(self, queue: HostQueue, task: FetchTask) -> None:
        self.queue_by_task[task] = queue
        self.engine.requests.send(task)

    async def _visit(self, queue: HostQueue, page: DuePage, *, is_rendered: bool) -> Fetched:
        """Fetch a page if it has changed, on the loop."""
        request = partial(
            queue.client.fetch,
            page.url,
            headers=page.conditions,
            max_redirects=0,
            takes=takes_page,
        )
        return await self._fetch_page(page.url, request, is_rendered=is_rendered)

    async def _fetch_page(
        self, url: str, request: Callable[[], Coroutine[Any, Any, Fetched]], *, is_rendered: bool
    ) -> Fetched:
        """Make a request as whoever is logged in; a browser draws the page instead."""
        if is_rendered:
            render = partial(
                self.engine.renderer().render, url, takes=takes_page, session=self.session
            )
            answer = await do_with_browser(render)
        else:
            answer = await request()
        if self._form is not None:
            await check_logged_in(answer, self._form, site_sessions.call_apart)
        return answer

    def _give_up(self, queue: HostQueue) -> None:
        """Write off the due pages of a host that cannot be fetched from."""
        if not queue.gives_up_for or queue.tasks or queue.errands_under_way:
            return
        while queue.errands:
            errand = queue.errands.popleft()
            if errand.is_log_in:
                self._end_without_log_in(queue.gives_up_for)
            if not errand.n_tries:  # else what it brought stays
                errand.refuse(HostGivenUp(queue.gives_up_code, queue.gives_up_for))
            self.settled_errands.append(errand)
        with transaction.atomic():
            self.run.renew()
            n_pages = self.frontier.write_off(queue.host, queue.gives_up_code, queue.gives_up_for)
            if n_pages:
                reason = f"{queue.gives_up_for}; {n_pages} known page(s) of it were not fetched"
                self.writer.refuse(queue.host.name, queue.gives_up_code, reason)
        self.n_due -= n_pages
        queue.write_off()

    # Accepting answers

    def accept(self, task: FetchTask) -> None:
        """Take an answer in: what it says of its host, or the host's robots.txt."""
        queue = self.queue_by_task.pop(task)
        task.is_ready = True
        pause = queue.learn_from(task)
        if pause:
            hosts.keep_pause(host=queue.host, until=timezone.now() + pause)
        if task.errand is not None and task.errand.is_log_in:
            self._accept_log_in(queue, task, task.errand)
        elif task.errand is not None:
            self._accept_errand(queue, task, task.errand)
        elif task.page is None:
            self._accept_robots(queue, task)
        elif self._form is not None:
            self._look_for_log_out(task, task.page)

    def _accept_robots(self, queue: HostQueue, task: FetchTask) -> None:
        """Obey a host's robots.txt, or give the host up without one.

        After a failure that may pass nothing is done, so that robots.txt is asked for again.
        """
        queue.has_asked_for_robots = False
        if isinstance(task.answer, RobotsFile):
            hosts.keep_robots(host=queue.host, file=task.answer)
            self._obey(queue)
            queue.wait(queue.delay)  # which was not known when robots.txt was asked for
        elif task.refused is not None and not task.refused.is_transient:
            queue.give_up(task.refused.code, f"{queue.host.name}/robots.txt: {task.refused}")

    # Logging in

    @property
    def _form(self) -> SiteLogIn | None:
        return self.session.log_in if self.session and self.logs_in else None

    def _refusal_of_way_out(self, url: str) -> FetchRefused | None:
        if self._form is None or not leads_out(url):
            return None
        return WayOut("would log out whoever is logged in for this crawl")

    def _expect_log_in(self) -> None:
        """Have somebody logged in before anything else is asked for, where the site needs that."""
        if self.session is None or self._form is None or self.log_in.is_awaited:
            return
        if self.session.is_logged_in or self.is_settled:
            return
        self.log_in.is_awaited = True
        errand = Errand(self._form.url, is_log_in=True)
        host = self.frontier.host_of(errand.url)
        if host in self.queues:
            self.queues[host].errands.appendleft(errand)
        else:
            self.errands.setdefault(host, []).insert(0, errand)
            self.waits_for.setdefault(host, 0.0)

    def _accept_log_in(self, queue: HostQueue, task: FetchTask, errand: Errand) -> None:
        """Go on as somebody who is logged in, try again, or raise JobFailed."""
        if self.session is None:
            raise TypeError("nobody logs in without a session")
        queue.errands_under_way.discard(errand)
        self._count(queue, task)
        self.log_in.is_awaited = False
        if task.refused is None:
            self.log_in.done_at = monotonic()
            self.log_in.n_tries = 0
            site_sessions.keep_log_in(site=self.site, session=self.session)
            return
        self.log_in.n_tries += 1
        if not task.refused.is_transient or self.log_in.n_tries >= MAX_LOG_IN_TRIES:
            self._end_without_log_in(str(task.refused))

    def _look_for_log_out(self, task: FetchTask, page: DuePage) -> None:
        """Give up where pages in a row show nobody logged in, although somebody logged in again."""
        if not task.is_logged_out:
            if isinstance(task.answer, Fetched) and task.answer.body:
                self.log_in.pages_without.clear()
            return
        if self._mends_log_out(task):
            return
        self.log_in.pages_without.add(page.pk)
        if len(self.log_in.pages_without) >= MAX_LOGGED_OUT:
            self._end_without_log_in(
                f"logged out again after logging in anew; {page.url} {task.refused}"
            )

    def _mends_log_out(self, task: FetchTask) -> bool:
        """Return whether nobody was logged in, but somebody is for the next answer.

        For that, somebody logs in again, once.
        """
        if self.session is None or not task.is_logged_out:
            return False
        if task.asked_at < self.log_in.done_at or not self.session.is_logged_in:
            return True  # asked before
        if self.log_in.is_mended:
            return False
        self.log_in.is_mended = True
        self.session.forget_cookies()
        return True

    def _end_without_log_in(self, problem: str) -> None:
        """Record why nobody is logged in: in the job, on the site's page and as a refusal."""
        if self.session is None or self._form is None:
            raise TypeError("nobody logs in without a session")
        site_sessions.keep_log_in_problem(site=self.site, session=self.session, problem=problem)
        self.writer.refuse(self._form.url, "log_in", problem)
        raise NobodyLoggedIn(
            f"nobody is logged in at {self.site.name}: {problem}. What is stored stays; the crawl "
            "can go on from there"
        )

    # What was stored

    def store_by(self) -> float:
        """Return when at the latest the answers should be stored; infinity where there are none."""
        return min((queue.store_by() for queue in self.queues.values()), default=math.inf)

    @property
    def n_held_bytes(self) -> int:
        """Return the size of the answers that came and are not being stored."""
        tasks = (task for queue in self.queues.values() for task in queue.tasks)
        return sum(task.n_bytes for task in tasks if task.is_ready and not task.is_taken)

    def take_ready(self, at_most: int) -> list[tuple[HostQueue, FetchTask]]:
        """Return answers that can be stored, those of each host in the order of asking."""
        ready: list[tuple[HostQueue, FetchTask]] = []
        for queue in self.queues.values():
            ready += [(queue, task) for task in queue.take_ready(at_most - len(ready))]
        return ready

    def progress_with(self, result: BatchResult, n_answers: int) -> JobProgress:
        """Return how far the job is once a batch is stored."""
        n_new = sum(each.n_pages for each in result.newly_due.values())
        n_due = self.n_due + n_new + len(result.retries) - n_answers
        n_done = self.n_visited + result.n_visited
        n_total = int(min(self.max_pages, n_done + max(0, n_due)))
        return JobProgress(self.run, n_done, n_total, self.message())

    def note_stored(self, result: BatchResult, n_answers: int) -> None:
        """Go on from the answers that were taken and are stored, and report their pages."""
        for queue in self.queues.values():
            queue.forget_taken()
        self.n_visited += result.n_visited
        self.n_due += len(result.retries) - n_answers
        for page in result.retries:
            queue = self.queues[self.frontier.host_of(page.url)]
            queue.postpone(page)
        self._expect(result.newly_due)
        for line in result.lines:
            self.run.report(line)

    def _expect(self, newly_due: Mapping[int, NewlyDue]) -> None:
        """Have due pages of these hosts looked for again."""
        for pk, due in newly_due.items():
            self.n_due += due.n_pages
            if pk in self.queues:
                self.queues[pk].refill(due.depth)
            else:
                self.waits_for.setdefault(pk, 0.0)

    def message(self) -> str:
        """Return what is being waited for, else what is being done."""
        now = monotonic()
        waits = [
            f"{queue.host.name} is left alone for {queue.next_at - now:.0f} seconds"
            for queue in self.queues.values()
            if not queue.is_idle and queue.next_at - now > max(queue.delay, MIN_REPORTED_WAIT)
        ]
        if self.log_in.is_awaited and self._form is not None:
            waits.append(f"logs in at {self._form.url}")
        if self.waits_for:
            names = Host.objects.filter(pk__in=self.waits_for).values_list("name", flat=True)
            waits += [f"waits for {name}, from which another job is fetching" for name in names]
        return "; ".join(waits).capitalize() or self.doing
