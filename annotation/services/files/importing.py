"""Import annotations from a file."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F

from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from annotation.algorithms.anchors.record_examples import complete_records
from annotation.models import Annotation, Assignment, Attribute, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate_page
from annotation.services.files.annotation_lines import AnnotationLine, annotated_value, read_line
from clustering.dom.addresses import url_hash
from clustering.dom.page import PageTooLarge
from clustering.models import Page, Snapshot
from clustering.services.pages.stored_trees import parse_snapshot
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.files import uploads
from vertex.core.services.files.files import (
    BadLine,
    UnreadableFile,
    check_exists,
    decompressed,
    parse_object,
    read_lines,
    regular_file,
)
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.services.people import audit
from vertex.core.storage import BodyDamaged, BodyMissing
from vertex.core.texts import storable

MAX_LINES = 500_000
PAGES_PER_BATCH = 50
MAX_REASON_CHARS = 500


class _RefusedLine(NamedTuple):
    """The number of a line that is not imported, and why."""

    number: int
    reason: str


class _PageUnfit(Exception):
    """Nothing can be annotated on the page."""


def import_request(*, site: Site, source: Path) -> JobRequest:
    """Describe the import of annotations. Raises UnreadableFile."""
    check_exists(source)
    path = str(source.absolute())
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    label = storable(source.name)
    return JobRequest(
        kind=IMPORT_ANNOTATIONS,
        title=f"Import annotations {label} into {site.name}",
        site=site,
        params={"source": path},
        key=f"annotations:{site.pk}:{digest}",
        subject=label,
    )


def import_annotations(run: jobs.JobRun) -> dict[str, Any]:
    """Import the annotations of the job's file; attributes already annotated so stay as they are.

    The lines of a file replace earlier annotations of the same attributes on the same pages. Where
    each line that is not imported stands, and why, is reported.
    """
    path, site = Path(run.job.params["source"]), run.site
    if run.job.params.get("is_read"):
        uploads.drop_upload(path)
        return run.job.result or {}
    Refusal.objects.filter(job=run.job).delete()  # those of an earlier try
    try:
        lines_by_url, refused = _read(path)
    except UnreadableFile as error:
        raise jobs.JobFailed(str(error)) from error
    refusals = _Refusals(run, path.name)
    refusals.add(refused)
    n_values = n_pages = n_done = 0
    waiting = iter(lines_by_url.items())
    while batch := list(islice(waiting, PAGES_PER_BATCH)):
        with run.kept_alive():  # many lines on large pages take long
            results = [_read_page(site, url, lines) for url, lines in batch]
        pages = [page for page, _ in results if page is not None]
        n_done += len(batch)
        n_pages += len(pages)
        n_values += _store(run, pages, n_done, len(lines_by_url))
        refusals.add([line for _, refused in results for line in refused])
    result = {"annotations": n_values, "pages": n_pages, "refused": refusals.n_lines}
    return _finish(run, path, result)


IMPORT_ANNOTATIONS = JobKind(
    "annotation.import_annotations", Job.Queue.KEEP, import_annotations, "annotations.requested"
)


def _finish(run: jobs.JobRun, path: Path, result: dict[str, Any]) -> dict[str, Any]:
    """Record that the file was read, so that a second try leaves it alone."""
    run.job.params["is_read"] = True
    with transaction.atomic():
        Job.objects.filter(pk=run.job.pk, lease=run.lease).update(
            params=run.job.params, result=result
        )
        audit.record(
            actor=run.job.created_by,
            action="annotations.imported",
            subject=path.name,
            site=run.job.site,
            detail=result,
        )
    uploads.drop_upload(path)
    return result


class _Refusals:
    """The lines that are not imported: stored for the job, and reported."""

    def __init__(self, run: jobs.JobRun, name: str) -> None:
        self.run = run
        self.name = name  # of the file
        self.n_lines = 0

    def add(self, lines: Iterable[_RefusedLine]) -> None:
        refusals, places_and_reasons = [], []
        for line in sorted(lines):
            where = f"{self.name}:{line.number}"
            refusal = Refusal(
                site=self.run.job.site,
                job=self.run.job,
                subject=storable(where),
                code="bad_line",
                reason=storable(line.reason)[:MAX_REASON_CHARS],
            )
            refusals.append(refusal)
            places_and_reasons.append((where, line.reason))
        Refusal.objects.bulk_create(refusals)
        for place_and_reason in places_and_reasons:
            self.run.report(place_and_reason)
        self.n_lines += len(refusals)


def _read(path: Path) -> tuple[dict[str, list[AnnotationLine]], list[_RefusedLine]]:
    """Return the lines of a file by page, and those not understood. Raises UnreadableFile."""
    lines_by_url: defaultdict[str, list[AnnotationLine]] = defaultdict(list)
    refused: list[_RefusedLine] = []
    with regular_file(path) as raw:
        for n_lines, (number, line) in enumerate(read_lines(decompressed(raw, path.name)), 1):
            if n_lines > MAX_LINES:
                raise UnreadableFile(f"{path}: more than {MAX_LINES:,} lines; split it by pages")
            entry = line if isinstance(line, BadLine) else parse_object(line)
            read = entry if isinstance(entry, BadLine) else read_line(number, entry)
            if isinstance(read, BadLine):
                refused.append(_RefusedLine(number, read.reason))
            else:
                lines_by_url[read.url].append(read)
    return lines_by_url, refused


class _ImportedPage(NamedTuple):
    """What a file annotates on a page."""

    snapshot: Snapshot
    given_url: str  # as the file writes its address
    marks: dict[Attribute | None, list[AnnotatedValue]]


def _read_page(
    site: Site, url: str, lines: list[AnnotationLine]
) -> tuple[_ImportedPage | None, list[_RefusedLine]]:
    """Return what the lines of one page annotate, and those that do not fit it."""
    try:
        snapshot = _snapshot_of(site, url)
        page = _texts_of(snapshot)
        attributes = _attributes_of(snapshot.page)
    except _PageUnfit as error:
        return None, [_RefusedLine(line.number, f"{line.given_url}: {error}") for line in lines]
    marks, refused = _read_marks(page, attributes, lines)
    records = _records_of(snapshot, page, marks)
    if records:
        marks[None] = [AnnotatedValue(record=record) for record in records]
    if not marks:
        return None, refused
    return _ImportedPage(snapshot, lines[0].given_url, marks), refused


def _read_marks(
    page: PageTexts, attributes: _Attributes, lines: Sequence[AnnotationLine]
) -> tuple[dict[Attribute | None, list[AnnotatedValue]], list[_RefusedLine]]:
    """Return the marks of each attribute, each once, and the lines that do not fit the page.

    A line does not fit either where it contradicts an earlier one of its attribute and record.
    """
    unique_marks: defaultdict[Attribute | None, dict[AnnotatedValue, None]] = defaultdict(dict)
    first: dict[tuple[Attribute | None, tuple[str, ...]], tuple[AnnotatedValue, int]] = {}
    refused: list[_RefusedLine] = []
    for line in lines:
        try:
            attribute = attributes.find(line.attribute) if line.attribute else None
            mark = annotated_value(page, line)
            first_mark, number = first.setdefault((attribute, mark.record), (mark, line.number))
            _check_consistent(mark, first_mark, number)
        except (AnchorProblem, _PageUnfit) as error:
            where = line.given_url
            if line.attribute:
                where += f", {line.attribute}"
            refused.append(_RefusedLine(line.number, f"{where}: {error}"))
            continue
        unique_marks[attribute][mark] = None
    return {attribute: list(unique) for attribute, unique in unique_marks.items()}, refused


def _records_of(
    snapshot: Snapshot, page: PageTexts, marks: dict[Attribute | None, list[AnnotatedValue]]
) -> list[tuple[str, ...]]:
    """Return the page's records; those of its fields count where no boundary is known."""
    boundaries = [mark.record for mark in marks.get(None, ())]
    if boundaries:
        return complete_records(page.tree, boundaries, are_all=len(boundaries) > 1)
    of_fields = []
    for marks_of_attribute in marks.values():
        of_fields += [mark.record for mark in marks_of_attribute if mark.record]
    if not of_fields or Annotation.objects.live().filter(snapshot=snapshot, kind="record").exists():
        return []
    return complete_records(page.tree, of_fields, are_all=False)


def _check_consistent(mark: AnnotatedValue, first: AnnotatedValue, number: int) -> None:
    """Refuse a value where an earlier line marks it absent, and the other way round."""
    if (first.anchor is None) != (mark.anchor is None):
        earlier = "says that it is absent" if first.anchor is None else "gives a value"
        raise AnchorProblem(f"it contradicts line {number}, which {earlier}")


def _store(run: jobs.JobRun, pages: list[_ImportedPage], n_done: int, n_total: int) -> int:
    """Annotate some pages, and return with how many values."""
    with transaction.atomic():
        run.renew(n_done=n_done, n_total=n_total, message="storing")
        for page in pages:
            annotate_page(
                snapshot=page.snapshot,
                marks=page.marks,
                actor=run.job.created_by,
                source=Annotation.Source.FILE,
            )
            _keep_given_url(page)
    return sum(len(marks) for page in pages for marks in page.marks.values())


def _keep_given_url(page: _ImportedPage) -> None:
    """Keep how the file writes the address of a crawled page: nobody else handed it in."""
    found_by_links = Page.objects.filter(
        pk=page.snapshot.page_id, crawl__isnull=False, given_url=F("url")
    )
    found_by_links.update(given_url=storable(page.given_url))


def _snapshot_of(site: Site, url: str) -> Snapshot:
    page = (
        Page.objects.filter(site=site, url_hash=url_hash(url))
        .select_related("latest_snapshot")
        .first()
    )
    if page is None:
        raise _PageUnfit(f"{site.name} has no page of this address; import or crawl it first")
    snapshot = page.latest_snapshot
    if snapshot is None:
        raise _PageUnfit(
            f"the page has no snapshot ({page.reason or page.get_state_display().lower()})"
        )
    if snapshot.problem:
        raise _PageUnfit(
            f"its snapshot is {snapshot.get_problem_display().lower()}: nothing is learnt from it"
        )
    snapshot.page = page
    return snapshot


def _texts_of(snapshot: Snapshot) -> PageTexts:
    try:
        tree = parse_snapshot(snapshot)
    except (BodyMissing, BodyDamaged, PageTooLarge) as error:
        raise _PageUnfit(str(error)) from None
    if tree is None:
        raise _PageUnfit("its snapshot is empty")
    return read_texts(tree)


class _Attributes:
    """The attributes by which a page may be annotated."""

    def __init__(self, site: Site, verticals: list[Vertical]) -> None:
        self.site = site
        self.verticals = verticals
        rows = [row for vertical in reversed(verticals) for row in vertical.attributes.live()]
        self.by_name = {row.name: row for row in rows}

    def find(self, name: str) -> Attribute:
        if not self.verticals:
            raise _PageUnfit(f"{self.site.name} has no vertical; assign one to it first")
        if name not in self.by_name:
            verticals = " and ".join(vertical.name for vertical in self.verticals)
            raise _PageUnfit(
                f"no attribute of that name in {verticals} (there are {', '.join(self.by_name)})"
            )
        return self.by_name[name]


def _attributes_of(page: Page) -> _Attributes:
    """Return the attributes of the page's vertical, and of its site's where that is another one."""
    own = Assignment.objects.vertical_of_page(page)
    default = Assignment.objects.vertical_of(page.site)
    verticals = {vertical.pk: vertical for vertical in (own, default) if vertical is not None}
    return _Attributes(page.site, list(verticals.values()))
