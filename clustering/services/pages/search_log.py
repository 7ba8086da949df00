"""Bring in what people typed into search engines before they came to a site's pages."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.models import SearchClick
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.files import uploads
from vertex.core.services.files.files import (
    BadLine,
    UnreadableFile,
    check_exists,
    decompressed,
    read_lines,
    regular_file,
)
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.texts import storable

BATCH = 1000
N_FIELDS = 3
MAX_QUERY = 500
MAX_CLICKS = 2**31 - 1
HEADER = b"query\turl\tclicks"


class LoggedClick(NamedTuple):
    """One line of a log: how often a query led to an address."""

    query: str
    url: str  # normalised
    clicks: int


def search_log_request(*, site: Site, source: Path) -> JobRequest:
    """Describe the import of a search log. Raises UnreadableFile."""
    check_exists(source)
    path = str(source.absolute())
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    label = storable(source.name)
    return JobRequest(
        kind=IMPORT_SEARCH_LOG,
        title=f"Import search log {label} into {site.name}",
        site=site,
        params={"source": path},
        key=f"search_log:{site.pk}:{digest}",
        subject=label,
    )


def import_search_log(run: jobs.JobRun) -> dict[str, Any]:
    """Store the clicks of the job's log; within a log the clicks of one query and page add up.

    What an earlier log said of the same query and page is replaced, so doing it twice changes
    nothing. The place and the reason of each bad line are reported.
    """
    path = Path(run.job.params["source"])
    if run.job.params.get("is_read"):
        uploads.drop_upload(path)
        return run.job.result or {}
    try:
        # An unnamed SQLite database lives in a file of its own: a log of any size adds up in
        # little memory.
        with closing(sqlite3.connect("")) as sums:
            n_bad = _add_up(run, path, sums)
            n_stored = _store_sums(run, sums)
    except UnreadableFile as error:
        raise jobs.JobFailed(str(error)) from error
    result = {"stored": n_stored, "refused": n_bad}
    run.job.params["is_read"] = True
    Job.objects.filter(pk=run.job.pk, lease=run.lease).update(params=run.job.params, result=result)
    uploads.drop_upload(path)
    return result


IMPORT_SEARCH_LOG = JobKind(
    "clustering.import_search_log", Job.Queue.KEEP, import_search_log, "search_log.requested"
)


def read_search_log(path: Path) -> Iterator[tuple[int, LoggedClick | BadLine]]:
    """Yield the number of each line with its click, or with the reason why it is none."""
    with regular_file(path) as raw:
        for number, line in read_lines(decompressed(raw, path.name)):
            if isinstance(line, BadLine):
                yield number, line
            elif line.lower() != HEADER:
                yield number, parse_click(line)


def parse_click(line: bytes) -> LoggedClick | BadLine:
    r"""Return the click that a line tells of.

    >>> parse_click(b"red shoes\thttp://example.org/p/1#top\t12")
    LoggedClick(query='red shoes', url='http://example.org/p/1', clicks=12)
    """
    try:
        fields = line.decode("utf-8").split("\t")
    except UnicodeDecodeError:
        return BadLine("not UTF-8")
    if len(fields) != N_FIELDS:
        return BadLine(
            f"{len(fields)} field(s), but query, url and clicks are to be separated by tabs"
        )
    query, written_url, clicks = (field.strip() for field in fields)
    if not query or len(query) > MAX_QUERY or not query.isprintable():
        return BadLine(f"the query is empty, longer than {MAX_QUERY} characters or not printable")
    if not (clicks.isascii() and clicks.isdigit() and len(clicks) <= len(str(MAX_CLICKS))):
        return BadLine(f"clicks are {clicks[:20]!r}, but must be a whole number")
    try:
        return LoggedClick(query, normalise_url(written_url), min(int(clicks), MAX_CLICKS))
    except BadAddress as error:
        return BadLine(str(error))


def _add_up(run: jobs.JobRun, path: Path, sums: sqlite3.Connection) -> int:
    """Fill `sums` with the log's clicks, write down its bad lines and return their number."""
    sums.execute("CREATE TABLE sums (query, url, clicks, PRIMARY KEY (query, url)) WITHOUT ROWID")
    Refusal.objects.filter(job=run.job).delete()  # what an earlier try wrote down
    n_bad = 0
    lines = read_search_log(path)
    while batch := list(islice(lines, BATCH)):
        bad = [
            (f"{path.name}:{number}", line.reason)
            for number, line in batch
            if isinstance(line, BadLine)
        ]
        sums.executemany(
            "INSERT INTO sums VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET clicks = clicks + "
            "excluded.clicks",
            (line for _, line in batch if isinstance(line, LoggedClick)),
        )
        with transaction.atomic():
            run.renew(message=f"reading, {n_bad + len(bad):,} bad lines")
            Refusal.objects.bulk_create(_refusals(run.job, bad))
        n_bad += len(bad)
        for place_and_reason in bad:
            run.report(place_and_reason)
    return n_bad


def _refusals(job: Job, bad: Iterable[tuple[str, str]]) -> Iterator[Refusal]:
    for place, reason in bad:
        yield Refusal(
            site=job.site, job=job, subject=place, code="bad_line", reason=storable(reason)[:500]
        )


def _store_sums(run: jobs.JobRun, sums: sqlite3.Connection) -> int:
    (n_total,) = sums.execute("SELECT count(*) FROM sums").fetchone()
    rows = sums.execute("SELECT query, url, clicks FROM sums")
    n_done = 0
    while batch := rows.fetchmany(BATCH):
        n_done += len(batch)
        with transaction.atomic():
            run.renew(n_done=n_done, n_total=n_total, message="storing")
            SearchClick.objects.bulk_create(
                [_row(run.job.site, LoggedClick(*row)) for row in batch],
                update_conflicts=True,
                unique_fields=["site", "query", "url_hash"],
                update_fields=["url", "clicks"],
            )
    return n_done


def _row(site: Site | None, click: LoggedClick) -> SearchClick:
    return SearchClick(
        site=site,
        query=click.query,
        url=click.url,
        url_hash=url_hash(click.url),
        clicks=min(click.clicks, MAX_CLICKS),
    )
