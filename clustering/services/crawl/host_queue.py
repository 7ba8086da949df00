"""A crawl's requests to one host: which page is next, how many at once, how long to wait."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from operator import attrgetter
from time import monotonic
from typing import Final

from django.utils import timezone

from clustering.fetching.client import Client, Fetched
from clustering.fetching.politeness import BUSY, back_off, pause_asked
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.robots import (
    MAX_CRAWL_DELAY,
    MAX_RULES,
    MAX_WILDCARDS,
    Robots,
    RobotsDisallow,
    RobotsUnavailable,
)
from clustering.models import Host
from clustering.services.crawl.fetch_tasks import Errand, FetchTask
from clustering.services.crawl.frontier import DuePage, Frontier

MAX_CONNECTIONS: Final = 8  # at once, to a host that asks for no pause between requests
MAX_UNSTORED: Final = 256  # pages requested or answered, but not yet stored
ROWS_READ_AHEAD: Final = 64
FULL_BATCH: Final = 32  # answers of a host that are stored without a wait for more
# Seconds that an answer waits while others of its host are on their way.
MAX_HOLD_AT_WORK: Final = 0.2
MAX_HOLD: Final = 2.0  # … and while the host is left alone anyway
MAX_FAILURES: Final = 8  # in a row, of a host that has answered before
MAX_FAILURES_EARLY: Final = 3  # of one that never did
# Refusals of one page that hold for all pages of its host.
HOST_REFUSALS: Final = frozenset({"address", "dns", "tls", "no_browser", "proxy"})


class HostGivenUp(FetchRefused):
    """The host is not asked any more: it refused as a whole, or failed too often in a row."""

    code = "silent"

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        if code in HOST_REFUSALS or code == RobotsUnavailable.code:
            self.code = code


@dataclass(slots=True, eq=False)
class HostQueue:
    """One host during a crawl. Pages are stored in the order in which they were requested."""

    host: Host
    base_delay: float
    client: Client
    robots: Robots | None = None
    awaits_robots: bool = False
    next_at: float = 0.0
    tasks: deque[FetchTask] = field(default_factory=deque)
    has_asked_for_robots: bool = False
    errands: deque[Errand] = field(default_factory=deque)  # to be asked for
    errands_under_way: set[Errand] = field(default_factory=set)
    gives_way: bool = False  # another job waits for the host: nothing more is asked for
    gives_up_for: str = ""
    gives_up_code: str = ""
    has_answered: bool = False
    _loaded: deque[DuePage] = field(default_factory=deque)
    _may_have_due: bool = True
    _rests_until: dict[int, float] = field(default_factory=dict)
    _n_strikes: int = 0
    _struck_at: float = 0.0

    def __post_init__(self) -> None:
        """Keep the pauses that the host asked an earlier crawl for."""
        for moment in (self.host.retry_after, self.host.next_fetch_at):
            if moment is not None:
                self.wait((moment - timezone.now()).total_seconds())

    @property
    def delay(self) -> float:
        """Return the seconds between requests: the site's own, or more if robots.txt asks so."""
        crawl_delay = self.robots.crawl_delay if self.robots else 0.0
        return max(self.base_delay, min(crawl_delay, MAX_CRAWL_DELAY))

    @property
    def pause_left(self) -> float:
        """Return the seconds of the pause between two requests that are left; 0 or less: none."""
        return min(self.delay, self.next_at - monotonic())

    @property
    def is_asked_to_be_slower(self) -> bool:
        """Return whether robots.txt asks for a longer pause than is kept."""
        return self.robots is not None and self.robots.crawl_delay > max(
            MAX_CRAWL_DELAY, self.base_delay
        )

    @property
    def n_outstanding(self) -> int:
        return sum(not task.is_ready for task in self.tasks)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is left to do here."""
        is_at_work = self.tasks or self.has_errands
        return not (is_at_work or self._loaded or self._may_have_due or self._rests_until)

    @property
    def has_errands(self) -> bool:
        return bool(self.errands or self.errands_under_way)

    def wait(self, seconds: float) -> None:
        """Request nothing during these seconds."""
        self.next_at = max(self.next_at, monotonic() + seconds)

    def refill(self, depth: int = 0) -> None:
        """Look for due pages again: new ones of this depth may come before those read ahead."""
        if not self._loaded or self._loaded[-1].depth >= depth:
            self._loaded.clear()
        self._may_have_due = True

    def store_by(self) -> float:
        """Return when at the latest the answers should be stored; infinity where there are none.

        Answers of many hosts are cheaper to store together, and a host that is asked every few
        seconds loses nothing by that.
        """
        ready = self.ready_tasks
        if not ready:
            return math.inf
        if len(ready) >= FULL_BATCH:
            return 0.0
        first_ready_at = ready[0].ready_at
        if self.n_outstanding:
            return first_ready_at + MAX_HOLD_AT_WORK
        return min(self.next_at, first_ready_at + MAX_HOLD)

    def look_at(self) -> float:
        """Return when something may be asked for without an answer before that; infinity: never."""
        moments = [self.next_at, *self._rests_until.values()]
        now = monotonic()
        return min((moment for moment in moments if moment > now), default=math.inf)

    def postpone(self, page: DuePage) -> None:
        """Leave a page alone for a while that grows with its tries."""
        self._rests_until[page.pk] = monotonic() + back_off(page.n_tries, first=1.0)
        self.refill()

    def next_page(self, frontier: Frontier) -> DuePage | None:
        """Return the page to request now, None without one or while the host needs a pause."""
        n_at_once = 1 if self.delay else MAX_CONNECTIONS
        if self.awaits_robots or self.has_errands or not self.may_be_asked:
            return None  # errands come first: a sitemap tells of pages
        if self.n_outstanding >= n_at_once or len(self.tasks) >= MAX_UNSTORED:
            return None
        self._load(frontier)
        if not self._loaded or self._is_too_early(self._loaded[0]):
            return None
        return self._loaded.popleft()

    def next_errand(self) -> Errand | None:
        """Return the errand to go on now, None without one or while the host needs a pause.

        Nothing else is on its way while somebody logs in; a host that has not answered yet is asked
        once at a time.
        """
        if not self.errands or self.awaits_robots or self.n_outstanding or not self.may_be_asked:
            return None
        is_alone = self.errands[0].is_log_in or self.delay or not self.has_answered
        if len(self.errands_under_way) >= (1 if is_alone else MAX_CONNECTIONS):
            return None
        return self.errands.popleft()

    @property
    def may_be_asked(self) -> bool:
        return monotonic() >= self.next_at and not (self.gives_up_for or self.gives_way)

    @property
    def may_be_released(self) -> bool:
        """Return whether another job waits for the host and nothing of it is under way here."""
        is_at_work = self.tasks or self.has_errands or self.has_asked_for_robots
        return self.gives_way and not is_at_work

    def refusal_of(self, url: str) -> RobotsDisallow | None:
        """Return why the host does not want this address fetched, or None."""
        if self.robots is None or self.robots.allows(url):
            return None
        if self.robots.is_too_large:
            return RobotsDisallow(
                f"{self.host.name}/robots.txt has more than {MAX_RULES:,} rules or "
                f"{MAX_WILDCARDS:,} wildcards, so it is taken to disallow everything"
            )
        return RobotsDisallow(f"{self.host.name}/robots.txt disallows it")

    def learn_from(self, task: FetchTask) -> timedelta | None:
        """Record whether an answer shows trouble; return the pause that the host asked for."""
        self.next_at = max(self.next_at, task.ready_at + self.delay)
        answer = task.answer if isinstance(task.answer, Fetched) else None
        is_busy = answer is not None and answer.status in BUSY
        is_refused = task.refused is not None and task.refused.is_transient
        is_trouble = is_busy or (is_refused and not task.is_logged_out)
        if not is_trouble:
            if task.refused is not None and task.refused.code in HOST_REFUSALS:
                self.give_up(task.refused.code, str(task.refused))
            self._n_strikes = 0
            self.has_answered = self.has_answered or task.refused is None
            return None
        pause = pause_asked(_retry_after(task), datetime.now(UTC))
        self._strike(task, pause)
        return pause

    def give_up(self, code: str, reason: str) -> None:
        """Request nothing of this host any more in this crawl."""
        self.gives_up_code, self.gives_up_for = code, reason

    def write_off(self) -> None:
        """Forget the pages that are not requested any more."""
        self._loaded.clear()
        self._rests_until.clear()
        self._may_have_due = False

    def take_ready(self, at_most: int) -> list[FetchTask]:
        """Return tasks that could be stored now; they stay here until they are."""
        tasks = self.ready_tasks[:at_most]
        for task in tasks:
            task.is_taken = True
        return tasks

    def forget_taken(self) -> None:
        """Remove the tasks that were stored: those that were taken."""
        while self.tasks and self.tasks[0].is_taken:
            self.tasks.popleft()

    @property
    def ready_tasks(self) -> list[FetchTask]:
        """Return the tasks that are ready with all before them, but for those being stored."""
        ready = takewhile(attrgetter("is_ready"), self.tasks)
        return [task for task in ready if not task.is_taken]

    def _strike(self, task: FetchTask, pause: timedelta | None) -> None:
        if pause is not None:
            self.wait(pause.total_seconds())
        if task.asked_at < self._struck_at:
            return  # asked before the host was seen to be in trouble: the same trouble
        self._n_strikes += 1
        self._struck_at = monotonic()
        self.wait(back_off(self._n_strikes))
        if self._n_strikes >= (MAX_FAILURES if self.has_answered else MAX_FAILURES_EARLY):
            code, trouble = _trouble_of(task)
            reason = f"{self.host.name} failed {self._n_strikes} times in a row: {trouble}"
            self.give_up(code, reason)

    def _load(self, frontier: Frontier) -> None:
        now = monotonic()
        rested = [pk for pk, until in self._rests_until.items() if until <= now]
        for pk in rested:
            del self._rests_until[pk]
        if rested:
            self._loaded.clear()
            self._may_have_due = True
        if self._loaded or not self._may_have_due:
            return
        busy = {task.page.pk for task in self.tasks if task.page} | self._rests_until.keys()
        self._loaded.extend(frontier.due(self.host.pk, without=busy, limit=ROWS_READ_AHEAD))
        self._may_have_due = bool(self._loaded)

    def _is_too_early(self, page: DuePage) -> bool:
        """Return whether nearer pages are unstored: they may lead to pages that come before."""
        return bool(self.tasks and self.tasks[0].page and page.depth > self.tasks[0].page.depth)


def _retry_after(task: FetchTask) -> str:
    if isinstance(task.answer, Fetched):
        return task.answer.headers.get("retry-after", "")
    return task.refused.retry_after if isinstance(task.refused, RobotsUnavailable) else ""


def _trouble_of(task: FetchTask) -> tuple[str, str]:
    """Return what was wrong with an answer: a word and a sentence."""
    if task.refused is not None:
        return task.refused.code, str(task.refused)
    return "status", f"answers {task.answer.status}" if task.answer else "no answer"
