"""Get the files of a site's pages: from an archive, an earlier fetch, or the site."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, NamedTuple

from django.conf import settings
from django.utils import timezone

from clustering.dom.addresses import url_hash
from clustering.dom.frame.pictures import SVG_TYPE, clean_svg, font_type, image_type
from clustering.dom.frame.stylesheets import clean_sheet
from clustering.fetching.client import MAX_REDIRECTS, Fetched
from clustering.models import Asset, Snapshot
from clustering.services.children.limits import CallStopped, call_when_free
from clustering.services.crawl.errands import Errands
from clustering.services.crawl.fetch_tasks import Errand
from vertex.core.models import Site
from vertex.core.storage import page_store
from vertex.core.texts import storable

MAX_AGE_DIFFERENCE: Final = timedelta(days=3)  # of a page and a file that belongs to it
RETRY_AFTER: Final = timedelta(hours=1)  # what did not come
MAX_FILE_BYTES: Final = 5 * 1024 * 1024
MAX_SHEET_BYTES: Final = 2 * 1024 * 1024
MAX_SECONDS: Final = 15.0  # for one file
FILES_PER_BATCH: Final = 16
ORDER_BY_KIND: Final = {"sheet": 0, "font": 1, "image": 2}  # what a page needs most comes first
ACCEPTS: Final = {
    "sheet": "text/css,*/*;q=0.1",
    "image": "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.5",
    "font": "font/woff2,font/*,*/*;q=0.5",
}
SHEET_TYPE: Final = "text/css; charset=utf-8"
NOT_SHEETS: Final = ("text/html", "image/", "application/json", "application/xhtml")


class NoSuchFile(Exception):
    """What came is not what a page can be drawn with; the message says why."""


class _File(NamedTuple):
    """What came of an address."""

    body: bytes = b""
    content_type: str = ""
    problem: str = ""  # why there is no body


@dataclass(slots=True)
class SiteFiles:
    """The files of a site while a job fetches; each address is fetched once."""

    site: Site
    errands: Errands
    is_anew: bool = False
    _fetched: dict[str, Asset] = field(default_factory=dict)

    def find(self, kind_by_url: dict[str, str], at: datetime) -> dict[str, Asset]:
        """Return the assets of these addresses that are there, of about the time of a page."""
        asset_by_url = {url: self._fetched[url] for url in kind_by_url if url in self._fetched}
        url_by_hash = {url_hash(url): url for url in kind_by_url if url not in asset_by_url}
        stored = Asset.objects.filter(site=self.site, url_hash__in=list(url_by_hash))
        # The closest in time comes last, and stays.
        for asset in sorted(stored, key=lambda row: abs(row.fetched_at - at), reverse=True):
            if self._is_usable(asset, at):
                asset_by_url[url_by_hash[bytes(asset.url_hash)]] = asset
        return asset_by_url

    def _is_usable(self, asset: Asset, at: datetime) -> bool:
        if asset.is_from_archive:
            return True
        if self.is_anew:
            return False
        if not asset.body:
            return asset.fetched_at > timezone.now() - RETRY_AFTER
        return abs(asset.fetched_at - at) < MAX_AGE_DIFFERENCE

    def fetch(self, kind_by_url: dict[str, str]) -> dict[str, Asset]:
        """Fetch files, store what came and return a row for each. Raises HostTaken."""
        wanted = [_errand_for(url, kind) for url, kind in kind_by_url.items()]
        files = {
            errand.url: _file_of(errand, kind_by_url[errand.url])
            for errand in self.errands.do(wanted)
        }
        names = iter(page_store().put_many([file.body for file in files.values() if file.body]))
        asset_by_url: dict[str, Asset] = {}
        for url, file in files.items():
            asset_by_url[url] = store_asset(
                site=self.site,
                url=url,
                kind=kind_by_url[url],
                body=next(names) if file.body else "",
                n_bytes=len(file.body),
                content_type=file.content_type,
                problem=file.problem,
                at=timezone.now(),
            )
        self._fetched |= asset_by_url
        return asset_by_url


def _errand_for(url: str, kind: str) -> Errand:
    return Errand(
        url,
        max_bytes=MAX_SHEET_BYTES if kind == "sheet" else MAX_FILE_BYTES,
        max_redirects=MAX_REDIRECTS,
        seconds=MAX_SECONDS,
        headers={"Accept": ACCEPTS[kind]},
        takes=lambda status, _type: status == HTTPStatus.OK,
    )


def _file_of(errand: Errand, kind: str) -> _File:
    """Return the cleaned body and its type, or why there is none."""
    if errand.answer is None:
        return _File(problem=storable(str(errand.refused), 300))
    try:
        body, content_type = cleaned(errand.answer, kind)
    except NoSuchFile as error:
        return _File(problem=storable(str(error), 300))
    return _File(body, content_type)


@dataclass(slots=True)
class PageFiles:
    """The files of one page, within the limits of a page."""

    site: SiteFiles
    snapshot: Snapshot
    assets: dict[str, Asset] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    n_bytes: int = 0

    def fetch(self, kind_by_url: dict[str, str]) -> bool:
        """Fetch the files that are new, the most needed first; return whether there were any."""
        new = {
            url: kind
            for url, kind in kind_by_url.items()
            if url not in self.assets and url not in self.left_out
        }
        stored = self.site.find(new, self.snapshot.fetched_at)
        in_order = sorted(new, key=lambda url: ORDER_BY_KIND[new[url]])
        for start in range(0, len(in_order), FILES_PER_BATCH):
            batch = [
                url for url in in_order[start : start + FILES_PER_BATCH] if self._has_room(url)
            ]
            missing = {url: new[url] for url in batch if url not in stored}
            fetched = self.site.fetch(missing) if missing else {}
            for url in batch:
                self._add(url, stored.get(url) or fetched[url])
        return bool(new)

    def read_sheets(self) -> dict[str, str]:
        """Return the cleaned style sheets that came, by address."""
        texts = {url: sheet_text(asset) for url, asset in self.assets.items()}
        return {url: text for url, text in texts.items() if text is not None}

    def _has_room(self, url: str) -> bool:
        """Return whether the page may have one more file; record one that is left out."""
        has_room = (
            len(self.assets) < settings.ASSETS_PER_PAGE
            and self.n_bytes < settings.ASSET_MB_PER_PAGE << 20
        )
        if not has_room:
            self.left_out.add(url)
        return has_room

    def _add(self, url: str, asset: Asset) -> None:
        is_full = len(self.assets) >= settings.ASSETS_PER_PAGE
        if is_full or asset.n_bytes + self.n_bytes > settings.ASSET_MB_PER_PAGE << 20:
            self.left_out.add(url)
            return
        self.assets[url] = asset
        self.n_bytes += asset.n_bytes


def store_asset(
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
    """Store what came of an address; the same bytes are one row."""
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
    """Return the cleaned body of an answer, and its content type. Raises NoSuchFile."""
    if answer.status != HTTPStatus.OK:
        raise NoSuchFile(f"the host answers {answer.status}")
    return cleaned_file(answer.body, answer.content_type, kind, answer.final_url)


def cleaned_file(body: bytes, content_type: str, kind: str, url: str) -> tuple[bytes, str]:
    """Return a file as it may be handed out, and its content type. Raises NoSuchFile."""
    if not body:
        raise NoSuchFile("it is empty")
    try:
        if kind == "sheet":
            if content_type.lower().startswith(NOT_SHEETS):
                raise NoSuchFile(f"it is {content_type[:80]}, no style sheet")
            return call_when_free(clean_sheet, body, content_type, url), SHEET_TYPE
        file_type = image_type(body) if kind == "image" else font_type(body)
        if file_type == SVG_TYPE:
            body = call_when_free(clean_svg, body)
    except CallStopped as stopped:
        raise NoSuchFile(f"cleaning it was stopped: {stopped}") from None
    if not file_type or not body:
        raise NoSuchFile(f"it is no {kind} that is shown ({content_type[:80] or 'of no type'})")
    return body, file_type
