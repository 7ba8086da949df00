"""The pages that a crawl still has to visit: rows, which survive an interruption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from django.db.models import Count, Min

from clustering.dom.addresses import belongs_to_site, origin_of, url_hash
from clustering.models import Host, Page
from clustering.services.crawl import hosts
from clustering.services.pages.pages import count_new_pages, lock_sites
from vertex.core.models import Job, Site
from vertex.core.texts import storable

MAX_DEPTH: Final = 100  # links from the entry: calendars and the like have no end
MAX_SEGMENTS: Final = 40
MAX_REPEATED: Final = 4  # the same name in one path
MAX_REMEMBERED: Final = 300_000  # addresses met lately, by all crawls of a process
REFUSING: Final = frozenset(
    {"address", "robots", "bad_url", "too_large", "encoding", "redirect", "log_out"}
)
ADDRESSES_PER_QUERY: Final = 400
ERROR: Final = 400  # the first status of an error
STORED_COLUMNS: Final = (
    "latest_snapshot__status",
    "latest_snapshot__is_rendered",
    "latest_snapshot__etag",
    "latest_snapshot__last_modified",
)


@dataclass(frozen=True, slots=True)
class DuePage:
    """A page to visit."""

    pk: int
    url: str
    given_url: str
    depth: int
    n_tries: int
    # Of what is stored, blank where nothing is or it cannot be asked for whether it changed.
    etag: str = ""
    last_modified: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """Return the headers by which a host answers only what has changed."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


def due_page(row: tuple[Any, ...]) -> DuePage:
    """Return a page from its columns and those of its latest snapshot."""
    pk, url, given_url, depth, n_tries, status, is_rendered, etag, last_modified = row
    if status is None or status >= ERROR or is_rendered:
        etag = last_modified = ""
    return DuePage(pk, url, given_url, depth, n_tries, etag, last_modified)


class LinkTarget(NamedTuple):
    """An address that was found, and how far from the entry."""

    url: str
    depth: int


class NewlyDue(NamedTuple):
    """How many pages of a host became due, and how near to the entry the nearest of them is."""

    n_pages: int
    depth: int


class Trap(NamedTuple):
    """An address that is not followed because there would be no end to it."""

    url: str
    code: str
    reason: str


@dataclass(slots=True)
class MetAddresses:
    """Addresses that crawls met lately, which spares the database a query for each link of a menu.

    The crawls of a process share the room for them: a process may have hundreds of crawls.
    """

    _by_crawl: dict[int, set[str]] = field(default_factory=dict)
    _n_remembered: int = 0

    def is_new(self, url: str, crawl: int) -> bool:
        """Return whether a crawl did not meet an address lately, and remember it."""
        if url in self._by_crawl.get(crawl, ()):
            return False
        if self._n_remembered >= MAX_REMEMBERED:
            self._by_crawl.clear()
            self._n_remembered = 0
        self._by_crawl.setdefault(crawl, set()).add(url)
        self._n_remembered += 1
        return True

    def forget(self, crawl: int) -> None:
        """Forget what a crawl met."""
        self._n_remembered -= len(self._by_crawl.pop(crawl, ()))


@dataclass(slots=True)
class Frontier:
    """The due pages of one crawl."""

    job: Job
    site: Site
    only_new: bool = False  # a page that was visited before is not visited for a link to it
    met: MetAddresses = field(default_factory=MetAddresses)
    _host_by_origin: dict[str, int] = field(default_factory=dict)

    def add(self, targets: Iterable[LinkTarget]) -> tuple[dict[int, NewlyDue], list[Trap]]:
        """Make addresses of the site due, in this order, unless the crawl knows them already.

        Return what became due by host, and the addresses that look like a trap.
        """
        wanted, traps = self.sift(targets)
        return make_due([(self, wanted)])[0], traps

    def sift(self, targets: Iterable[LinkTarget]) -> tuple[dict[bytes, LinkTarget], list[Trap]]:
        """Return the site's addresses not met lately, by hash, and the traps among them."""
        traps: list[Trap] = []
        wanted: dict[bytes, LinkTarget] = {}
        for target in targets:
            is_new = self.met.is_new(target.url, self.job.pk)
            if not is_new or not self.belongs_to_site(target.url):
                continue
            trap = trap_of(target.url, target.depth)
            if trap:
                traps.append(trap)
            else:
                wanted[url_hash(target.url)] = target
        return wanted, traps

    def forget_met(self) -> None:
        """Look each address up again: what was added last was not stored, or the crawl is over."""
        self.met.forget(self.job.pk)

    def retry(self, url: str) -> None:
        """Make an address due again that this crawl could not get before."""
        failed = Page.objects.filter(
            site=self.site,
            url_hash=url_hash(url),
            crawl=self.job,
            state__in=[Page.State.FAILED, Page.State.REFUSED, Page.State.SKIPPED],
        )
        failed.update(state=Page.State.DUE, n_tries=0)

    def due(self, host: int, *, without: Collection[int], limit: int) -> list[DuePage]:
        """Return the next pages of a host, breadth first, in the order of their discovery."""
        rows = (
            Page.objects.filter(crawl=self.job, host=host, state=Page.State.DUE)
            .order_by("depth", "id")
            .values_list("pk", "url", "given_url", "depth", "n_tries", *STORED_COLUMNS)
        )
        rows = rows[: limit + len(without)]  # enough, whichever of them are left out
        return [due_page(row) for row in rows if row[0] not in without][:limit]

    def n_due_by_host(self) -> dict[int, int]:
        """Count the due pages; hosts come in the order in which their first page is due."""
        rows = (
            Page.objects.filter(crawl=self.job, state=Page.State.DUE)
            .values("host")
            .annotate(n=Count("pk"), first=Min("pk"))
            .order_by("first")
        )
        return {row["host"]: row["n"] for row in rows}

    def belongs_to_site(self, url: str) -> bool:
        """Return whether an address belongs to the site."""
        return belongs_to_site(url, self.site.root_url, self.site.extra_hosts)

    def keep_given_url(self, url: str, given_url: str) -> None:
        """Keep how somebody wrote the address of a page."""
        pages = Page.objects.filter(site=self.site, url_hash=url_hash(url))
        pages.update(given_url=storable(given_url))

    def ids_of(self, urls: Collection[str]) -> dict[str, int]:
        """Return the rows of addresses."""
        hashes = {url_hash(url): url for url in urls}
        rows = Page.objects.filter(site=self.site, url_hash__in=list(hashes)).values_list(
            "url_hash", "pk"
        )
        return {hashes[bytes(stored_hash)]: pk for stored_hash, pk in rows}

    def write_off(self, host: Host, code: str, reason: str) -> int:
        """Give up the due pages of a host; return how many they were."""
        state = Page.State.REFUSED if code in REFUSING else Page.State.FAILED
        due = Page.objects.filter(crawl=self.job, host=host, state=Page.State.DUE)
        return due.update(state=state, reason=storable(reason, 300))

    def first_problem(self) -> str:
        """Return why the page nearest to the entry could not be stored."""
        pages = Page.objects.filter(crawl=self.job).exclude(state=Page.State.DUE).exclude(reason="")
        page = pages.order_by("depth", "-id").first()
        if page is None:
            return "there is no page to begin at"
        return f"no page was stored; {page.url}: {page.reason}"

    def host_of(self, url: str) -> int:
        """Return the row of an address's host."""
        origin = origin_of(url)
        if origin not in self._host_by_origin:
            self._host_by_origin[origin] = hosts.find_host(origin=origin).pk
        return self._host_by_origin[origin]


def make_due(
    wanted_by_frontier: Sequence[tuple[Frontier, Mapping[bytes, LinkTarget]]],
) -> list[dict[int, NewlyDue]]:
    """Make addresses due in several crawls, each in its order; return what became due, by host.

    An address that its crawl knows already stays as it is. The number of statements does not grow
    with that of the crawls, but for those that visit known pages anew.
    """
    newly_due: list[_DueCounter] = [_DueCounter() for _ in wanted_by_frontier]
    wanted = [
        _Wanted(frontier, counter, key, target)
        for (frontier, targets), counter in zip(wanted_by_frontier, newly_due, strict=True)
        for key, target in targets.items()
    ]
    if wanted:  # one writer at a time adds pages to a site
        lock_sites([each.frontier.site for each in wanted])
    for start in range(0, len(wanted), ADDRESSES_PER_QUERY):
        part = wanted[start : start + ADDRESSES_PER_QUERY]
        known = Page.objects.filter(
            site__in={each.frontier.site.pk for each in part},
            url_hash__in=[each.key for each in part],
        )
        rows = {
            (site, bytes(key)): _KnownPage(pk, crawl, is_visited=visited_at is not None)
            for site, key, pk, crawl, visited_at in known.values_list(
                "site", "url_hash", "pk", "crawl", "visited_at"
            )
        }
        _renew(part, rows)
        _create([each for each in part if each.page_key not in rows])
    return [counter.by_host for counter in newly_due]


@dataclass(slots=True)
class _DueCounter:
    """What became due of one crawl."""

    by_host: dict[int, NewlyDue] = field(default_factory=dict)

    def count(self, host: int, depth: int) -> None:
        before = self.by_host.get(host, NewlyDue(0, depth))
        self.by_host[host] = NewlyDue(before.n_pages + 1, min(before.depth, depth))


class _Wanted(NamedTuple):
    """An address to make due in a crawl."""

    frontier: Frontier
    newly_due: _DueCounter
    key: bytes
    target: LinkTarget

    @property
    def page_key(self) -> tuple[int, bytes]:
        return self.frontier.site.pk, self.key


class _KnownPage(NamedTuple):
    """A page that has a row."""

    pk: int
    crawl: int | None
    is_visited: bool


def _renew(part: Iterable[_Wanted], rows: Mapping[tuple[int, bytes], _KnownPage]) -> None:
    """Make pages due that were known before their crawl."""
    pks_by_visit: dict[tuple[int, int, int], list[int]] = {}
    for each in part:
        job = each.frontier.job.pk
        known = rows.get(each.page_key)
        if known is None or known.crawl == job:
            continue
        if known.is_visited and each.frontier.only_new:
            continue
        host = each.frontier.host_of(each.target.url)
        pks_by_visit.setdefault((job, host, each.target.depth), []).append(known.pk)
        each.newly_due.count(host, each.target.depth)
    for (job, host, depth), pks in pks_by_visit.items():
        Page.objects.filter(pk__in=pks).update(
            state=Page.State.DUE,
            crawl_id=job,
            host_id=host,
            depth=depth,
            n_tries=0,
            reason="",
            redirects_to=None,
        )


def _create(part: Iterable[_Wanted]) -> None:
    """Create the pages that no crawl has seen before."""
    pages = []
    for each in part:
        host = each.frontier.host_of(each.target.url)
        each.newly_due.count(host, each.target.depth)
        pages.append(
            Page(
                site=each.frontier.site,
                url=each.target.url,
                url_hash=each.key,
                given_url=each.target.url,
                depth=each.target.depth,
                crawl=each.frontier.job,
                host_id=host,
            )
        )
    Page.objects.bulk_create(pages)
    count_new_pages(pages)


def trap_of(url: str, depth: int) -> Trap | None:
    """Return why an address looks as if there were no end to its kind, or None.

    >>> trap_of("https://example.org/a/b/a/b/a/b/a/b/a/b", 3).code
    'trap'
    """
    if depth > MAX_DEPTH:
        return Trap(url, "too_deep", f"more than {MAX_DEPTH} links away from the entry")
    segments = [segment for segment in urlsplit(url).path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return Trap(
            url, "trap", f"more than {MAX_SEGMENTS} folders deep: relative links that pile up?"
        )
    name, n_times = Counter(segments).most_common(1)[0] if segments else ("", 0)
    if n_times > MAX_REPEATED:
        return Trap(
            url, "trap", f"“{name[:50]}” {n_times} times in the path: relative links that pile up?"
        )
    return None
