"""Bring in annotations from a file."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from django.db import transaction

from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from annotation.algorithms.anchors.record_examples import complete_records
from annotation.models import Annotation, Assignment, Attribute, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate_page
from annotation.services.files.annotation_lines import AnnotationLine, mark_of, read_line
from clustering.dom.addresses import url_hash
from clustering.dom.page import PageTooLarge, parse_page
from clustering.models import Cluster, Page, PageMembership, Snapshot
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
from vertex.core.storage import BodyDamaged, BodyMissing, page_store
from vertex.core.texts import storable

MAX_LINES = 500_000
BATCH = 50  # pages

Report: TypeAlias = (
    "Callable[[str, str], None]"  # told of the place and the reason of each bad line
)
Bad: TypeAlias = "tuple[int, str]"  # a line's number, and why it is not taken


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
    """Write down the annotations of the job's file; what is known already stays as it is.

    The lines of a file replace what was said before of the same attributes on the same pages. The place and
    the reason of each bad line are reported.
    """
    path, site = Path(run.job.params["source"]), run.site
    if run.job.params.get("is_read"):
        uploads.drop_upload(path)
        return run.job.result or {}
    Refusal.objects.filter(job=run.job).delete()  # what an earlier try wrote down
    try:
        lines_by_url, bad = _read(path)
    except UnreadableFile as error:
        raise jobs.JobFailed(str(error)) from error
    tell = _Bad(run, path.name)
    tell(bad)
    n_values = n_pages = n_done = 0
    waiting = iter(lines_by_url.items())
    while batch := list(islice(waiting, BATCH)):
        with run.kept_alive():  # many lines on large pages take long
            found = [_marks_of_page(site, url, lines) for url, lines in batch]
        n_done += len(batch)
        n_values += _store(run, [one for one, _ in found if one], n_done, len(lines_by_url))
        n_pages += sum(one is not None for one, _ in found)
        tell([line for _, bad in found for line in bad])
    return _finish(run, path, {"annotations": n_values, "pages": n_pages, "refused": tell.n_bad})


IMPORT_ANNOTATIONS = JobKind(
    "annotation.import_annotations", Job.Queue.KEEP, import_annotations, "annotations.requested"
)


def _finish(run: jobs.JobRun, path: Path, result: dict[str, Any]) -> dict[str, Any]:
    """AnnotatedValue the file as read, so that a second try leaves it alone."""
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


class _Bad:
    """Where bad lines are told."""

    def __init__(self, run: jobs.JobRun, name: str) -> None:
        self.run, self.name, self.n_bad = run, name, 0

    def __call__(self, bad: Iterable[Bad]) -> None:
        told = [(f"{self.name}:{number}", reason) for number, reason in sorted(bad)]
        self.n_bad += len(told)
        Refusal.objects.bulk_create(
            Refusal(
                site=self.run.job.site,
                job=self.run.job,
                subject=storable(place),
                code="bad_line",
                reason=storable(reason)[:500],
            )
            for place, reason in told
        )
        for place_and_reason in told:
            self.run.report(place_and_reason)


def _read(path: Path) -> tuple[dict[str, list[AnnotationLine]], list[Bad]]:
    """Return the lines of a file by page, and those that cannot be understood. Raises UnreadableFile."""
    lines_by_url: defaultdict[str, list[AnnotationLine]] = defaultdict(list)
    bad: list[Bad] = []
    with regular_file(path) as raw:
        for n_lines, (number, line) in enumerate(read_lines(decompressed(raw, path.name)), 1):
            if n_lines > MAX_LINES:
                raise UnreadableFile(f"{path}: more than {MAX_LINES:,} lines; split it by pages")
            entry = line if isinstance(line, BadLine) else parse_object(line)
            read = entry if isinstance(entry, BadLine) else read_line(number, entry)
            if isinstance(read, BadLine):
                bad.append((number, read.reason))
            else:
                lines_by_url[read.url].append(read)
    return lines_by_url, bad


class _SaidOfPage(NamedTuple):
    """What a file says of a page."""

    snapshot: Snapshot
    marks: dict[Attribute | None, list[AnnotatedValue]]


def _marks_of_page(
    site: Site, url: str, lines: list[AnnotationLine]
) -> tuple[_SaidOfPage | None, list[Bad]]:
    """Return what the lines of one page say of each attribute, and those that do not fit it."""
    try:
        snapshot = _snapshot_of(site, url)
        page = _texts_of(snapshot)
        attributes = _attributes_of(snapshot.page)
    except _PageUnfit as error:
        return None, [(line.number, f"{url}: {error}") for line in lines]
    said: defaultdict[Attribute | None, dict[AnnotatedValue, None]] = defaultdict(dict)
    first: dict[tuple[Attribute | None, tuple[str, ...]], tuple[AnnotatedValue, int]] = {}
    bad: list[Bad] = []
    for line in lines:
        try:
            attribute = attributes.find(line.attribute) if line.attribute else None
            mark = mark_of(page, line)
            _check_consistent(
                mark, *first.setdefault((attribute, mark.record), (mark, line.number))
            )
        except (AnchorProblem, _PageUnfit) as error:
            place = f"{url}, {line.attribute}" if line.attribute else url
            bad.append((line.number, f"{place}: {error}"))
            continue
        said[attribute][mark] = None
    marks = {attribute: list(unique) for attribute, unique in said.items()}
    if records := _records_of(snapshot, page, marks):
        marks[None] = [AnnotatedValue(record=record) for record in records]
    return _SaidOfPage(snapshot, marks) if marks else None, bad


def _records_of(
    snapshot: Snapshot, page: PageTexts, marks: dict[Attribute | None, list[AnnotatedValue]]
) -> list[tuple[str, ...]]:
    """Return the page's records; those of its fields count where no boundary is known."""
    bounds = [mark.record for mark in marks.get(None, ())]
    if bounds:
        return complete_records(page.tree, bounds, are_all=len(bounds) > 1)
    of_fields = [mark.record for found in marks.values() for mark in found if mark.record]
    if not of_fields or Annotation.objects.live().filter(snapshot=snapshot, kind="record").exists():
        return []
    return complete_records(page.tree, of_fields, are_all=False)


def _check_consistent(mark: AnnotatedValue, first: AnnotatedValue, number: int) -> None:
    """Refuse a value where an earlier line says that there is none, and the other way round."""
    if (first.anchor is None) != (mark.anchor is None):
        told = "says that it is absent" if first.anchor is None else "gives a value"
        raise AnchorProblem(f"it contradicts line {number}, which {told}")


def _store(run: jobs.JobRun, pages: list[_SaidOfPage], n_done: int, n_total: int) -> int:
    """Write down what is said of some pages, and return how many values that are."""
    with transaction.atomic():
        run.renew(n_done=n_done, n_total=n_total, message="storing")
        for page in pages:
            annotate_page(
                snapshot=page.snapshot,
                marks=page.marks,
                actor=run.job.created_by,
                source=Annotation.Source.FILE,
            )
    return sum(len(marks) for page in pages for marks in page.marks.values())


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
        tree = parse_page(page_store().read(snapshot.body), snapshot.content_type).tree
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
    """Return the attributes of the page's cluster, and of its site where the cluster has its own vertical."""
    clusters = Cluster.objects.filter(
        pk__in=PageMembership.objects.current().filter(page=page).values("cluster")
    )
    own = Assignment.objects.vertical_of(page.site, clusters.first())
    default = Assignment.objects.vertical_of(page.site)
    found = {vertical.pk: vertical for vertical in (own, default) if vertical is not None}
    return _Attributes(page.site, list(found.values()))
