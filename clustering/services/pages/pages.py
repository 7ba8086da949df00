"""Store what a visit to a page brought: its snapshot, its links, and what became of it.

Two steps, so that no transaction waits for a disk: `prepare_visits` parses and keeps the bodies,
`store_visits` writes the rows of a batch in the caller's transaction. Both may be repeated at will.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from django.db import connection
from django.db.models import F, Model

from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.dom.links import FoundLink, find_links
from clustering.dom.page import MAX_BYTES, PageTooLarge, parse_page
from clustering.models import Link, Page, Snapshot
from vertex.core.models import Job, Refusal, Site
from vertex.core.storage import page_store
from vertex.core.texts import storable

N_PARSERS = 2  # lxml parses outside the interpreter lock
ADDRESSES_PER_QUERY = 500
PAGE_FIELDS = ["state", "status", "reason", "visited_at", "redirects_to", "latest_snapshot"]
SNAPSHOT_FIELDS = ["seen_at", "status", "content_type", "encoding", "problem"]
# A page has a hundred links: objects for them would cost more than all the rest.
_LINK_COLUMNS = "page_id, position, xpath, url, url_hash, text"
_COPY_LINKS = f"COPY clustering_link ({_LINK_COLUMNS}) FROM STDIN"
_INSERT_LINKS = f"INSERT INTO clustering_link ({_LINK_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)"  # noqa: S608 - constants

NEW, UNCHANGED, FAILED = "new", "unchanged", "failed"

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Visit:
    """What a fetch or a file brought for an address."""

    url: str  # as asked for
    body: bytes
    fetched_at: datetime
    status: int = 200
    content_type: str = ""
    final_url: str = ""  # where redirects led; blank: nowhere else
    is_rendered: bool = False


@dataclass(frozen=True, slots=True)
class PreparedVisit:
    """A visit with all that can be known without the database."""

    visit: Visit
    url: str = ""  # normalised, like the final one
    final_url: str = ""
    body: str = ""  # its name in the page store
    encoding: str = ""
    problem: str = ""
    links: list[FoundLink] = field(default_factory=list)
    code: str = ""  # a word for why the page cannot be stored
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StoredVisit:
    """What became of a visit."""

    url: str  # as asked for
    page_id: int | None  # the page that holds the snapshot; None where the address is none
    snapshot: str  # new, unchanged or failed
    reason: str = ""
    code: str = ""
    links: list[FoundLink] = field(default_factory=list)


def prepare_visits(visits: Sequence[Visit]) -> list[PreparedVisit]:
    """Parse the pages, find their links and keep their bodies, outside a transaction. Raises DiskFull."""
    bodies = [visit.body for visit in visits if len(visit.body) <= MAX_BYTES]
    with ThreadPoolExecutor(1) as keeper, ThreadPoolExecutor(N_PARSERS) as parsers:
        # The disk works while the pages are parsed.
        storing = keeper.submit(page_store().put_many, bodies)
        parsed = list(parsers.map(_parse_visit, visits))
    body_names = iter(storing.result())
    prepared_visits = []
    for prepared in parsed:
        is_stored = len(prepared.visit.body) <= MAX_BYTES
        body_name = next(body_names) if is_stored else ""
        prepared_visits.append(replace(prepared, body=body_name))
    return prepared_visits


def store_visits(
    *, site: Site, prepared: Sequence[PreparedVisit], job: Job | None = None
) -> list[StoredVisit]:
    """Write pages, snapshots and links in the caller's transaction; return what became of each visit.

    A page has one snapshot for as long as its bytes stay the same. A visit that was redirected gives its
    snapshot to the page it was led to. A visit older than what is stored becomes a snapshot of the past.
    Where `job` is given, a visit that cannot be stored leaves a Refusal of that job.
    """
    owner = _lock_site(site)
    stored: list[StoredVisit] = []
    for batch in _without_repeats(prepared):
        stored += _store_batch(owner, batch)
    if job is not None:
        _write_refusals(owner, job, stored)
    return stored


def _parse_visit(visit: Visit) -> PreparedVisit:
    """Return the visit with what its page holds, or with the reason why it cannot be stored."""
    try:
        url = normalise_url(visit.url)
        final_url = normalise_url(visit.final_url) if visit.final_url else url
    except BadAddress as error:
        return PreparedVisit(visit, code="bad_address", reason=str(error))
    try:
        page = parse_page(visit.body, visit.content_type)
        links = find_links(page.tree, final_url, page.encoding) if page.tree is not None else []
    except PageTooLarge as error:
        return PreparedVisit(visit, url, final_url, code="too_large", reason=str(error))
    except Exception as error:  # noqa: BLE001 - one page of a batch may fail; the failure becomes its row
        return PreparedVisit(
            visit, url, final_url, code="unreadable", reason=f"{type(error).__name__}: {error}"
        )
    if page.problem == Snapshot.Problem.TOO_MANY_ATTRIBUTES:
        reason = "a tag with more than 1,000 attributes; such a page is not parsed"
        return PreparedVisit(visit, url, final_url, code=page.problem, reason=reason)
    return PreparedVisit(visit, url, final_url, "", page.encoding, page.problem, links)


def _lock_site(site: Site) -> Site:
    """Return the site's row, held until the transaction ends: one writer at a time adds pages to a site."""
    return Site.objects.select_for_update(no_key=True).get(pk=site.pk)


def _without_repeats(prepared: Iterable[PreparedVisit]) -> Iterator[list[PreparedVisit]]:
    """Cut the visits into batches, in order, in which no page occurs twice."""
    batch: list[PreparedVisit] = []
    seen: set[str] = set()
    for visit in prepared:
        if not seen.isdisjoint((visit.url, visit.final_url)):
            yield batch
            batch, seen = [], set()
        batch.append(visit)
        seen |= {visit.url, visit.final_url} - {""}
    yield batch


def _write_refusals(site: Site, job: Job, stored: Iterable[StoredVisit]) -> None:
    Refusal.objects.bulk_create(
        Refusal(
            site=site, job=job, subject=storable(visit.url), code=visit.code, reason=visit.reason
        )
        for visit in stored
        if visit.snapshot == FAILED
    )


def _find_pages(site: Site, urls: Iterable[str]) -> dict[str, Page]:
    """Return the site's pages by address, with their latest snapshots."""
    hashes = [url_hash(url) for url in urls]
    pages: dict[str, Page] = {}
    for start in range(0, len(hashes), ADDRESSES_PER_QUERY):
        batch = hashes[start : start + ADDRESSES_PER_QUERY]
        rows = Page.objects.filter(site=site, url_hash__in=batch).select_related("latest_snapshot")
        pages |= {page.url: page for page in rows}
    return pages


def _create_pages(site: Site, written_by_url: Mapping[str, str]) -> list[Page]:
    pages = Page.objects.bulk_create(
        [
            Page(site=site, url=url, url_hash=url_hash(url), written_url=storable(written))
            for url, written in written_by_url.items()
        ]
    )
    if pages:
        Site.objects.filter(pk=site.pk).update(n_pages=F("n_pages") + len(pages))
    return pages


def _store_batch(site: Site, visits: list[PreparedVisit]) -> list[StoredVisit]:
    """Write visits to different pages of the site."""
    pages = _pages_of(site, visits)
    histories = _histories(visits, pages)
    outcomes = [_decide(prepared, pages, histories) for prepared in visits]
    _save_snapshots(site, outcomes)
    for outcome in outcomes:
        _apply_to_pages(outcome, pages)
    _update(Page, pages.values(), PAGE_FIELDS)
    _replace_links([outcome for outcome in outcomes if outcome.is_latest])
    return [outcome.stored_visit() for outcome in outcomes]


@dataclass(slots=True)
class _Outcome:
    """A visit while it is written."""

    prepared: PreparedVisit
    page: Page | None
    snapshot: Snapshot | None = None
    is_new: bool = False

    @property
    def is_latest(self) -> bool:
        """Return whether the visit brought what is now the page's latest snapshot."""
        return self.is_new and self.page is not None and self.page.latest_snapshot is self.snapshot

    def stored_visit(self) -> StoredVisit:
        prepared = self.prepared
        if prepared.code:
            snapshot = FAILED
        elif self.is_new:
            snapshot = NEW
        else:
            snapshot = UNCHANGED
        return StoredVisit(
            url=prepared.visit.url,
            page_id=self.page.pk if self.page else None,
            snapshot=snapshot,
            reason=storable(prepared.reason, 300),
            code=prepared.code,
            links=prepared.links,
        )


def _pages_of(site: Site, visits: Iterable[PreparedVisit]) -> dict[str, Page]:
    """Return the pages that were asked for and those that answered; the new ones are created."""
    written_by_url: dict[str, str] = {}
    for prepared in visits:
        if prepared.url:
            written_by_url[prepared.url] = prepared.visit.url
            written_by_url.setdefault(prepared.final_url, prepared.visit.final_url)
    pages = _find_pages(site, written_by_url)
    missing = {url: written for url, written in written_by_url.items() if url not in pages}
    return pages | {page.url: page for page in _create_pages(site, missing)}


def _is_of_the_past(prepared: PreparedVisit, page: Page) -> bool:
    latest = page.latest_snapshot
    return latest is not None and prepared.visit.fetched_at < latest.fetched_at


def _histories(
    visits: Iterable[PreparedVisit], pages: Mapping[str, Page]
) -> dict[int, list[Snapshot]]:
    """Return all snapshots, oldest first, of the pages whose visit is not newer than what is stored."""
    page_ids = []
    for prepared in visits:
        latest = pages[prepared.final_url].latest_snapshot if not prepared.code else None
        if latest is not None and prepared.visit.fetched_at <= latest.fetched_at:
            page_ids.append(latest.page_id)
    histories: dict[int, list[Snapshot]] = {page_id: [] for page_id in page_ids}
    if page_ids:
        for snapshot in Snapshot.objects.filter(page__in=page_ids).order_by("fetched_at", "pk"):
            histories[snapshot.page_id].append(snapshot)
    return histories


def _decide(
    prepared: PreparedVisit, pages: Mapping[str, Page], histories: Mapping[int, list[Snapshot]]
) -> _Outcome:
    """Find the visit's snapshot: the one before or after it if the bytes are the same, else a new one."""
    page = pages.get(prepared.final_url)
    if page is None or prepared.code:
        return _Outcome(prepared, page)
    before, after = page.latest_snapshot, None
    if page.pk in histories:
        before, after = _neighbours(histories[page.pk], prepared)
    if before is not None and before.body == prepared.body:
        before.seen_at = max(before.seen_at, prepared.visit.fetched_at)
        if after is None:
            _describe(before, prepared)
        return _Outcome(prepared, page, before)
    if after is not None and after.body == prepared.body:
        return _Outcome(prepared, page, after)
    return _Outcome(prepared, page, _new_snapshot(prepared, page), is_new=True)


def _neighbours(
    history: Sequence[Snapshot], prepared: PreparedVisit
) -> tuple[Snapshot | None, Snapshot | None]:
    """Return the snapshots before and after a visit; of several at its very time the one of its bytes."""
    at = prepared.visit.fetched_at
    before = [snapshot for snapshot in history if snapshot.fetched_at <= at]
    after = history[len(before)] if len(before) < len(history) else None
    same_time_and_bytes = [
        snapshot
        for snapshot in before
        if snapshot.fetched_at == at and snapshot.body == prepared.body
    ]
    candidates = same_time_and_bytes or before
    return candidates[-1] if candidates else None, after


def _new_snapshot(prepared: PreparedVisit, page: Page) -> Snapshot:
    visit = prepared.visit
    snapshot = Snapshot(
        page=page,
        body=prepared.body,
        n_bytes=len(visit.body),
        requested_url=prepared.url,
        final_url=prepared.final_url,
        is_rendered=visit.is_rendered,
        fetched_at=visit.fetched_at,
        seen_at=visit.fetched_at,
    )
    _describe(snapshot, prepared)
    return snapshot


def _describe(snapshot: Snapshot, prepared: PreparedVisit) -> None:
    """Set what the latest response says of the bytes."""
    snapshot.status = prepared.visit.status
    snapshot.content_type = storable(prepared.visit.content_type, 200)
    snapshot.encoding = prepared.encoding
    snapshot.problem = prepared.problem


def _save_snapshots(site: Site, outcomes: Iterable[_Outcome]) -> None:
    new = [outcome.snapshot for outcome in outcomes if outcome.snapshot and outcome.is_new]
    seen_again = [
        outcome.snapshot for outcome in outcomes if outcome.snapshot and not outcome.is_new
    ]
    Snapshot.objects.bulk_create(new)
    _update(Snapshot, seen_again, SNAPSHOT_FIELDS)
    newest = max((snapshot.fetched_at for snapshot in new), default=None)
    if newest is not None and (site.last_snapshot_at is None or newest > site.last_snapshot_at):
        site.last_snapshot_at = newest
        site.save(update_fields=["last_snapshot_at"])


def _update(model: type[Row], rows: Iterable[Row], fields: list[str]) -> None:
    """Write the fields of rows that exist; one upsert costs a fifth of Django's bulk_update."""
    model._default_manager.bulk_create(
        list(rows), update_conflicts=True, unique_fields=["pk"], update_fields=fields
    )


def _apply_to_pages(outcome: _Outcome, pages: Mapping[str, Page]) -> None:
    """Set the state of the visited pages, unless they were visited later."""
    page, prepared = outcome.page, outcome.prepared
    if page is None:
        return
    if outcome.is_new and not _is_of_the_past(prepared, page):
        page.latest_snapshot = outcome.snapshot
    state = Page.State.FAILED if prepared.code else Page.State.STORED
    _record_visit(
        page,
        prepared,
        state=state,
        status=prepared.visit.status,
        reason=storable(prepared.reason, 300),
    )
    if prepared.url != prepared.final_url:
        _record_visit(pages[prepared.url], prepared, state=Page.State.REDIRECTED, redirects_to=page)


def _record_visit(
    page: Page,
    prepared: PreparedVisit,
    *,
    state: Page.State,
    status: int | None = None,
    reason: str = "",
    redirects_to: Page | None = None,
) -> None:
    """Set the page's state, unless a later visit did."""
    if page.visited_at is not None and prepared.visit.fetched_at < page.visited_at:
        return
    page.visited_at = prepared.visit.fetched_at
    page.state = state
    page.status = status
    page.reason = reason
    page.redirects_to = redirects_to


def _replace_links(outcomes: Iterable[_Outcome]) -> None:
    """Replace the links of pages that have a new latest snapshot."""
    links_by_page = {
        outcome.page.pk: outcome.prepared.links for outcome in outcomes if outcome.page
    }
    Link.objects.filter(page__in=links_by_page)._raw_delete(Link.objects.db)  # noqa: SLF001 - nothing refers to links
    rows = [
        (page_id, link.position, link.xpath, link.url, url_hash(link.url), link.text)
        for page_id, links in links_by_page.items()
        for link in links
    ]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(_COPY_LINKS) as copy:
                for row in rows:
                    copy.write_row(row)
        elif rows:
            cursor.executemany(_INSERT_LINKS, rows)
