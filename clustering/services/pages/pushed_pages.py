"""Store pages that another crawler fetched and pushes here, in batches.

Each page of a batch is taken or refused for itself. A batch that is pushed again changes nothing: a
page that has the same bytes is the same visit, and a page that was refused keeps one refusal.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from clustering.dom.addresses import BadAddress, belongs_to_site, normalise_url
from clustering.fetching.politeness import BUSY
from clustering.services.crawl.crawl_results import SERVER_ERROR, essence, takes_page
from clustering.services.pages.page_entries import (
    read_content_type,
    read_status,
    read_text,
    read_time,
)
from clustering.services.pages.pages import (
    FAILED,
    StoredVisit,
    Visit,
    prepare_visits,
    store_visits,
)
from clustering.services.pages.source_pages import PageRefused, checked_size
from clustering.services.pages.warcs import decoded_body
from vertex.core.models import Refusal, Site
from vertex.core.texts import storable

MAX_PUSHED_PAGES: Final = 100  # in a batch
MAX_PUSHED_BYTES: Final = 64 * 1024 * 1024  # of its pages together, once they are decoded
MAX_DEPTH: Final = 1_000_000
MAX_SUBJECT: Final = 2_000  # characters of an address in a refusal
KNOWN_KEYS: Final = (
    "url",
    "body",
    "file",
    "status",
    "headers",
    "content_type",
    "fetched_at",
    "final_url",
    "depth",
)


@dataclass(frozen=True, slots=True)
class PushedLine:
    """What became of one page of a batch."""

    url: str  # as pushed; blank where there was none
    snapshot: str  # new, unchanged or failed
    page_id: int | None = None
    code: str = ""  # a word to group reasons by
    reason: str = ""


def store_pushed(*, site: Site, entries: Sequence[object]) -> list[PushedLine]:
    """Store the pages of a batch and return what became of each, in its order.

    An entry holds `url` and `body`, bytes or their base64; what else it may hold stands in
    KNOWN_KEYS. A page that is not taken leaves a refusal. Raises DiskFull, StoreAway.
    """
    visits = _read_batch(site, entries)
    prepared = prepare_visits([visit for visit in visits if isinstance(visit, Visit)])
    with transaction.atomic():
        stored = iter(store_visits(site=site, prepared=prepared))
        lines = [_line_of(next(stored)) if isinstance(visit, Visit) else visit for visit in visits]
        _replace_refusals(site, lines)
    return lines


def _read_batch(site: Site, entries: Sequence[object]) -> list[Visit | PushedLine]:
    """Return the visit of each entry, or why it is not taken."""
    now = timezone.now()
    n_bytes = 0
    visits: list[Visit | PushedLine] = []
    for entry in entries:
        try:
            visit = _visit_of(entry, site, now)
            if n_bytes + len(visit.body) > MAX_PUSHED_BYTES:
                reason = (
                    f"the batch has more than {MAX_PUSHED_BYTES // 2**20} MiB; push fewer pages"
                )
                raise PageRefused("too_large", reason)  # noqa: TRY301 - like all that is refused
        except PageRefused as refused:
            reason = storable(str(refused), 500)
            visits.append(PushedLine(_url_of(entry), FAILED, None, refused.code, reason))
        else:
            n_bytes += len(visit.body)
            visits.append(visit)
    return visits


def _visit_of(entry: object, site: Site, now: datetime) -> Visit:
    if not isinstance(entry, dict):
        raise PageRefused("bad_line", "a page is an object with url and body")
    unknown = [str(key)[:40] for key in entry if key not in KNOWN_KEYS]
    if unknown:
        raise PageRefused("bad_line", f"{unknown[0]!r} is none of {', '.join(KNOWN_KEYS)}")
    url = _address_at(site, read_text(entry, "url"))
    final_url = _address_at(site, read_text(entry, "final_url")) if entry.get("final_url") else ""
    headers = _headers_of(entry)
    status = read_status(entry.get("status"))
    content_type = read_content_type(entry.get("content_type") or headers.get("content-type"))
    _check_page(status, content_type)
    return Visit(
        url=url,
        body=decoded_body(_body_of(entry), headers),
        # A clock that is ahead must not outdate later visits.
        fetched_at=min(read_time(entry.get("fetched_at")) or now, now),
        status=status,
        content_type=content_type,
        final_url=final_url,
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
        is_given=True,
        depth=_depth_of(entry),
    )


def _address_at(site: Site, url: str) -> str:
    """Return the address as it is written. Raises PageRefused where the site has no such page."""
    try:
        normalised = normalise_url(url)
    except BadAddress as error:
        raise PageRefused("bad_address", str(error)) from None
    if not belongs_to_site(normalised, site.root_url, site.extra_hosts):
        reason = f"it does not belong to the site {site.name}, whose root is {site.root_url}"
        raise PageRefused("other_site", reason)
    return url


def _headers_of(entry: Mapping[str, Any]) -> dict[str, str]:
    headers = entry.get("headers") or {}
    if not isinstance(headers, dict):
        raise PageRefused("bad_line", '"headers" must be an object of names and texts')
    for name, value in headers.items():
        if not isinstance(value, str):
            raise PageRefused("bad_line", f"the header {str(name)[:40]!r} must be a text")
    return {str(name).strip().lower(): value for name, value in headers.items()}


def _check_page(status: int, content_type: str) -> None:
    """Refuse what a crawl would not store as a page."""
    if 300 <= status < 400:
        reason = f"answers {status} without a page; push the page it leads to, with final_url"
        raise PageRefused("redirect", reason)
    if status in BUSY or status >= SERVER_ERROR:
        raise PageRefused("status", f"answers {status}")
    if not takes_page(status, content_type):
        raise PageRefused("not_html", f"is {essence(content_type)[:80] or status}, not HTML")


def _body_of(entry: Mapping[str, Any]) -> bytes:
    if "file" in entry:
        raise PageRefused(
            "missing_file", f"there is no file {str(entry['file'])[:80]!r} in the form"
        )
    body = entry.get("body")
    if isinstance(body, str):
        try:
            body = base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            body = None
    if not isinstance(body, bytes):
        raise PageRefused("bad_line", '"body" must be the bytes of the page in base64')
    checked_size(len(body))
    return body


def _depth_of(entry: Mapping[str, Any]) -> int | None:
    depth = entry.get("depth")
    if depth is None:
        return None
    if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= MAX_DEPTH:
        raise PageRefused("bad_line", '"depth" must be the number of links from the entry')
    return depth


def _url_of(entry: object) -> str:
    url = entry.get("url") if isinstance(entry, dict) else None
    return storable(url, MAX_SUBJECT) if isinstance(url, str) else ""


def _line_of(visit: StoredVisit) -> PushedLine:
    return PushedLine(visit.url, visit.snapshot, visit.page_id, visit.code, visit.reason)


def _replace_refusals(site: Site, lines: Sequence[PushedLine]) -> None:
    """Leave one refusal for each page that was not taken, and none for a page that was."""
    addresses = {storable(line.url) for line in lines}
    Refusal.objects.filter(site=site, job=None, subject__in=addresses).delete()
    refused = {(storable(line.url), line.code): line for line in lines if line.snapshot == FAILED}
    Refusal.objects.bulk_create(
        Refusal(site=site, subject=subject, code=code, reason=line.reason)
        for (subject, code), line in refused.items()
    )
