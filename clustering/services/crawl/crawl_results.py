"""Write down what came back from a site: pages, redirects, refusals and the links to go on with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from django.db.models import Count
from django.utils import timezone

from clustering.fetching.client import Fetched, RedirectRefused
from clustering.fetching.politeness import BUSY
from clustering.models import Page
from clustering.services.crawl.fetch_threads import FetchTask
from clustering.services.crawl.frontier import REFUSING, DuePage, Frontier, LinkTarget, Trap
from clustering.services.pages.pages import (
    FAILED,
    PreparedVisit,
    StoredVisit,
    Visit,
    prepare_visits,
    store_visits,
)
from vertex.core.models import Job, Refusal, Site
from vertex.core.texts import storable

MAX_TRIES: Final = 4  # of a page
MAX_REDIRECTS: Final = 5
MAX_TWINS: Final = 20  # pages with the same bytes whose links are followed
LISTED: Final = 1000  # refusals of one kind that a job lists one by one
NO_CONTENT: Final = frozenset({204, 205})
SERVER_ERROR: Final = 500
ERROR: Final = 400
PAGE_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """What an answer makes of its page."""

    state: Page.State
    code: str = ""
    reason: str = ""
    status: int | None = None
    location: str = ""


class Line(NamedTuple):
    """What is told of a page that was visited."""

    url: str
    status: int | None
    snapshot: str
    reason: str = ""


@dataclass(slots=True)
class BatchResult:
    """What a batch of answers led to."""

    lines: list[Line] = field(default_factory=list)
    n_visited: int = 0
    n_due_by_host: Counter[int] = field(default_factory=Counter)
    again: list[DuePage] = field(default_factory=list)


def takes_page(status: int, content_type: str) -> bool:
    """Say whether a body may be that of a page; one without a type is looked at."""
    return status not in NO_CONTENT and essence(content_type) in PAGE_TYPES | {""}


def essence(content_type: str) -> str:
    """Return a content type without its parameters.

    >>> essence("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def judge(ticket: FetchTask, page: DuePage) -> PageOutcome:
    """Decide what an answer makes of its page; Page.State.DUE means to try again."""
    if ticket.refused is not None:
        code, reason = ticket.refused.code, str(ticket.refused)
        if ticket.refused.is_transient and page.n_tries + 1 < MAX_TRIES:
            return PageOutcome(Page.State.DUE, code, reason)
        return PageOutcome(
            Page.State.REFUSED if code in REFUSING else Page.State.FAILED, code, reason
        )
    answer = ticket.answer
    if not isinstance(answer, Fetched):
        raise TypeError(f"{page.url} has no answer")
    if answer.status in BUSY or answer.status >= SERVER_ERROR:
        state = Page.State.DUE if page.n_tries + 1 < MAX_TRIES else Page.State.FAILED
        return PageOutcome(state, "status", f"answers {answer.status}", answer.status)
    return _judge_answer(answer)


def _judge_answer(answer: Fetched) -> PageOutcome:
    try:
        location = answer.location
    except RedirectRefused as error:
        return PageOutcome(Page.State.REFUSED, "redirect", str(error), answer.status)
    if location:
        return PageOutcome(Page.State.REDIRECTED, status=answer.status, location=location)
    why_not = _why_no_page(answer)
    return PageOutcome(
        Page.State.SKIPPED if why_not else Page.State.STORED, "", why_not, answer.status
    )


def _why_no_page(answer: Fetched) -> str:
    if answer.status in NO_CONTENT or 300 <= answer.status < ERROR:
        return f"answers {answer.status} without a page"
    if not takes_page(answer.status, answer.content_type):
        return f"is {essence(answer.content_type)[:80]}, not HTML"
    if not answer.content_type and b"<" not in answer.body[:1024]:
        return "has no content type and does not look like HTML"
    return ""


@dataclass(slots=True)
class CrawlWriter:
    """The writer of one crawl's results. `prepare` outside a transaction, then `store` within one."""

    job: Job
    site: Site
    frontier: Frontier
    follows_links: bool = True  # without, only redirects are
    _n_refused_by_code: Counter[str] = field(default_factory=Counter)

    def prepare(self, tickets: Sequence[FetchTask]) -> PreparedBatch:
        """Judge answers and parse the pages among them; their bodies go into the page store."""
        judged = [
            (ticket, ticket.page, judge(ticket, ticket.page)) for ticket in tickets if ticket.page
        ]
        pages = [
            (ticket, page) for ticket, page, verdict in judged if verdict.state == Page.State.STORED
        ]
        visits = prepare_visits([_visit_of(ticket, page) for ticket, page in pages])
        return PreparedBatch(judged, visits)

    def store(self, prepared: PreparedBatch) -> BatchResult:
        """Write everything down, inside the caller's transaction."""
        noted = BatchResult()
        stored = {
            visit.url: visit
            for visit in store_visits(site=self.site, prepared=prepared.visits, job=self.job)
        }
        self._settle(prepared, stored)
        followed = self._worth_following(stored.values()) if self.follows_links else set()
        found: list[LinkTarget] = []
        for ticket, page, verdict in prepared.judged:
            if verdict.state == Page.State.STORED:
                visit = stored[page.url]
                noted.lines.append(Line(page.url, verdict.status, visit.snapshot, visit.reason))
                if visit.page_id in followed and (verdict.status or 0) < ERROR:
                    found += [
                        LinkTarget(link.url, link.written, page.depth + 1) for link in visit.links
                    ]
            else:
                found += self._store_other(ticket, page, verdict, noted)
            noted.n_visited += _counts(ticket, page, verdict)
        noted.n_due_by_host, traps = self.frontier.add(found)
        self._link_redirects(prepared.judged)
        self.refuse_all(traps)
        return noted

    def refuse_all(self, traps: Iterable[Trap]) -> None:
        """Write rows of addresses that are not followed."""
        for trap in traps:
            self.refuse(trap.url, trap.code, trap.reason)

    def refuse(self, subject: str, code: str, reason: str) -> None:
        """Write a row that an operator reads; of one kind no more than the first thousand."""
        self._n_refused_by_code[code] += 1
        if self._n_refused_by_code[code] > LISTED:
            return
        if self._n_refused_by_code[code] == LISTED:
            reason = f"{reason} (further ones of this kind are not listed)"
        Refusal.objects.create(
            site=self.site,
            job=self.job,
            subject=storable(subject),
            code=code[:40],
            reason=storable(reason, 500),
        )

    def _settle(self, prepared: PreparedBatch, stored: Mapping[str, StoredVisit]) -> None:
        """Take every visited page off the frontier, also one whose last visit claims to be of the future."""
        for state, has_failed in ((Page.State.STORED, False), (Page.State.FAILED, True)):
            pks = [
                page.pk
                for _, page, verdict in prepared.judged
                if verdict.state == Page.State.STORED
                and (stored[page.url].snapshot == FAILED) == has_failed
            ]
            Page.objects.filter(pk__in=pks, state=Page.State.DUE).update(state=state)

    def _worth_following(self, stored: Iterable[StoredVisit]) -> set[int]:
        """Return the pages whose links to follow: not those of many that all have the same bytes."""
        visit_by_page = {visit.page_id: visit for visit in stored if visit.page_id is not None}
        rows = Page.objects.filter(pk__in=visit_by_page).values_list("pk", "latest_snapshot__body")
        body_by_page = {pk: body or "" for pk, body in rows}
        n_by_body = self._n_pages_by_body(set(body_by_page.values()))
        n_here = Counter(body_by_page.values())
        followed = set()
        for pk, visit in visit_by_page.items():
            body = body_by_page[pk]
            n_before = n_by_body[body] - n_here[body]
            n_here[body] -= 1
            if n_before < MAX_TWINS:
                followed.add(pk)
            else:
                self.refuse(
                    visit.url,
                    "same_bytes",
                    f"{n_before} pages have the same bytes: no link followed",
                )
        return followed

    def _n_pages_by_body(self, bodies: set[str]) -> Counter[str]:
        rows = (
            Page.objects.filter(crawl=self.job, latest_snapshot__body__in=bodies)
            .exclude(state=Page.State.DUE)
            .values_list("latest_snapshot__body")
            .annotate(n=Count("pk"))
        )
        return Counter(dict(rows))

    def _store_other(
        self, ticket: FetchTask, page: DuePage, verdict: PageOutcome, noted: BatchResult
    ) -> list[LinkTarget]:
        """Write down an answer that is no page; return where it leads."""
        verdict = self._checked_redirect(page, verdict)
        if verdict.state == Page.State.DUE:
            Page.objects.filter(pk=page.pk).update(
                n_tries=page.n_tries + 1, reason=storable(verdict.reason, 300)
            )
            noted.again.append(replace(page, n_tries=page.n_tries + 1))
            return []
        changes = {"visited_at": timezone.now()} if ticket.was_asked else {}
        Page.objects.filter(pk=page.pk).update(
            state=verdict.state,
            status=verdict.status,
            reason=storable(_told(verdict), 300),
            n_tries=page.n_tries + 1,
            **changes,
        )
        if verdict.state in {Page.State.REFUSED, Page.State.FAILED}:
            self.refuse(page.url, verdict.code, verdict.reason)
        if verdict.state == Page.State.FAILED:
            noted.lines.append(Line(page.url, verdict.status, FAILED, verdict.reason))
        if verdict.state != Page.State.REDIRECTED:
            return []
        # Where the entry leads is an entry too; any other step counts like a link.
        return [LinkTarget(verdict.location, verdict.location, page.depth + 1 if page.depth else 0)]

    def _checked_redirect(self, page: DuePage, verdict: PageOutcome) -> PageOutcome:
        """Refuse a redirect that leaves the site, turns in a circle or is one of too many."""
        if verdict.state != Page.State.REDIRECTED:
            return verdict
        problem = ""
        if not self.frontier.has_place_for(verdict.location):
            problem = f"redirects to another site: {verdict.location}"
        elif verdict.location in (before := self._redirected_from(page)):
            problem = f"redirects in a circle, to {verdict.location}"
        elif len(before) > MAX_REDIRECTS:
            problem = f"is the last of more than {MAX_REDIRECTS} redirects in a row"
        if not problem:
            return verdict
        return replace(verdict, state=Page.State.REFUSED, code="redirect", reason=problem)

    def _redirected_from(self, page: DuePage) -> list[str]:
        """Return the pages that led here by redirects, this one first."""
        before = [page.url]
        last = page.pk
        while len(before) <= MAX_REDIRECTS:
            step = (
                Page.objects.filter(redirects_to=last, crawl=self.job)
                .values_list("pk", "url")
                .first()
            )
            if step is None or step[1] in before:
                break
            last = step[0]
            before.append(step[1])
        return before

    def _link_redirects(self, judged: Iterable[tuple[FetchTask, DuePage, PageOutcome]]) -> None:
        leading = {page.pk: verdict.location for _, page, verdict in judged if verdict.location}
        ids = self.frontier.ids_of(set(leading.values())) if leading else {}
        for pk, location in leading.items():
            Page.objects.filter(pk=pk, state=Page.State.REDIRECTED).update(
                redirects_to=ids.get(location)
            )


@dataclass(slots=True)
class PreparedBatch:
    """CrawlWriter that only need to be written down."""

    judged: list[tuple[FetchTask, DuePage, PageOutcome]]
    visits: list[PreparedVisit]


def _visit_of(ticket: FetchTask, page: DuePage) -> Visit:
    answer = ticket.answer
    if not isinstance(answer, Fetched):
        raise TypeError(f"{page.url} has no answer")
    return Visit(
        url=page.url,
        body=answer.body,
        fetched_at=answer.fetched_at,
        status=answer.status,
        content_type=answer.content_type[:200],
        final_url=answer.final_url,
        is_rendered=answer.is_rendered,
    )


def _counts(ticket: FetchTask, page: DuePage, verdict: PageOutcome) -> int:
    """Say how many of the allowed pages this was: one that was asked for, and not for another try.

    A redirect of the entry is none.
    """
    if not ticket.was_asked or verdict.state == Page.State.DUE:
        return 0
    return int(not (verdict.state == Page.State.REDIRECTED and page.depth == 0))


def _told(verdict: PageOutcome) -> str:
    return (
        f"redirects to {verdict.location}"
        if verdict.state == Page.State.REDIRECTED
        else verdict.reason
    )
