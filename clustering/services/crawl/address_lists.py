"""Visit the addresses of a list: those pages and no others, with a crawl's own manners.

The list is a file with an address a line, handed in or read from the site when the visit begins.
Its addresses become rows: a job that was cut off goes on with what is left of them, and reads the
list again only where it was not read to its end.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.core.exceptions import ValidationError

from clustering.dom.addresses import BadAddress, normalise_url
from clustering.fetching.decompressing import decompress
from clustering.fetching.refusals import FetchRefused
from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.engine import Engine
from clustering.services.crawl.errands import open_errands, postpones
from clustering.services.crawl.frontier import LinkTarget
from clustering.services.crawl.limits import CrawlLimits, entry_at
from clustering.services.crawl.listed_pages import figures_of, is_listed, keep_listed
from vertex.core.models import Job, Site, User
from vertex.core.services.files import uploads
from vertex.core.services.files.files import (
    BadLine,
    UnreadableFile,
    check_exists,
    decompressed,
    read_lines,
    regular_file,
)
from vertex.core.services.jobs.jobs import JobFailed, JobRun, hand_back
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.texts import storable

ADDRESSES_PER_STEP: Final = 1000
MAX_ADDRESSES: Final = 10_000_000
MAX_PASTED: Final = 10_000  # addresses by the API, or in the browser
MAX_LIST_BYTES: Final = 50 * 1024 * 1024  # of a list that is read from the site, as of a sitemap
MAX_REDIRECTS: Final = 5  # on the way to it
COMMENT: Final = b"#"
PASTED: Final = "addresses.txt"
GZIP: Final = b"\x1f\x8b"
OK: Final = 200


def address_list_request(*, site: Site, source: Path, delay: float | None = None) -> JobRequest:
    """Describe the visit of a list's addresses. Raises UnreadableFile, ValidationError."""
    check_exists(source)
    return _request(site, str(source.absolute()), "", delay, storable(source.name))


def list_at_request(*, site: Site, url: str, delay: float | None = None) -> JobRequest:
    """Describe the visit of what a file of the site lists by then. Raises ValidationError."""
    listed_at = entry_at(site, url)
    return _request(site, "", listed_at, delay, listed_at)


def _request(site: Site, source: str, url: str, delay: float | None, subject: str) -> JobRequest:
    limits = CrawlLimits(delay=delay)
    return JobRequest(
        kind=VISIT_ADDRESSES,
        title=f"Visit addresses of {site.name}",
        site=site,
        params={"source": source, "url": url, "delay": limits.delay},
        key=f"visit_addresses:{site.pk}",
        subject=subject,
    )


def visit_pasted(
    *, site: Site, addresses: Iterable[str], delay: float | None = None, actor: User | None
) -> Job:
    """Start the visit of pasted addresses. Raises ValidationError, DiskFull, JobExists."""
    lines = [line for line in (address.strip() for address in addresses) if line]
    if not lines:
        raise ValidationError("There is no address; write one on each line.")
    if len(lines) > MAX_PASTED:
        raise ValidationError(
            f"{len(lines):,} addresses are too many to paste; "
            f"hand in a file with more than {MAX_PASTED:,}."
        )
    chunks = (f"{line}\n".encode(errors="replace") for line in lines)
    return visit_uploaded(site=site, chunks=chunks, name=PASTED, delay=delay, actor=actor)


def visit_uploaded(
    *,
    site: Site,
    chunks: Iterable[bytes],
    name: str,
    delay: float | None = None,
    actor: User | None,
) -> Job:
    """Start the visit of an uploaded list.

    Raises ValidationError, DiskFull, UploadTooLarge, JobExists.
    """
    path = uploads.keep_upload(chunks=chunks, name=name)
    try:
        return enqueue(address_list_request(site=site, source=path, delay=delay), actor=actor)
    except BaseException:  # no job will read the file: it must not stay
        uploads.drop_upload(path)
        raise


def visit_addresses(run: JobRun) -> dict[str, Any]:
    """Visit the addresses of a job's list and report a line for each page.

    What cannot be visited leaves a refusal. Raises JobFailed where the list cannot be read, or no
    page could be stored.
    """
    with Engine() as engine:
        crawler = engine.take(run, follows_links=False)
        crawler.begin()
        if not is_listed(run.job):
            _list_pages(crawler)
        crawler.visit_due()
        return crawler.end() | figures_of(run.job)


@postpones
def read_list(run: JobRun) -> dict[str, Any]:
    """Make the addresses of a job's list due, and leave the visits to whoever takes the job next.

    So a list whose visit takes days holds up no other. Raises JobFailed where the list
    cannot be read.
    """
    with open_errands(run) as errands:
        errands.crawler.begin()
        _list_pages(errands.crawler)
    hand_back(run)
    return {}


VISIT_ADDRESSES = JobKind(
    "clustering.visit_addresses", Job.Queue.FETCH, visit_addresses, "addresses.visited"
)


def read_addresses(path: Path) -> Iterator[tuple[int, str | BadLine]]:
    """Yield the number of each line with its address as written, or with the reason why it is none.

    Empty lines and those that begin with # are left out. Raises UnreadableFile.
    """
    with regular_file(path) as raw:
        yield from _addresses_in(decompressed(raw, path.name))


def _addresses_in(stream: BinaryIO) -> Iterator[tuple[int, str | BadLine]]:
    for number, line in read_lines(stream):
        if isinstance(line, BadLine):
            yield number, line
        elif not line.startswith(COMMENT):
            yield number, _decoded(line)


def _list_pages(crawler: Crawler) -> None:
    """Make the addresses of a crawl's list due, and keep how many they are. Raises JobFailed."""
    source = Path(crawler.run.job.params["source"])
    url = crawler.run.job.params.get("url", "")
    try:
        if url:
            file = io.BytesIO(_read_list_at(crawler, url))
            n_addresses = _make_due(crawler, url, _addresses_in(file))
        else:
            n_addresses = _make_due(crawler, source.name, read_addresses(source))
    except UnreadableFile as error:
        raise JobFailed(str(error)) from error
    if not n_addresses:
        raise JobFailed("there is no address in the list")
    crawler.check_has_pages(f"none of {n_addresses:,} address(es) is of the site; see the refusals")
    keep_listed(crawler.run, {"addresses": n_addresses})
    uploads.drop_upload(source)  # its addresses are rows now


def _decoded(line: bytes) -> str | BadLine:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return BadLine("not UTF-8")


def _read_list_at(crawler: Crawler, url: str) -> bytes:
    """Return what a file of the site holds now, fetched as a page is. Raises JobFailed."""
    address = url
    for _ in range(MAX_REDIRECTS + 1):
        if not crawler.frontier.belongs_to_site(address):
            raise JobFailed(f"the list at {url} leads to {address}, which is not of the site")
        try:
            answer = crawler.fetch_file(address, MAX_LIST_BYTES)
            if not answer.location:
                break
            address = answer.location
        except FetchRefused as error:
            raise JobFailed(f"the list at {url} cannot be read: {error}") from error
    else:
        raise JobFailed(f"the list at {url} leads on more than {MAX_REDIRECTS} times")
    if answer.status != OK:
        raise JobFailed(f"the list at {url} answers {answer.status}")
    if answer.content_type.lower().startswith(("text/html", "application/xhtml")):
        raise JobFailed(f"what is at {url} is a page, not a list with an address a line")
    if not answer.body.startswith(GZIP):
        return answer.body
    try:
        return decompress([answer.body], "gzip", MAX_LIST_BYTES)
    except FetchRefused as error:
        raise JobFailed(f"the list at {url} cannot be read: {error}") from error


def _make_due(crawler: Crawler, name: str, listed: Iterator[tuple[int, str | BadLine]]) -> int:
    """Make the addresses of a list due, in its order; return how many it has."""
    lines = islice(listed, MAX_ADDRESSES)
    n_addresses = 0
    while step := list(islice(lines, ADDRESSES_PER_STEP)):
        n_addresses += len(step)
        targets: list[LinkTarget] = []
        given_by_url: dict[str, str] = {}
        refused: list[tuple[str, str, str]] = []
        for number, address in step:
            subject = f"{name}, line {number}"
            if isinstance(address, BadLine):
                refused.append((subject, "bad_line", address.reason))
                continue
            try:
                url = _address_at(crawler, address)
            except BadAddress as error:
                refused.append((subject, "bad_url", str(error)))
                continue
            targets.append(LinkTarget(url, 0))
            if url != address:
                given_by_url[url] = address
        crawler.add_all(targets, given_by_url=given_by_url, refused=refused)
        crawler.beat()
    return n_addresses


def _address_at(crawler: Crawler, written: str) -> str:
    """Return an address of the site, normalised. Raises BadAddress."""
    url = normalise_url(written)
    if not crawler.frontier.belongs_to_site(url):
        root = crawler.site.root_url
        raise BadAddress(written, f"does not belong to the site, whose root is {root}")
    return url
