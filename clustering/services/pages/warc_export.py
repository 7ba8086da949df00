"""Write the pages of a site as a web archive (WARC), for `import_pages` and the tools of others.

A stored page is three records: the request, the response, and metadata with its depth, its address
as it was handed in, whether a browser fetched it, and its links with their XPaths. An address
without a stored page has metadata only, which say what became of it. Records come in the order in
which the addresses were found, so that whoever imports them finds them in the same order. Each
record is packed for itself, as readers expect.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings
from django.utils import timezone

from clustering.models import Asset, Link, Page, Snapshot
from clustering.services.pages.source_pages import BROWSER
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

PAGES_PER_QUERY: Final = 200
PAGES_PER_BEAT: Final = 50
PACKING_LEVEL: Final = 6
SOFTWARE: Final = "software: Vertex\r\nformat: WARC File Format 1.1\r\n"


def warc_request(*, site: Site) -> JobRequest:
    """Describe the job that writes a site's pages into a web archive."""
    return JobRequest(
        kind=EXPORT_WARC,
        title=f"Export {site.name} as WARC",
        site=site,
        key=f"export_warc:{site.pk}",
    )


def export_warc(run: JobRun) -> dict[str, Any]:
    """Write the pages of a job's site into a file of the export folder."""
    folder = settings.EXPORT_DIR
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{run.site.name}-{run.job.pk}"
    path = folder / f"{name}.warc.gz"
    # Named by the lease: a worker that lost it may still write.
    partial = folder / f"{name}.{run.lease[:8]}.partial"
    run.renew(n_done=0, n_total=Page.objects.filter(site=run.site).count(), message="Pages")
    n_pages = 0
    try:
        with partial.open("wb") as stream:
            for records in warc_parts(run.site):
                stream.write(b"".join(pack(record) for record in records))
                n_pages += 1
                if n_pages % PAGES_PER_BEAT == 0:
                    run.renew(n_done=min(n_pages, run.job.n_total or 0))
        run.renew()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return {"file": path.name, "bytes": path.stat().st_size}


EXPORT_WARC = JobKind(
    "clustering.export_warc", Job.Queue.KEEP, export_warc, "site.exported", starts_over=True
)


def pack(record: bytes) -> bytes:
    """Return a record as it stands in a .warc.gz."""
    return gzip.compress(record, PACKING_LEVEL, mtime=0)


def warc_parts(site: Site) -> Iterator[list[bytes]]:
    """Yield the records of the archive: those of one address, or of one file, at a time."""
    yield [_record("warcinfo", "", timezone.now(), SOFTWARE.encode(), "application/warc-fields")]
    with page_store().held():
        for pages in _batches(Page.objects.filter(site=site).order_by("pk")):
            links = _links_of(pages)
            for page in pages:
                yield _records_of_page(page, links.get(page.pk, []))
        assets = Asset.objects.filter(site=site).exclude(body="").order_by("pk")
        for asset in assets.iterator(PAGES_PER_QUERY):
            with suppress(BodyMissing, BodyDamaged):
                yield [_record_of_asset(asset)]


def _batches(pages: Any) -> Iterator[list[Page]]:
    last = 0
    while True:
        batch = list(
            pages.filter(pk__gt=last).select_related("latest_snapshot", "redirects_to")[
                :PAGES_PER_QUERY
            ]
        )
        if not batch:
            return
        yield batch
        last = batch[-1].pk


def _links_of(pages: Iterable[Page]) -> Mapping[int, list[tuple[str, str]]]:
    """Return the addresses and XPaths of the links of pages, in their order."""
    links: dict[int, list[tuple[str, str]]] = {}
    rows = Link.objects.filter(page__in=[page.pk for page in pages]).order_by("page", "position")
    for page_id, url, xpath in rows.values_list("page", "url", "xpath"):
        links.setdefault(page_id, []).append((url, xpath))
    return links


def _records_of_page(page: Page, links: Iterable[tuple[str, str]]) -> list[bytes]:
    """Return request, response and metadata of a page; of a redirect no request.

    A page without bytes has only metadata, which say why.
    """
    visited_at = page.visited_at or page.first_seen_at
    facts = {"hopsFromSeed": "L" * page.depth}
    if page.given_url != page.url:
        facts["vertex-given-url"] = page.given_url

    is_redirected = page.state == Page.State.REDIRECTED
    if is_redirected and page.redirects_to is not None:
        response = _redirect(page, page.redirects_to.url, visited_at)
        return [response, _metadata(page.url, visited_at, facts)]
    snapshot = page.latest_snapshot
    if is_redirected or snapshot is None:
        return [_metadata(page.url, visited_at, facts | _fate_of(page))]

    try:
        body = page_store().read(snapshot.body)
    except (BodyMissing, BodyDamaged) as error:
        fate = {"vertex-state": Page.State.FAILED.value, "vertex-reason": str(error)}
        return [_metadata(page.url, visited_at, facts | fate)]
    return [
        _record("request", page.url, snapshot.fetched_at, _asked_for(page.url), _http("request")),
        _response(page, snapshot, body),
        _metadata(page.url, snapshot.fetched_at, facts | _drawing_of(snapshot), links),
    ]


def _drawing_of(snapshot: Snapshot) -> dict[str, str]:
    """Return that a browser fetched a page and what it waited for; nothing for any other page."""
    if not snapshot.is_rendered:
        return {}
    return {"vertex-fetched-by": BROWSER, "vertex-waited-for": snapshot.waited_for}


def _response(page: Page, snapshot: Snapshot, body: bytes) -> bytes:
    headers = {
        "Content-Type": snapshot.content_type,
        "ETag": snapshot.etag,
        "Last-Modified": snapshot.last_modified,
        "Content-Length": str(len(body)),
    }
    block = _answer(snapshot.status, headers) + body
    more = {
        # Said of each page, as some came without a type.
        "WARC-Identified-Payload-Type": "text/html",
        "WARC-Payload-Digest": f"sha256:{snapshot.body}",
    }
    return _record("response", page.url, snapshot.fetched_at, block, _http("response"), more)


def _redirect(page: Page, location: str, at: datetime) -> bytes:
    answer = _answer(page.status or HTTPStatus.FOUND, {"Location": location, "Content-Length": "0"})
    return _record("response", page.url, at, answer, _http("response"))


def _record_of_asset(asset: Asset) -> bytes:
    body = page_store().read(asset.body)
    headers = {"Content-Type": asset.content_type, "Content-Length": str(len(body))}
    block = _answer(HTTPStatus.OK, headers) + body
    return _record("response", asset.url, asset.fetched_at, block, _http("response"))


def _fate_of(page: Page) -> dict[str, str]:
    """Return what is known of an address that has no stored page."""
    return {
        "vertex-state": str(page.state),
        "vertex-status": str(page.status or ""),
        "vertex-reason": page.reason,
    }


def _metadata(
    url: str, at: datetime, facts: Mapping[str, str], links: Iterable[tuple[str, str]] = ()
) -> bytes:
    lines = [(name, value) for name, value in facts.items() if value]
    lines += [("outlink", f"{target} L {xpath}") for target, xpath in links]
    return _record("metadata", url, at, _fields(lines).encode(), "application/warc-fields")


def _asked_for(url: str) -> bytes:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return f"GET {target} HTTP/1.1\r\n{_fields([('Host', parts.netloc)])}\r\n".encode()


def _answer(status: int, headers: Mapping[str, str]) -> bytes:
    with suppress(ValueError):
        status = HTTPStatus(status)
    phrase = status.phrase if isinstance(status, HTTPStatus) else "Unknown"
    given = [(name, value) for name, value in headers.items() if value]
    return f"HTTP/1.1 {int(status)} {phrase}\r\n{_fields(given)}\r\n".encode()


def _http(kind: str) -> str:
    return f"application/http; msgtype={kind}"


def _record(
    kind: str,
    url: str,
    at: datetime,
    block: bytes,
    content_type: str,
    more: Mapping[str, str] | None = None,
) -> bytes:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "WARC-Date": at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "WARC-Target-URI": url,
        "Content-Type": content_type,
        **(more or {}),
        "Content-Length": str(len(block)),
    }
    head = _fields([(name, value) for name, value in fields.items() if value])
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def _fields(fields: Iterable[tuple[str, str]]) -> str:
    """Return lines of names and values; no value may begin a line of its own."""
    return "".join(f"{name}: {' '.join(value.splitlines())}\r\n" for name, value in fields)
