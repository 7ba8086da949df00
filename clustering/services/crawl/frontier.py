"""The pages that a crawl still has to visit: rows, which survive an interruption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from django.db.models import Count, F, Min

from clustering.dom.addresses import belongs_to_site, origin_of, url_hash
from clustering.models import Host, Page
from clustering.services.crawl import hosts
from vertex.core.models import Job, Site
from vertex.core.texts import storable

MAX_DEPTH: Final = 100  # links from the entry: calendars and the like have no end
MAX_SEGMENTS: Final = 40
MAX_REPEATED: Final = 4  # the same name in one path
MAX_REMEMBERED: Final = 300_000  # addresses seen lately, to spare the database a query
REFUSING: Final = frozenset({"address", "robots", "bad_url", "too_large", "encoding", "redirect"})
ADDRESSES_PER_QUERY: Final = 400


@dataclass(frozen=True, slots=True)
class DuePage:
    """A page to visit."""

    pk: int
    url: str
    depth: int
    n_tries: int


class LinkTarget(NamedTuple):
    """An address that was found, and how far from the entry."""

    url: str
    written: str
    depth: int


class Trap(NamedTuple):
    """An address that is not followed because there would be no end to it."""

    url: str
    code: str
    reason: str


@dataclass(slots=True)
class Frontier:
    """The due pages of one crawl."""

    job: Job
    site: Site
    _seen: set[str] = field(default_factory=set)
    _host_by_origin: dict[str, int] = field(default_factory=dict)

    def add(self, targets: Iterable[LinkTarget]) -> tuple[Counter[int], list[Trap]]:
        """Make addresses of the site due, in this order, unless the crawl knows them already.

        Return how many became due by host, and the addresses that look like a trap.
        """
        traps: list[Trap] = []
        new_targets: dict[bytes, LinkTarget] = {}
        for target in targets:
            if target.url in self._seen:
                continue
            self._remember(target.url)
            if not self.belongs_to_site(target.url):
                continue
            trap = trap_of(target.url, target.depth)
            if trap:
                traps.append(trap)
            else:
                new_targets[url_hash(target.url)] = target
        return self._make_due(new_targets), traps

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
            .values_list("pk", "url", "depth", "n_tries")
        )
        rows = rows[: limit + len(without)]  # enough, whichever of them are left out
        return [DuePage(*row) for row in rows if row[0] not in without][:limit]

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

    def _remember(self, url: str) -> None:
        if len(self._seen) >= MAX_REMEMBERED:
            self._seen.clear()
        self._seen.add(url)

    def _make_due(self, targets: dict[bytes, LinkTarget]) -> Counter[int]:
        n_by_host: Counter[int] = Counter()
        hashes = list(targets)
        if hashes:  # one writer at a time adds pages to a site
            Site.objects.select_for_update(no_key=True).get(pk=self.site.pk)
        for start in range(0, len(hashes), ADDRESSES_PER_QUERY):
            part = {key: targets[key] for key in hashes[start : start + ADDRESSES_PER_QUERY]}
            known = Page.objects.filter(site=self.site, url_hash__in=list(part))
            rows = {
                bytes(key): (pk, crawl)
                for key, pk, crawl in known.values_list("url_hash", "pk", "crawl")
            }
            n_by_host += self._renew(part, rows)
            n_by_host += self._create(
                {key: target for key, target in part.items() if key not in rows}
            )
        return n_by_host

    def _renew(
        self, part: dict[bytes, LinkTarget], rows: Mapping[bytes, tuple[int, int | None]]
    ) -> Counter[int]:
        """Make pages due that were known before this crawl."""
        pks_by_host_and_depth: dict[tuple[int, int], list[int]] = {}
        for key, target in part.items():
            pk, crawl = rows.get(key, (0, self.job.pk))
            if crawl != self.job.pk:
                pks_by_host_and_depth.setdefault(
                    (self._host_of(target.url), target.depth), []
                ).append(pk)
        for (host, depth), pks in pks_by_host_and_depth.items():
            Page.objects.filter(pk__in=pks).update(
                state=Page.State.DUE,
                crawl=self.job,
                host_id=host,
                depth=depth,
                n_tries=0,
                reason="",
                redirects_to=None,
            )
        return Counter({host: len(pks) for (host, _), pks in pks_by_host_and_depth.items()})

    def _create(self, part: dict[bytes, LinkTarget]) -> Counter[int]:
        pages = [
            Page(
                site=self.site,
                url=target.url,
                url_hash=key,
                written_url=storable(target.written),
                depth=target.depth,
                crawl=self.job,
                host_id=self._host_of(target.url),
            )
            for key, target in part.items()
        ]
        Page.objects.bulk_create(pages)
        if pages:
            Site.objects.filter(pk=self.site.pk).update(n_pages=F("n_pages") + len(pages))
        return Counter(page.host_id for page in pages if page.host_id is not None)

    def _host_of(self, url: str) -> int:
        origin = origin_of(url)
        if origin not in self._host_by_origin:
            self._host_by_origin[origin] = hosts.find_host(origin=origin).pk
        return self._host_by_origin[origin]


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
