"""Bring in pages from files, in batches of one transaction: a crash loses and doubles nothing."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.dom.addresses import MAX_LENGTH, BadAddress, normalise_url
from clustering.models import Page
from clustering.services.pages.archive_files import (
    link_redirects,
    prepare_files,
    store_addresses,
    store_files,
)
from clustering.services.pages.archives import open_source
from clustering.services.pages.pages import (
    PreparedVisit,
    StoredVisit,
    Visit,
    prepare_visits,
    store_visits,
)
from clustering.services.pages.source_pages import FoundAddress, Item, NotTaken, Skipped, SourcePage
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.files import uploads
from vertex.core.services.files.files import UnreadableFile, check_exists
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.storage import DiskFull
from vertex.core.texts import storable

BATCH_ITEMS = 100
BATCH_BYTES = 8 * 1024 * 1024
LEASED_ITEMS = 500  # read again between two renewals of the lease
SNAPSHOTS = ("new", "unchanged", "failed")


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """What became of one line or entry of a source."""

    place: str
    url: str
    snapshot: str  # new, unchanged or failed
    reason: str = ""
    code: str = ""  # a word to group reasons by


def import_request(
    *,
    site: Site,
    source: Path,
    base_url: str = "",
    folder: Path | None = None,
) -> JobRequest:
    """Describe the import of a source; `base_url` defaults to the site's root.

    `folder` is where a manifest's files are, if not beside it. Raises UnreadableFile, BadAddress.
    """
    check_exists(source)
    base = normalise_url(base_url or site.root_url).partition("?")[0]
    params = {
        "source": str(source.absolute()),
        "base_url": base if base.endswith("/") else f"{base}/",
        "folder": str(folder.absolute()) if folder else "",
    }
    key = hashlib.sha256("\0".join(params.values()).encode("utf-8", "surrogateescape")).hexdigest()[
        :32
    ]
    label = storable(source.name)
    return JobRequest(
        kind=IMPORT_PAGES,
        title=f"Import {label} into {site.name}",
        site=site,
        params=params,
        key=f"import:{site.pk}:{key}",
        subject=label,
    )


def import_pages(run: jobs.JobRun) -> dict[str, Any]:
    """Store the pages of the job's source; after a crash, go on behind the last stored batch.

    Every line is reported, in the source's order, those of earlier tries included.
    """
    path = Path(run.job.params["source"])
    if run.job.params.get("is_read"):
        uploads.drop_upload(path)
        return run.job.result or {}
    folder = Path(run.job.params["folder"]) if run.job.params["folder"] else None
    try:
        with open_source(path, run.job.params["base_url"], folder) as source:
            work = _Import(run, source.state)
            run.renew(n_total=source.n_items)
            work.store_all(source.items)
    except (UnreadableFile, DiskFull) as error:
        raise jobs.JobFailed(str(error)) from error
    uploads.drop_upload(path)
    return dict(work.counts)


IMPORT_PAGES = JobKind("clustering.import_pages", Job.Queue.KEEP, import_pages, "import.requested")


class _Import:
    """An import while it goes on: how far it is, and what became of the lines so far."""

    def __init__(self, run: jobs.JobRun, state: str) -> None:
        self.run = run
        self.site = Site.objects.get(jobs=run.job)
        is_same = run.job.params.get("state") == state
        self.n_stored = run.job.n_done if is_same else 0  # items that earlier tries have dealt with
        self.counts = Counter[str](run.job.result if is_same else None)
        if not is_same:
            self._begin_anew(state)

    def store_all(self, items: Iterator[Item]) -> None:
        """Store batch after batch and remember the end. Raises JobFailed where no page came."""
        for n_told, item in enumerate(islice(items, self.n_stored)):
            if n_told % LEASED_ITEMS == 0:
                self.run.renew()
            self._tell_again(_checked(item))
        for batch, prepared in _prepared(_batches(_checked(item) for item in items)):
            self._store(batch, prepared)
        if not any(self.counts[what] for what in SNAPSHOTS):
            summary = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in self.counts.items())
            raise jobs.JobFailed(f"there is no page in it ({summary or 'nothing at all'})")
        link_redirects(site=self.site)
        self._save(params=self.run.job.params | {"is_read": True})

    def _begin_anew(self, state: str) -> None:
        """Forget what an earlier try did of a source that was another one then."""
        self.run.job.params["state"] = state
        with transaction.atomic():
            self.run.renew(n_done=0)
            Refusal.objects.filter(job=self.run.job).delete()
            self._save(params=self.run.job.params, result=None)

    def _tell_again(self, item: SourcePage | NotTaken | Skipped) -> None:
        if isinstance(item, SourcePage):
            self.run.report(ImportedLine(item.place, item.url, "unchanged"))
        elif isinstance(item, NotTaken):
            self.run.report(ImportedLine(item.place, item.url, "failed", item.reason, item.code))

    def _store(self, batch: list[Item], prepared: list[PreparedVisit]) -> None:
        """Store a batch and how far the import is in one transaction; then tell of its items."""
        files = prepare_files(
            [item.file for item in batch if isinstance(item, Skipped) and item.file]
        )
        with transaction.atomic():
            n_stored = self.n_stored + len(batch)
            store_files(site=self.site, prepared=files)
            self.run.renew(n_done=n_stored, message=_summary(self.counts))
            store_addresses(site=self.site, addresses=_addresses_of(batch))
            lines = list(_lines_of(batch, store_visits(site=self.site, prepared=prepared)))
            counts = self.counts + _count(batch, lines)
            Refusal.objects.bulk_create(self._refusals(lines))
            self._save(result=dict(counts))
        self.n_stored, self.counts = n_stored, counts
        for line in lines:
            self.run.report(line)

    def _refusals(self, lines: list[ImportedLine]) -> Iterator[Refusal]:
        for line in lines:
            if line.snapshot == "failed":
                yield Refusal(
                    site=self.site,
                    job=self.run.job,
                    subject=f"{line.place} {line.url[:MAX_LENGTH]}".strip(),
                    code=line.code,
                    reason=line.reason[:500],
                )

    def _save(self, **changes: object) -> None:
        Job.objects.filter(pk=self.run.job.pk, lease=self.run.lease).update(**changes)


def _checked(item: Item) -> Item:
    """Return the page with its text fit for the database, or why its address cannot be used."""
    if isinstance(item, Skipped):
        return item
    if isinstance(item, SourcePage):
        try:
            normalise_url(item.url)
        except BadAddress as error:
            return NotTaken(item.place, "bad_address", str(error), storable(item.url))
        return item
    return NotTaken(item.place, item.code, storable(item.reason), storable(item.url))


def _prepared(batches: Iterable[list[Item]]) -> Iterator[tuple[list[Item], list[PreparedVisit]]]:
    """Yield each batch with its visits prepared, the next being prepared while one is stored."""
    with ThreadPoolExecutor(1) as ahead:
        ready: deque[tuple[list[Item], Future[list[PreparedVisit]]]] = deque()
        for batch in batches:
            ready.append((batch, ahead.submit(_prepare, batch)))
            if len(ready) > 1:
                done, visits = ready.popleft()
                yield done, visits.result()
        for done, visits in ready:
            yield done, visits.result()


def _prepare(batch: list[Item]) -> list[PreparedVisit]:
    now = timezone.now()
    return prepare_visits([_visit_of(item, now) for item in batch if isinstance(item, SourcePage)])


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Cut the items into batches that are bounded in number and bytes."""
    batch: list[Item] = []
    n_bytes = 0
    for item in items:
        size = _size_of(item)
        if batch and (len(batch) == BATCH_ITEMS or n_bytes + size > BATCH_BYTES):
            yield batch
            batch, n_bytes = [], 0
        batch.append(item)
        n_bytes += size
    if batch:
        yield batch


def _size_of(item: Item) -> int:
    if isinstance(item, Skipped):
        return len(item.file.body) if item.file else 0
    return len(item.body) if isinstance(item, SourcePage) else 0


def _visit_of(page: SourcePage, now: datetime) -> Visit:
    return Visit(
        url=page.url,
        body=page.body,
        # A clock that is ahead must not outdate later visits.
        fetched_at=min(page.fetched_at or now, now),
        status=page.status,
        content_type=page.content_type,
        is_given=True,
        depth=page.depth,
        etag=page.etag,
        last_modified=page.last_modified,
        is_rendered=page.is_rendered,
        waited_for=page.waited_for,
    )


def _addresses_of(batch: list[Item]) -> list[FoundAddress]:
    """Return the addresses without a page, and between them those of pages, to keep their order."""
    if not any(isinstance(item, Skipped) and item.address for item in batch):
        return []
    addresses = []
    for item in batch:
        if isinstance(item, SourcePage):
            addresses.append(FoundAddress(item.url, Page.State.DUE))
        elif isinstance(item, Skipped) and item.address is not None:
            addresses.append(item.address)
    return addresses


def _lines_of(batch: list[Item], stored: list[StoredVisit]) -> Iterator[ImportedLine]:
    """Yield what became of each item that should be a page, in the order of the source."""
    visits = iter(stored)
    for item in batch:
        if isinstance(item, NotTaken):
            yield ImportedLine(item.place, item.url, "failed", item.reason, item.code)
        elif isinstance(item, SourcePage):
            visit = next(visits)
            yield ImportedLine(item.place, item.url, visit.snapshot, visit.reason, visit.code)


def _count(batch: list[Item], lines: list[ImportedLine]) -> Counter[str]:
    return Counter(line.snapshot for line in lines) + Counter(
        f"skipped_{item.kind}" for item in batch if isinstance(item, Skipped)
    )


def _summary(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[what]:,} {what}" for what in SNAPSHOTS)
