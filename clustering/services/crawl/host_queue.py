"""A crawl's way through one host: what is asked for, how many at once, and how long to wait."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final

from django.utils import timezone

from clustering.fetching.client import Fetched, Fetcher
from clustering.fetching.politeness import BUSY, back_off, pause_asked
from clustering.fetching.robots import MAX_CRAWL_DELAY, Robots, RobotsDisallow, RobotsUnavailable
from clustering.models import Host
from clustering.services.crawl.fetch_threads import FetchTask, FetchThreads
from clustering.services.crawl.frontier import DuePage, Frontier

CONNECTIONS: Final = 8  # at once, to a host that asks for no pause between requests
WINDOW: Final = 256  # pages asked for or answered, but not yet stored
LOADED: Final = 64  # rows read ahead
GIVE_UP_AFTER: Final = 8  # failures in a row of a host that has answered before
GIVE_UP_EARLY: Final = 3  # of one that never did
OF_THE_WHOLE_HOST: Final = frozenset(
    {"address", "dns", "tls", "no_browser"}
)  # what is refused to one page is to all


@dataclass(slots=True, eq=False)
class HostQueue:
    """One host during a crawl. Pages are stored in the order in which they were asked for."""

    host: Host
    base_delay: float
    fetcher: Fetcher
    visitors: FetchThreads
    robots: Robots | None = None
    awaits_robots: bool = False
    next_at: float = 0.0
    tickets: deque[FetchTask] = field(default_factory=deque)
    has_asked_for_robots: bool = False
    gives_up_for: str = ""
    gives_up_code: str = ""
    has_answered: bool = False
    _loaded: deque[DuePage] = field(default_factory=deque)
    _may_have_due: bool = True
    _rests_until: dict[int, float] = field(default_factory=dict)
    _n_strikes: int = 0
    _struck_at: float = 0.0

    def __post_init__(self) -> None:
        """Keep to what an earlier crawl was told by the host."""
        for moment in (self.host.retry_after, self.host.next_fetch_at):
            if moment is not None:
                self.wait((moment - timezone.now()).total_seconds())

    @property
    def delay(self) -> float:
        """Return the seconds between two requests: the site's own, or more if robots.txt asks for it."""
        asked = self.robots.crawl_delay if self.robots else 0.0
        return max(self.base_delay, min(asked, MAX_CRAWL_DELAY))

    @property
    def is_asked_to_be_slower(self) -> bool:
        """Say whether robots.txt asks for a longer pause than is kept."""
        return self.robots is not None and self.robots.crawl_delay > max(
            MAX_CRAWL_DELAY, self.base_delay
        )

    @property
    def n_outstanding(self) -> int:
        return sum(not ticket.is_ready for ticket in self.tickets)

    @property
    def n_bytes(self) -> int:
        """Return the size of the bodies that wait to be stored."""
        bodies = (
            ticket.answer.body for ticket in self.tickets if isinstance(ticket.answer, Fetched)
        )
        return sum(map(len, bodies))

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is left to do here."""
        return not (self.tickets or self._loaded or self._may_have_due or self._rests_until)

    def wait(self, seconds: float) -> None:
        """Ask for nothing during these seconds."""
        self.next_at = max(self.next_at, monotonic() + seconds)

    def refill(self) -> None:
        """Look for due pages again, since new ones may stand before those that were read ahead."""
        self._loaded.clear()
        self._may_have_due = True

    def rest(self, page: DuePage) -> None:
        """Leave a page alone for a while that grows with its tries."""
        self._rests_until[page.pk] = monotonic() + back_off(page.n_tries, first=1.0)
        self.refill()

    def next_page(self, frontier: Frontier) -> DuePage | None:
        """Return the page to ask for now, if there is one."""
        n_at_once = 1 if self.delay else CONNECTIONS
        if self.awaits_robots or not self.may_be_asked:
            return None
        if self.n_outstanding >= n_at_once or len(self.tickets) >= WINDOW:
            return None
        self._load(frontier)
        if not self._loaded or self._is_too_early(self._loaded[0]):
            return None
        return self._loaded.popleft()

    @property
    def may_be_asked(self) -> bool:
        return monotonic() >= self.next_at and not self.gives_up_for

    def refusal_of(self, url: str) -> RobotsDisallow | None:
        """Return why the host does not want this address fetched, or None."""
        if self.robots is None or self.robots.allows(url):
            return None
        return RobotsDisallow(f"{self.host.name}/robots.txt disallows it")

    def note(self, ticket: FetchTask) -> timedelta | None:
        """Learn from an answer how the host is; return the pause that it asked for."""
        self.next_at = max(self.next_at, ticket.ready_at + self.delay)
        answer = ticket.answer if isinstance(ticket.answer, Fetched) else None
        is_busy = answer is not None and answer.status in BUSY
        is_trouble = is_busy or (ticket.refused is not None and ticket.refused.is_transient)
        if not is_trouble:
            if ticket.refused is not None and ticket.refused.code in OF_THE_WHOLE_HOST:
                self.give_up(ticket.refused.code, str(ticket.refused))
            self._n_strikes = 0
            self.has_answered = self.has_answered or ticket.refused is None
            return None
        pause = pause_asked(_retry_after(ticket), datetime.now(UTC))
        self._strike(ticket, pause)
        return pause

    def give_up(self, code: str, reason: str) -> None:
        """Ask for nothing of this host any more in this crawl."""
        self.gives_up_code, self.gives_up_for = code, reason

    def write_off(self) -> None:
        """Forget the pages that are not asked for any more."""
        self._loaded.clear()
        self._rests_until.clear()
        self._may_have_due = False

    def take_ready(self) -> list[FetchTask]:
        """Take out the tickets that are ready and whose predecessors are."""
        taken = []
        while self.tickets and self.tickets[0].is_ready:
            taken.append(self.tickets.popleft())
        return taken

    @property
    def n_ready(self) -> int:
        """Count the tickets that could be stored now."""
        n = 0
        for ticket in self.tickets:
            if not ticket.is_ready:
                break
            n += 1
        return n

    def _strike(self, ticket: FetchTask, pause: timedelta | None) -> None:
        if pause is not None:
            self.wait(pause.total_seconds())
        if ticket.asked_at < self._struck_at:
            return  # asked before the host was seen to be in trouble: the same trouble
        self._n_strikes += 1
        self._struck_at = monotonic()
        self.wait(back_off(self._n_strikes))
        if self._n_strikes >= (GIVE_UP_AFTER if self.has_answered else GIVE_UP_EARLY):
            code, told = _trouble_of(ticket)
            self.give_up(code, f"{self.host.name} failed {self._n_strikes} times in a row: {told}")

    def _load(self, frontier: Frontier) -> None:
        now = monotonic()
        rested = [pk for pk, until in self._rests_until.items() if until <= now]
        for pk in rested:
            del self._rests_until[pk]
        if rested:
            self.refill()
        if self._loaded or not self._may_have_due:
            return
        busy = {ticket.page.pk for ticket in self.tickets if ticket.page} | self._rests_until.keys()
        self._loaded.extend(frontier.due(self.host.pk, without=busy, limit=LOADED))
        self._may_have_due = bool(self._loaded)

    def _is_too_early(self, page: DuePage) -> bool:
        """Say whether nearer pages are not stored yet: they may lead to pages that come before this one."""
        return bool(
            self.tickets and self.tickets[0].page and page.depth > self.tickets[0].page.depth
        )


def _retry_after(ticket: FetchTask) -> str:
    if isinstance(ticket.answer, Fetched):
        return ticket.answer.headers.get("retry-after", "")
    return ticket.refused.retry_after if isinstance(ticket.refused, RobotsUnavailable) else ""


def _trouble_of(ticket: FetchTask) -> tuple[str, str]:
    """Return what was wrong with an answer: a word and a sentence."""
    if ticket.refused is not None:
        return ticket.refused.code, str(ticket.refused)
    return "status", f"answers {ticket.answer.status}" if ticket.answer else "no answer"
