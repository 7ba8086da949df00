"""Get the files of a site's pages: from an archive, from an earlier fetch, or by the guarded fetcher."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import webencodings
from django.conf import settings
from django.utils import timezone

from clustering.dom.addresses import BadAddress, join_url, normalise_url, origin_of, url_hash
from clustering.dom.frame.pictures import SVG_TYPE, clean_svg, font_type, image_type
from clustering.dom.frame.stylesheets import clean_stylesheet
from clustering.fetching.client import Fetched, Fetcher
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.robots import Robots, fetch_robots
from clustering.models import Asset, Snapshot
from vertex.core.models import Site
from vertex.core.storage import page_store
from vertex.core.texts import storable

SAME_TIME: Final = timedelta(days=3)  # between a page and a file that belongs to it
TRIED_AGAIN_AFTER: Final = timedelta(hours=1)  # what did not come
MAX_BYTES: Final = 5 * 1024 * 1024  # of one file
MAX_SHEET: Final = 2 * 1024 * 1024
SECONDS: Final = 15.0  # for one file
AT_ONCE: Final = 4  # requests
LONGEST_PAUSE: Final = (
    0.25  # seconds between two requests: what one page needs is asked for in one go
)
OK: Final = 200
ORDER: Final = {"sheet": 0, "font": 1, "image": 2}  # what a page needs most comes first
ACCEPTS: Final = {
    "sheet": "text/css,*/*;q=0.1",
    "image": "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.5",
    "font": "font/woff2,font/*,*/*;q=0.5",
}
NOT_SHEETS: Final = ("text/html", "image/", "application/json", "application/xhtml")


class NoSuchFile(Exception):
    """What came is not what a page can be drawn with; the message says why."""


@dataclass(slots=True)
class SiteFiles:
    """The files of a site while a job fetches; each address is asked for once."""

    site: Site
    fetcher: Fetcher
    is_anew: bool = False
    _asked: dict[str, Asset] = field(default_factory=dict)
    _robots: dict[str, Robots | None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next_at: float = 0.0

    def find(self, kind_by_url: dict[str, str], at: datetime) -> dict[str, Asset]:
        """Return the assets of these addresses that are there, of about the time of a page."""
        found = {url: self._asked[url] for url in kind_by_url if url in self._asked}
        hashes = {url_hash(url): url for url in kind_by_url if url not in found}
        rows = Asset.objects.filter(site=self.site, url_hash__in=list(hashes))
        for asset in sorted(rows, key=lambda row: abs(row.fetched_at - at), reverse=True):
            if self._is_usable(asset, at):
                found[hashes[bytes(asset.url_hash)]] = asset
        return found

    def _is_usable(self, asset: Asset, at: datetime) -> bool:
        if asset.is_from_archive:
            return True
        if not asset.body:
            return not self.is_anew and asset.fetched_at > timezone.now() - TRIED_AGAIN_AFTER
        return not self.is_anew and abs(asset.fetched_at - at) < SAME_TIME

    def fetch(self, kind_by_url: dict[str, str]) -> dict[str, Asset]:
        """Ask for files, some at once, keep what came and return a row for each."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            came = list(pool.map(self._ask, kind_by_url, kind_by_url.values()))
        bodies = page_store().put_many([body for body, _, _ in came if body])
        names = iter(bodies)
        rows = {
            url: keep_asset(
                site=self.site,
                url=url,
                kind=kind,
                body=next(names) if body else "",
                n_bytes=len(body),
                content_type=content_type,
                problem=problem,
                at=timezone.now(),
            )
            for (url, kind), (body, content_type, problem) in zip(
                kind_by_url.items(), came, strict=True
            )
        }
        self._asked |= rows
        return rows

    def _ask(self, url: str, kind: str) -> tuple[bytes, str, str]:
        """Return the cleaned body and its type, or why there is none."""
        try:
            self._check_robots(url)
            self._pause()
            answer = self.fetcher.fetch(
                url,
                headers={"Accept": ACCEPTS[kind]},
                max_bytes=MAX_SHEET if kind == "sheet" else MAX_BYTES,
                seconds=SECONDS,
                takes=lambda status, _type: status == OK,
            )
            return (*cleaned(answer, kind), "")
        except (FetchRefused, NoSuchFile) as error:
            return b"", "", storable(str(error), 300)

    def _check_robots(self, url: str) -> None:
        if not self.site.obey_robots:
            return
        origin = origin_of(url)
        with self._lock:
            if origin not in self._robots:
                self._robots[origin] = self._robots_of(origin)
            robots = self._robots[origin]
        if robots is None:
            raise NoSuchFile(f"{origin}/robots.txt cannot be read for now")
        if not robots.allows(url):
            raise NoSuchFile("robots.txt of the host forbids it")

    def _robots_of(self, origin: str) -> Robots | None:
        try:
            return Robots(fetch_robots(self.fetcher, origin).text, settings.USER_AGENT)
        except FetchRefused:
            return None

    def _pause(self) -> None:
        """Keep a short distance between requests, shorter still on sites that are crawled fast."""
        with self._lock:
            now = time.monotonic()
            wait = max(0.0, self._next_at - now)
            self._next_at = (
                max(now, self._next_at) + min(self.site.crawl_delay, LONGEST_PAUSE) / AT_ONCE
            )
        time.sleep(wait)


@dataclass(slots=True)
class PageFiles:
    """The files of one page, within the limits of a page."""

    site: SiteFiles
    snapshot: Snapshot
    assets: dict[str, Asset] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    n_bytes: int = 0

    def fetch(self, kind_by_url: dict[str, str]) -> bool:
        """Get the files that are new, the most needed first, and say whether there were any."""
        new = {
            url: kind
            for url, kind in kind_by_url.items()
            if not {url} & (self.assets.keys() | self.left_out)
        }
        there = self.site.find(new, self.snapshot.fetched_at)
        in_order = sorted(new, key=lambda url: ORDER[new[url]])
        for start in range(0, len(in_order), 4 * AT_ONCE):
            batch = [url for url in in_order[start : start + 4 * AT_ONCE] if self._has_room(url)]
            missing = {url: new[url] for url in batch if url not in there}
            came = self.site.fetch(missing) if missing else {}
            for url in batch:
                self._add(url, there.get(url) or came[url])
        return bool(new)

    def sheet_of(self, url: str) -> str | None:
        return sheet_text(self.assets.get(url))

    def _has_room(self, url: str) -> bool:
        has_room = (
            len(self.assets) < settings.ASSETS_PER_PAGE
            and self.n_bytes < settings.ASSET_MB_PER_PAGE << 20
        )
        if not has_room:
            self.left_out.add(url)
        return has_room

    def _add(self, url: str, asset: Asset) -> None:
        if len(self.assets) >= settings.ASSETS_PER_PAGE or (
            asset.n_bytes + self.n_bytes > settings.ASSET_MB_PER_PAGE << 20
        ):
            self.left_out.add(url)
            return
        self.assets[url] = asset
        self.n_bytes += asset.n_bytes


def keep_asset(
    *,
    site: Site,
    url: str,
    kind: str,
    body: str,
    n_bytes: int,
    content_type: str,
    problem: str,
    at: datetime,
    is_from_archive: bool = False,
) -> Asset:
    """Write down what came of an address; the same bytes are one row."""
    asset, is_new = Asset.objects.get_or_create(
        site=site,
        url_hash=url_hash(url),
        body=body,
        defaults={
            "url": url,
            "kind": kind,
            "n_bytes": n_bytes,
            "content_type": content_type,
            "problem": problem,
            "is_from_archive": is_from_archive,
            "fetched_at": at,
        },
    )
    if not is_new and at > asset.fetched_at:
        Asset.objects.filter(pk=asset.pk).update(fetched_at=at, problem=problem)
        asset.fetched_at = at
    return asset


def sheet_text(asset: Asset | None) -> str | None:
    """Return a cleaned style sheet, None where there is none."""
    if asset is None or not asset.body or asset.kind != Asset.Kind.SHEET:
        return None
    return page_store().read(asset.body).decode(errors="replace")


def cleaned(answer: Fetched, kind: str) -> tuple[bytes, str]:
    """Return what is kept of an answer, and its content type. Raises NoSuchFile."""
    if answer.status != OK:
        raise NoSuchFile(f"the host answers {answer.status}")
    return cleaned_file(answer.body, answer.content_type, kind, answer.final_url)


def cleaned_file(body: bytes, content_type: str, kind: str, url: str) -> tuple[bytes, str]:
    """Return a file as it may be handed out, and its content type. Raises NoSuchFile."""
    if not body:
        raise NoSuchFile("it is empty")
    if kind == "sheet":
        return _cleaned_sheet(body, content_type, url), "text/css; charset=utf-8"
    found = image_type(body) if kind == "image" else font_type(body)
    if found == SVG_TYPE:
        body = clean_svg(body)
    if not found or not body:
        raise NoSuchFile(f"it is no {kind} that is shown ({content_type[:80] or 'of no type'})")
    return body, found


def _cleaned_sheet(body: bytes, content_type: str, url: str) -> bytes:
    if content_type.lower().startswith(NOT_SHEETS):
        raise NoSuchFile(f"it is {content_type[:80]}, no style sheet")
    label = content_type.lower().partition("charset=")[2].strip("\"' ;")
    encoding = webencodings.lookup(label) if label else None
    text = webencodings.decode(body, encoding or webencodings.lookup("utf-8"), errors="replace")[0]

    def resolve(written: str) -> str | None:
        try:
            return normalise_url(join_url(url, written))
        except BadAddress:
            return None

    return clean_stylesheet(text, resolve).encode(errors="replace")
