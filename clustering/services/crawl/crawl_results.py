"""Store what came back from a site: pages, redirects, refusals and the links to follow next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db.models import Count
from django.utils import timezone

from clustering.dom.addresses import address_keys
from clustering.dom.links import FoundLink
from clustering.fetching.client import Fetched, RedirectRefused
from clustering.fetching.politeness import BUSY
from clustering.models import Page
from clustering.services.crawl.fetch_tasks import FetchTask
from clustering.services.crawl.frontier import (
    ERROR,
    REFUSING,
    DuePage,
    Frontier,
    LinkTarget,
    NewlyDue,
    Trap,
    make_due,
)
from clustering.services.pages.pages import (
    FAILED,
    PreparedVisit,
    Preparing,
    SiteVisits,
    StoredVisit,
    Visit,
    note_unchanged,
    prepare_visits,
    store_visits_of_sites,
)
from vertex.core.models import Job, Refusal, Site
from vertex.core.texts import storable

MAX_TRIES: Final = 4  # of a page
MAX_REDIRECTS: Final = 5
MAX_TWINS: Final = 20  # pages with the same bytes whose links are followed
MAX_LISTED: Final = 1000  # refusals of one kind that a job lists one by one
MAX_SUBJECT: Final = 4_000  # characters of what was refused
NOT_MODIFIED: Final = 304
NO_CONTENT: Final = frozenset({204, 205})
SERVER_ERROR: Final = 500
PAGE_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """The state that an answer gives its page, with the reason."""

    state: Page.State
    code: str = ""
    reason: str = ""
    status: int | None = None
    location: str = ""
    is_unchanged: bool = False  # the host says so, and sent nothing


class CrawlLine(NamedTuple):
    """What a crawl reports of a page that it visited."""

    url: str
    status: int | None
    snapshot: str
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the line as commands write it; a reason only where there is one."""
        line: dict[str, Any] = {
            **address_keys(self.url),
            "status": self.status,
            "snapshot": self.snapshot,
        }
        if self.reason:
            line["reason"] = self.reason
        return line


@dataclass(slots=True)
class BatchResult:
    """What storing one batch changed."""

    lines: list[CrawlLine] = field(default_factory=list)
    n_visited: int = 0
    newly_due: dict[int, NewlyDue] = field(default_factory=dict)  # by host
    retries: list[DuePage] = field(default_factory=list)


def takes_page(status: int, content_type: str) -> bool:
    """Return whether a body may be that of a page; one without a type is read to find out."""
    return status not in NO_CONTENT and essence(content_type) in PAGE_TYPES | {""}


def essence(content_type: str) -> str:
    """Return a content type without its parameters.

    >>> essence("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def judge(task: FetchTask, page: DuePage) -> PageOutcome:
    """Return what an answer makes of its page; Page.State.DUE means to try again."""
    if task.refused is not None:
        code, reason = task.refused.code, str(task.refused)
        if task.refused.is_transient and page.n_tries + 1 < MAX_TRIES:
            return PageOutcome(Page.State.DUE, code, reason)
        state = Page.State.REFUSED if code in REFUSING else Page.State.FAILED
        return PageOutcome(state, code, reason)
    answer = task.answer
    if not isinstance(answer, Fetched):
        raise TypeError(f"{page.url} has no answer")
    if answer.status in BUSY or answer.status >= SERVER_ERROR:
        state = Page.State.DUE if page.n_tries + 1 < MAX_TRIES else Page.State.FAILED
        return PageOutcome(state, "status", f"answers {answer.status}", answer.status)
    if answer.status == NOT_MODIFIED and page.conditions:
        return PageOutcome(Page.State.STORED, status=answer.status, is_unchanged=True)
    return _judge_answer(answer)


def _judge_answer(answer: Fetched) -> PageOutcome:
    try:
        location = answer.location
    except RedirectRefused as error:
        return PageOutcome(Page.State.REFUSED, "redirect", str(error), answer.status)
    if location:
        return PageOutcome(Page.State.REDIRECTED, status=answer.status, location=location)
    reason = _why_no_page(answer)
    state = Page.State.SKIPPED if reason else Page.State.STORED
    return PageOutcome(state, reason=reason, status=answer.status)


def _why_no_page(answer: Fetched) -> str:
    """Return why an answer is no page, blank where it is one."""
    if answer.status in NO_CONTENT or 300 <= answer.status < ERROR:
        return f"answers {answer.status} without a page"
    if not takes_page(answer.status, answer.content_type):
        return f"is {essence(answer.content_type)[:80]}, not HTML"
    if not answer.content_type and b"<" not in answer.body[:1024]:
        return "has no content type and does not look like HTML"
    return ""


@dataclass(slots=True)
class CrawlWriter:
    """Write what one crawl brought.

    `prepare_answers` and `store_answers` do it for several at once.
    """

    job: Job
    site: Site
    frontier: Frontier
    follows_links: bool = True  # without, only redirects are
    leads_on: Callable[[FoundLink], bool] | None = None  # which links are followed; None: all
    _n_refused_by_code: Counter[str] = field(default_factory=Counter)

    def refuse_all(self, traps: Iterable[Trap]) -> None:
        """Save a refusal for each address that is not followed."""
        for trap in traps:
            self.refuse(trap.url, trap.code, trap.reason)

    def refuse(self, subject: str, code: str, reason: str) -> None:
        """Save a refusal for the operator; of one kind no more than the first thousand."""
        self._n_refused_by_code[code] += 1
        if self._n_refused_by_code[code] > MAX_LISTED:
            return
        if self._n_refused_by_code[code] == MAX_LISTED:
            reason = f"{reason} (further ones of this kind are not listed)"
        Refusal.objects.create(
            site=self.site,
            job=self.job,
            subject=storable(subject, MAX_SUBJECT),
            code=code[:40],
            reason=storable(reason, 500),
        )

    def store_judged(
        self,
        prepared: PreparedAnswers,
        stored: Mapping[str, StoredVisit],
        followed: Collection[int],
        result: BatchResult,
    ) -> list[LinkTarget]:
        """Store the answers that are no pages; return where all of them lead, in their order."""
        targets: list[LinkTarget] = []
        for task, page, outcome in prepared.judged:
            if outcome.state == Page.State.STORED:
                visit = stored[page.url]
                result.lines.append(
                    CrawlLine(
                        page.given_url,
                        visit.status or outcome.status,
                        visit.snapshot,
                        visit.reason,
                    )
                )
                if visit.page_id in followed and (outcome.status or 0) < ERROR:
                    targets += [
                        LinkTarget(link.url, page.depth + 1)
                        for link in visit.links
                        if self.leads_on is None or self.leads_on(link)
                    ]
            else:
                targets += self._store_other(task, page, outcome, result)
            result.n_visited += _counts(task, page, outcome)
        return targets

    def _store_other(
        self, task: FetchTask, page: DuePage, outcome: PageOutcome, result: BatchResult
    ) -> list[LinkTarget]:
        """Store an answer that is no page; return where it leads."""
        outcome = self._checked_redirect(page, outcome)
        if outcome.state == Page.State.DUE:
            Page.objects.filter(pk=page.pk).update(
                n_tries=page.n_tries + 1, reason=storable(outcome.reason, 300)
            )
            result.retries.append(replace(page, n_tries=page.n_tries + 1))
            return []
        changes = {"visited_at": timezone.now()} if task.was_asked else {}
        Page.objects.filter(pk=page.pk).update(
            state=outcome.state,
            status=outcome.status,
            reason=storable(_reason_of(outcome), 300),
            n_tries=page.n_tries + 1,
            **changes,
        )
        if outcome.state in {Page.State.REFUSED, Page.State.FAILED}:
            self.refuse(page.url, outcome.code, outcome.reason)
        if outcome.state == Page.State.FAILED:
            result.lines.append(CrawlLine(page.given_url, outcome.status, FAILED, outcome.reason))
        if outcome.state != Page.State.REDIRECTED:
            return []
        # Where the entry leads is an entry too; any other step counts like a link.
        return [LinkTarget(outcome.location, page.depth + 1 if page.depth else 0)]

    def _checked_redirect(self, page: DuePage, outcome: PageOutcome) -> PageOutcome:
        """Refuse a redirect that leaves the site, turns in a circle or is one of too many."""
        if outcome.state != Page.State.REDIRECTED:
            return outcome
        problem = self._problem_of_redirect(page, outcome.location)
        if not problem:
            return outcome
        return replace(outcome, state=Page.State.REFUSED, code="redirect", reason=problem)

    def _problem_of_redirect(self, page: DuePage, location: str) -> str:
        if not self.frontier.belongs_to_site(location):
            return f"redirects to another site: {location}"
        before = self._redirected_from(page)
        if location in before:
            return f"redirects in a circle, to {location}"
        if len(before) > MAX_REDIRECTS:
            return f"is the last of more than {MAX_REDIRECTS} redirects in a row"
        return ""

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

    def link_redirects(self, judged: Iterable[tuple[FetchTask, DuePage, PageOutcome]]) -> None:
        location_by_page = {
            page.pk: outcome.location for _, page, outcome in judged if outcome.location
        }
        if not location_by_page:
            return
        ids = self.frontier.ids_of(set(location_by_page.values()))
        for pk, location in location_by_page.items():
            Page.objects.filter(pk=pk, state=Page.State.REDIRECTED).update(
                redirects_to=ids.get(location)
            )


@dataclass(slots=True)
class PreparedAnswers:
    """Answers of one crawl that only need to be stored."""

    writer: CrawlWriter
    judged: list[tuple[FetchTask, DuePage, PageOutcome]]
    visits: list[PreparedVisit] = field(default_factory=list)


def prepare_answers(
    tasks_by_writer: Sequence[tuple[CrawlWriter, Sequence[FetchTask]]],
    do: Callable[[Preparing], list[PreparedVisit]] | None = None,
) -> list[PreparedAnswers]:
    """Judge answers and parse the pages among them; their bodies go into the page store.

    Call it outside a transaction. `do` is as of `prepare_visits`. Raises DiskFull.
    """
    answers = [
        PreparedAnswers(
            writer, [(task, task.page, judge(task, task.page)) for task in tasks if task.page]
        )
        for writer, tasks in tasks_by_writer
    ]
    pages = [
        (prepared, task, page)
        for prepared in answers
        for task, page, outcome in prepared.judged
        if outcome.state == Page.State.STORED and not outcome.is_unchanged
    ]
    visits = prepare_visits([_visit_of(task, page) for _, task, page in pages], do)
    for (prepared, _, _), visit in zip(pages, visits, strict=True):
        prepared.visits.append(visit)
    return answers


def store_answers(answers: Sequence[PreparedAnswers]) -> list[BatchResult]:
    """Store the answers of several crawls, inside the caller's transaction."""
    stored = store_visits_of_sites(
        [SiteVisits(each.writer.site, each.visits, each.writer.job) for each in answers]
    )
    unchanged = note_unchanged(_unchanged_pages(answers))
    for each, visits_of_site in zip(answers, stored, strict=True):
        visits_of_site += [unchanged[page.pk] for _, page, _ in each.judged if page.pk in unchanged]
    by_url = [{visit.url: visit for visit in visits} for visits in stored]
    _close_visits(answers, by_url)
    followed = _worth_following(answers, stored)
    results = [BatchResult() for _ in answers]
    wanted = []
    for each, visits, result in zip(answers, by_url, results, strict=True):
        targets = each.writer.store_judged(each, visits, followed, result)
        new_targets, traps = each.writer.frontier.sift(targets)
        each.writer.refuse_all(traps)
        wanted.append((each.writer.frontier, new_targets))
    for each, result, newly_due in zip(answers, results, make_due(wanted), strict=True):
        result.newly_due = newly_due
        each.writer.link_redirects(each.judged)
    return results


def _unchanged_pages(answers: Iterable[PreparedAnswers]) -> dict[int, datetime]:
    """Return when hosts said of pages that they are as they were."""
    return {
        page.pk: task.answer.fetched_at
        for each in answers
        for task, page, outcome in each.judged
        if outcome.is_unchanged and isinstance(task.answer, Fetched)
    }


def _close_visits(
    answers: Iterable[PreparedAnswers], stored: Iterable[Mapping[str, StoredVisit]]
) -> None:
    """Set pages that are still due to stored or failed.

    Storing did that already, but not for a page that has a snapshot with a later time: an archive
    may claim one.
    """
    pks_by_state: dict[Page.State, list[int]] = {Page.State.STORED: [], Page.State.FAILED: []}
    for each, visits in zip(answers, stored, strict=True):
        for _, page, outcome in each.judged:
            if outcome.state == Page.State.STORED:
                has_failed = visits[page.url].snapshot == FAILED
                pks_by_state[Page.State.FAILED if has_failed else Page.State.STORED].append(page.pk)
    for state, pks in pks_by_state.items():
        Page.objects.filter(pk__in=pks, state=Page.State.DUE).update(state=state)


def _worth_following(
    answers: Sequence[PreparedAnswers], stored: Sequence[Iterable[StoredVisit]]
) -> set[int]:
    """Return the pages whose links to follow: not those of many with the same bytes."""
    following = [
        (each.writer, visit, visit.page_id)
        for each, visits in zip(answers, stored, strict=True)
        for visit in visits
        if each.writer.follows_links and visit.page_id is not None
    ]
    rows = Page.objects.filter(pk__in={page for _, _, page in following})
    body_by_page = dict(rows.values_list("pk", "latest_snapshot__body"))
    twins = [(writer.job.pk, body_by_page[page] or "") for writer, _, page in following]
    n_by_twin = _n_pages_by_body(twins)
    n_here = Counter(twins)  # this page and those behind it: stored already, though they come later
    followed = set()
    for (writer, visit, page), twin in zip(following, twins, strict=True):
        n_before = n_by_twin[twin] - n_here[twin]
        n_here[twin] -= 1
        if n_before < MAX_TWINS:
            followed.add(page)
        else:
            writer.refuse(
                visit.url, "same_bytes", f"{n_before} pages have the same bytes: no link followed"
            )
    return followed


def _n_pages_by_body(crawls_and_bodies: Iterable[tuple[int, str]]) -> Counter[tuple[int, str]]:
    """Return how many visited pages have a body, for each pair of a crawl and a body's hash."""
    crawls_and_bodies = set(crawls_and_bodies)
    rows = (
        Page.objects.filter(
            crawl__in={crawl for crawl, _ in crawls_and_bodies},
            latest_snapshot__body__in={body for _, body in crawls_and_bodies},
        )
        .exclude(state=Page.State.DUE)
        .values_list("crawl", "latest_snapshot__body")
        .annotate(n=Count("pk"))
    )
    return Counter({(crawl, body): n_pages for crawl, body, n_pages in rows})


def _visit_of(task: FetchTask, page: DuePage) -> Visit:
    answer = task.answer
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
        waited_for=answer.waited_for,
        etag=answer.headers.get("etag", ""),
        last_modified=answer.headers.get("last-modified", ""),
    )


def _counts(task: FetchTask, page: DuePage, outcome: PageOutcome) -> int:
    """Return how many of the allowed pages this was: one that was requested and is not tried again.

    A redirect of the entry is none.
    """
    if not task.was_asked or outcome.state == Page.State.DUE:
        return 0
    return int(not (outcome.state == Page.State.REDIRECTED and page.depth == 0))


def _reason_of(outcome: PageOutcome) -> str:
    if outcome.state == Page.State.REDIRECTED:
        return f"redirects to {outcome.location}"
    return outcome.reason
