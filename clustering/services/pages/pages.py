"""Store what a visit to a page brought: its snapshot, its links, and what became of it.

Two steps, so that no transaction waits for a disk: `prepare_visits` parses and keeps the bodies,
`store_visits` writes the rows of a batch in the caller's transaction. Both may be repeated at will.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeVar

from django.db import connection
from django.db.models import F, Model

from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.dom.links import FoundLink, read_links
from clustering.dom.page import MAX_BYTES, PageTooLarge
from clustering.models import Link, Page, Snapshot
from clustering.services.children.limits import CallFailed, CallStopped, call_when_free
from vertex.core.models import Job, Refusal, Site
from vertex.core.storage import PageStore, page_store
from vertex.core.texts import storable

N_PARSERS = 2  # limited children that parse side by side
MAX_PARSED_AT_ONCE, MAX_BYTES_AT_ONCE = 16, 2 * 1024 * 1024  # by one call of a child
ADDRESSES_PER_QUERY = 500
PAGE_FIELDS = [
    "state",
    "status",
    "reason",
    "visited_at",
    "redirects_to",
    "latest_snapshot",
    "given_url",
    "depth",
]
SNAPSHOT_FIELDS = [
    "seen_at",
    "status",
    "content_type",
    "encoding",
    "problem",
    "etag",
    "last_modified",
]
MAX_ETAG, MAX_LAST_MODIFIED = 300, 100  # characters; a longer one is of no use
# A page has a hundred links: objects for them would cost more than all the rest.
_LINK_COLUMNS = "page_id, position, xpath, url, url_hash, text"
_COPY_LINKS = f"COPY clustering_link ({_LINK_COLUMNS}) FROM STDIN"
_INSERT_LINKS = f"INSERT INTO clustering_link ({_LINK_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)"  # noqa: S608 - constants

NEW, UNCHANGED, FAILED = "new", "unchanged", "failed"

Row = TypeVar("Row", bound=Model)
PageKey: TypeAlias = tuple[int, str]  # site and normalised address


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
    waited_for: str = ""  # by a browser
    etag: str = ""
    last_modified: str = ""
    is_given: bool = False  # somebody handed the address in as it is written here
    depth: int | None = None  # links from the entry, where another crawler tells


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
    status: int | None = None  # of the snapshot, where the host said that nothing has changed


Preparing: TypeAlias = Callable[[], list[PreparedVisit]]


def prepare_visits(
    visits: Sequence[Visit], do: Callable[[Preparing], list[PreparedVisit]] | None = None
) -> list[PreparedVisit]:
    """Parse the pages, find their links and keep their bodies, outside a transaction.

    That takes long and needs no database: where `do` is given, it has it done beside something
    else. Raises DiskFull, StoreAway.
    """
    store = page_store()
    store.check()  # here, as it may ask the database
    preparing = partial(_parse_and_keep, store, visits)
    return preparing() if do is None else do(preparing)


def _parse_and_keep(store: PageStore, visits: Sequence[Visit]) -> list[PreparedVisit]:
    bodies = [visit.body for visit in visits if len(visit.body) <= MAX_BYTES]
    with ThreadPoolExecutor(1) as keeper, ThreadPoolExecutor(N_PARSERS) as parsers:
        # The disk works while the pages are parsed.
        storing = keeper.submit(store.put_many, bodies)
        parsed = list(chain.from_iterable(parsers.map(_parse_visits, batches_to_parse(visits))))
    body_names = iter(storing.result())
    prepared_visits = []
    for prepared in parsed:
        is_stored = len(prepared.visit.body) <= MAX_BYTES
        body_name = next(body_names) if is_stored else ""
        prepared_visits.append(replace(prepared, body=body_name))
    return prepared_visits


@dataclass(frozen=True, slots=True)
class SiteVisits:
    """Visits to pages of one site; with a `job`, one that cannot be stored leaves its Refusal."""

    site: Site
    prepared: Sequence[PreparedVisit]
    job: Job | None = None


def store_visits(
    *, site: Site, prepared: Sequence[PreparedVisit], job: Job | None = None
) -> list[StoredVisit]:
    """Write visits to one site as `store_visits_of_sites` does; return what became of each."""
    return store_visits_of_sites([SiteVisits(site, prepared, job)])[0]


def store_visits_of_sites(visits_by_site: Sequence[SiteVisits]) -> list[list[StoredVisit]]:
    """Write pages, snapshots and links in the caller's transaction; return each visit's outcome.

    A page has one snapshot for as long as its bytes stay the same. A visit that was redirected
    gives its snapshot to the page it was led to. A visit older than what is stored becomes a
    snapshot of the past. The number of statements does not grow with that of the sites.
    """
    owners = lock_sites([visits.site for visits in visits_by_site])
    stored: list[list[StoredVisit]] = [[] for _ in visits_by_site]
    for batch in _without_repeats(visits_by_site, owners):
        for visit, outcome in zip(batch, _store_batch(batch), strict=True):
            stored[visit.number].append(outcome)
    _write_refusals(visits_by_site, stored)
    return stored


def note_unchanged(seen_at_by_page: Mapping[int, datetime]) -> dict[int, StoredVisit]:
    """Record that hosts said that pages are as stored; return them with their links, by page.

    Nothing but the times of the pages and their snapshots is written, in the caller's transaction.
    """
    if not seen_at_by_page:
        return {}
    pages = Page.objects.select_related("latest_snapshot").in_bulk(list(seen_at_by_page))
    links: dict[int, list[FoundLink]] = {}
    rows = Link.objects.filter(page__in=seen_at_by_page).order_by("page", "position")
    for page_id, position, xpath, url, text in rows.values_list(
        "page", "position", "xpath", "url", "text"
    ):
        links.setdefault(page_id, []).append(FoundLink(position, xpath, url, text))
    snapshots = []
    for pk, page in pages.items():
        page.state, page.reason, page.redirects_to = Page.State.STORED, "", None
        page.visited_at = max(seen_at_by_page[pk], page.visited_at or seen_at_by_page[pk])
        snapshot = page.latest_snapshot
        if snapshot is not None:
            page.status = snapshot.status
            snapshot.seen_at = max(snapshot.seen_at, seen_at_by_page[pk])
            snapshots.append(snapshot)
    update_rows(Snapshot, snapshots, ["seen_at"])
    update_rows(Page, pages.values(), PAGE_FIELDS)
    return {
        pk: StoredVisit(page.url, pk, UNCHANGED, links=links.get(pk, []), status=page.status)
        for pk, page in pages.items()
    }


def lock_sites(sites: Iterable[Site]) -> dict[int, Site]:
    """Return sites' rows, held until the transaction ends: one writer at a time adds pages."""
    pks = {site.pk for site in sites}
    rows = Site.objects.select_for_update(no_key=True).filter(pk__in=pks).order_by("pk")
    return {site.pk: site for site in rows}


def batches_to_parse(visits: Sequence[Visit]) -> Iterator[list[Visit]]:
    """Yield the visits in batches that a child parses at once: few, and few bytes."""
    batch: list[Visit] = []
    n_bytes = 0
    for visit in visits:
        if batch and (len(batch) == MAX_PARSED_AT_ONCE or n_bytes > MAX_BYTES_AT_ONCE):
            yield batch
            batch, n_bytes = [], 0
        batch.append(visit)
        n_bytes += len(visit.body)
    if batch:
        yield batch


def _parse_visits(visits: Sequence[Visit]) -> list[PreparedVisit]:
    """Return visits with what their pages hold, or with the reason why they cannot be stored."""
    prepared = [_with_addresses(visit) for visit in visits]
    sound = [visit for visit in prepared if not visit.code]
    try:
        parsed = iter(_parsed(sound))
    except (CallStopped, CallFailed):  # one of them: each by itself tells which
        parsed = map(_parsed_alone, sound)
    return [visit if visit.code else next(parsed) for visit in prepared]


def _with_addresses(visit: Visit) -> PreparedVisit:
    """Return a visit with its normalised addresses, or with the reason why it is not parsed."""
    try:
        url = normalise_url(visit.url)
        final_url = normalise_url(visit.final_url) if visit.final_url else url
    except BadAddress as error:
        return PreparedVisit(visit, code="bad_address", reason=str(error))
    if len(visit.body) > MAX_BYTES:
        reason = str(PageTooLarge(len(visit.body)))
        return PreparedVisit(visit, url, final_url, code="too_large", reason=reason)
    return PreparedVisit(visit, url, final_url)


def _parsed_alone(prepared: PreparedVisit) -> PreparedVisit:
    """Return a visit with what its page holds, or with the reason why that cannot be known."""
    try:
        return _parsed([prepared])[0]
    except CallStopped as stopped:
        reason = f"reading it was stopped twice: {stopped}"
        return replace(prepared, code=Snapshot.Problem.TOO_HEAVY, reason=reason)
    except CallFailed as failed:
        return replace(prepared, code="unreadable", reason=str(failed))


def _parsed(prepared: Sequence[PreparedVisit]) -> list[PreparedVisit]:
    """Return visits with what their pages hold, as a child reads it.

    Raises CallStopped, CallFailed.
    """
    if not prepared:
        return []
    bodies = b"".join([visit.visit.body for visit in prepared])
    pages = [
        (len(visit.visit.body), visit.visit.content_type, visit.final_url) for visit in prepared
    ]
    parsed = []
    answers = call_when_free(read_links, bodies, pages)
    for visit, (encoding, problem, links) in zip(prepared, answers, strict=True):
        if problem == Snapshot.Problem.TOO_MANY_ATTRIBUTES:
            reason = "a tag with more than 1,000 attributes; such a page is not parsed"
            parsed.append(replace(visit, code=problem, reason=reason))
            continue
        found_links = [FoundLink(*link) for link in links]
        parsed.append(replace(visit, encoding=encoding, problem=problem, links=found_links))
    return parsed


class _SiteVisit(NamedTuple):
    """A visit with the site whose page it is."""

    number: int  # of the site's visits among those of all sites
    site: Site
    prepared: PreparedVisit

    @property
    def page_key(self) -> PageKey:
        return self.site.pk, self.prepared.url

    @property
    def final_page_key(self) -> PageKey:
        return self.site.pk, self.prepared.final_url


def _without_repeats(
    visits_by_site: Sequence[SiteVisits], owners: Mapping[int, Site]
) -> Iterator[list[_SiteVisit]]:
    """Cut the visits into batches, in order, in which no page occurs twice."""
    batches: list[list[_SiteVisit]] = [[]]
    for number, visits in enumerate(visits_by_site):
        site = owners[visits.site.pk]
        n_batch = 0
        seen: set[str] = set()
        for prepared in visits.prepared:
            if not seen.isdisjoint((prepared.url, prepared.final_url)):
                n_batch, seen = n_batch + 1, set()
            if n_batch == len(batches):
                batches.append([])
            batches[n_batch].append(_SiteVisit(number, site, prepared))
            seen |= {prepared.url, prepared.final_url} - {""}
    yield from batches


def _write_refusals(
    visits_by_site: Sequence[SiteVisits], stored: Sequence[Iterable[StoredVisit]]
) -> None:
    Refusal.objects.bulk_create(
        Refusal(
            site=visits.site,
            job=visits.job,
            subject=storable(visit.url),
            code=visit.code,
            reason=visit.reason,
        )
        for visits, outcomes in zip(visits_by_site, stored, strict=True)
        for visit in outcomes
        if visits.job is not None and visit.snapshot == FAILED
    )


def _find_pages(keys: Iterable[PageKey]) -> dict[PageKey, Page]:
    """Return the pages of these sites and addresses, with their latest snapshots."""
    wanted = sorted(keys)
    pages: dict[PageKey, Page] = {}
    for start in range(0, len(wanted), ADDRESSES_PER_QUERY):
        batch = wanted[start : start + ADDRESSES_PER_QUERY]
        rows = Page.objects.filter(
            site__in={site for site, _ in batch}, url_hash__in=[url_hash(url) for _, url in batch]
        ).select_related("latest_snapshot")
        pages |= {(page.site_id, page.url): page for page in rows}
    return pages


def _create_pages(keys: Iterable[PageKey]) -> list[Page]:
    pages = Page.objects.bulk_create(
        [Page(site_id=site, url=url, url_hash=url_hash(url), given_url=url) for site, url in keys]
    )
    count_new_pages(pages)
    return pages


def count_new_pages(pages: Iterable[Page]) -> None:
    """Add new pages to the counts of their sites."""
    for site, n_pages in Counter(page.site_id for page in pages).items():
        Site.objects.filter(pk=site).update(n_pages=F("n_pages") + n_pages)


def _store_batch(visits: list[_SiteVisit]) -> list[StoredVisit]:
    """Write visits to different pages."""
    pages = _pages_of(visits)
    histories = _histories(visits, pages)
    outcomes = [_decide(visit, pages, histories) for visit in visits]
    _save_snapshots(outcomes, {visit.site.pk: visit.site for visit in visits})
    for visit, outcome in zip(visits, outcomes, strict=True):
        _apply_to_pages(visit, outcome, pages)
    update_rows(Page, pages.values(), PAGE_FIELDS)
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


def _pages_of(visits: Iterable[_SiteVisit]) -> dict[PageKey, Page]:
    """Return the pages that were asked for and those that answered; the new ones are created."""
    keys: dict[PageKey, None] = {}
    for visit in visits:
        if visit.prepared.url:
            keys |= {visit.page_key: None, visit.final_page_key: None}
    pages = _find_pages(keys)
    missing = [key for key in keys if key not in pages]
    pages |= {(page.site_id, page.url): page for page in _create_pages(missing)}
    for visit in visits:
        if visit.prepared.url and visit.prepared.visit.is_given:
            pages[visit.page_key].given_url = storable(visit.prepared.visit.url)
            _note_depth(visit, pages)
    return pages


def _note_depth(visit: _SiteVisit, pages: Mapping[PageKey, Page]) -> None:
    """Set the depth that another crawler tells; a crawl of the site knows better."""
    depth = visit.prepared.visit.depth
    if depth is None:
        return
    for page in (pages[visit.page_key], pages[visit.final_page_key]):
        if page.crawl_id is None:
            page.depth = depth


def _is_of_the_past(prepared: PreparedVisit, page: Page) -> bool:
    latest = page.latest_snapshot
    return latest is not None and prepared.visit.fetched_at < latest.fetched_at


def _histories(
    visits: Iterable[_SiteVisit], pages: Mapping[PageKey, Page]
) -> dict[int, list[Snapshot]]:
    """Return all snapshots, oldest first, of pages whose visit is no newer than what is stored."""
    page_ids = []
    for visit in visits:
        latest = None if visit.prepared.code else pages[visit.final_page_key].latest_snapshot
        if latest is not None and visit.prepared.visit.fetched_at <= latest.fetched_at:
            page_ids.append(latest.page_id)
    histories: dict[int, list[Snapshot]] = {page_id: [] for page_id in page_ids}
    if page_ids:
        for snapshot in Snapshot.objects.filter(page__in=page_ids).order_by("fetched_at", "pk"):
            histories[snapshot.page_id].append(snapshot)
    return histories


def _decide(
    visit: _SiteVisit, pages: Mapping[PageKey, Page], histories: Mapping[int, list[Snapshot]]
) -> _Outcome:
    """Find the visit's snapshot: the one before or after if its bytes are the same, else a new one.

    A visit that failed has none. `histories` has the pages whose latest snapshot is not older
    than the visit.
    """
    prepared = visit.prepared
    page = pages.get(visit.final_page_key)
    if page is None or prepared.code:  # why it failed
        return _Outcome(prepared, page)
    if page.pk in histories:
        before, after = _neighbours(histories[page.pk], prepared)
    else:
        before, after = page.latest_snapshot, None
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
    """Return the snapshots before and after a visit; of several at its time that of its bytes."""
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
        waited_for=visit.waited_for,
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
    snapshot.etag = _short(prepared.visit.etag, MAX_ETAG)
    snapshot.last_modified = _short(prepared.visit.last_modified, MAX_LAST_MODIFIED)


def _short(header: str, longest: int) -> str:
    """Return a header that can be sent back as it came, blank where it cannot."""
    is_plain = header.isascii() and header.isprintable() and len(header) <= longest
    return header if is_plain else ""


def _save_snapshots(outcomes: Iterable[_Outcome], sites: Mapping[int, Site]) -> None:
    new = [outcome.snapshot for outcome in outcomes if outcome.snapshot and outcome.is_new]
    seen_again = [
        outcome.snapshot for outcome in outcomes if outcome.snapshot and not outcome.is_new
    ]
    Snapshot.objects.bulk_create(new)
    update_rows(Snapshot, seen_again, SNAPSHOT_FIELDS)
    changed: dict[int, Site] = {}
    for snapshot in new:
        site = sites[snapshot.page.site_id]
        if site.last_snapshot_at is None or snapshot.fetched_at > site.last_snapshot_at:
            site.last_snapshot_at = snapshot.fetched_at
            changed[site.pk] = site
    Site.objects.bulk_update(changed.values(), ["last_snapshot_at"])


def update_rows(model: type[Row], rows: Iterable[Row], fields: list[str]) -> None:
    """Write the fields of rows that exist; one upsert costs a fifth of Django's bulk_update."""
    model._default_manager.bulk_create(
        list(rows), update_conflicts=True, unique_fields=["pk"], update_fields=fields
    )


def _apply_to_pages(visit: _SiteVisit, outcome: _Outcome, pages: Mapping[PageKey, Page]) -> None:
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
        asked_for = pages[visit.page_key]
        _record_visit(asked_for, prepared, state=Page.State.REDIRECTED, redirects_to=page)


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
