"""Write records as JSON Lines, CSV or Parquet, part by part: a million of them take no more memory."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import orjson
from django.conf import settings
from django.db import models, transaction

from rules.models import Record, RecordQuerySet, Rule
from rules.services.records.parquet_exports import HEAD as PARQUET_HEAD
from rules.services.records.parquet_exports import NORMALIZED, parquet_parts
from rules.services.records.record_rows import all_record_rows
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.people import audit

Row = dict[str, Any]

TASK = "rules.export_records"
JSON_LINES: Final = "jsonl"
CSV: Final = "csv"
PARQUET: Final = "parquet"
MEDIA_TYPES: Final = {
    JSON_LINES: "application/x-ndjson",
    CSV: "text/csv",
    PARQUET: "application/vnd.apache.parquet",
}
HEAD: Final = ("url", "cluster", "rule", "key", "least_confidence", "changed_at", "gone_at")
DANGEROUS: Final = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for a formula


class Format(models.TextChoices):
    JSON_LINES = JSON_LINES, "JSON Lines"
    CSV = CSV, "CSV"
    PARQUET = PARQUET, "Parquet"


def _tell_nobody(_n_rows: int) -> None:
    pass


def export_parts(
    records: RecordQuerySet, form: str, report: Callable[[int], None] = _tell_nobody
) -> Iterator[bytes]:
    """Yield the bytes of a file with the records; `report` is told how many more were read."""
    if form == CSV:
        return _csv_parts(records, report)
    return _parquet_parts(records, report) if form == PARQUET else _json_parts(records, report)


def _reported(parts: Iterable[list[Row]], report: Callable[[int], None]) -> Iterator[list[Row]]:
    for rows in parts:
        report(len(rows))
        yield rows


def _json_parts(records: RecordQuerySet, report: Callable[[int], None]) -> Iterator[bytes]:
    for rows in _reported(all_record_rows(records), report):
        yield b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def _csv_parts(records: RecordQuerySet, report: Callable[[int], None]) -> Iterator[bytes]:
    """Yield CSV: a column for each attribute that a rule of the records has."""
    attributes = list(attributes_of(records))
    yield _written([[*HEAD, *map(cell_of, attributes)]])
    for rows in _reported(all_record_rows(records, (*HEAD, "values"), read=orjson.loads), report):
        yield _written(_csv_row(row, attributes) for row in rows)


def _parquet_parts(records: RecordQuerySet, report: Callable[[int], None]) -> Iterator[bytes]:
    names = (*PARQUET_HEAD, "values", NORMALIZED)
    rows = _reported(all_record_rows(records, names, read=orjson.loads), report)
    return parquet_parts(rows, attributes_of(records))


def attributes_of(records: RecordQuerySet) -> dict[str, bool]:
    """Return all attributes that the rules of the records' clusters ever had: whether they may be several."""
    clusters = records.order_by().values("cluster").distinct()
    schemas = Rule.objects.filter(cluster__in=clusters).order_by("cluster", "-version")
    is_multi: dict[str, bool] = {}
    for attribute in (one for schema in schemas.values_list("schema", flat=True) for one in schema):
        name = attribute["name"]
        is_multi[name] = is_multi.get(name, False) or bool(attribute.get("is_multi"))
    return is_multi


def _csv_row(row: dict[str, Any], attributes: Sequence[str]) -> list[str]:
    values = [row["values"].get(name) for name in attributes]
    return [cell_of(value) for value in (*(row[name] for name in HEAD), *values)]


def cell_of(value: object) -> str:
    """Return a value as a cell that no spreadsheet runs; several values stand as a JSON list.

    >>> cell_of("=1+1"), cell_of(["S", "M"]), cell_of(None)
    ("'=1+1", '["S","M"]', '')
    """
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return f"'{text}" if text.startswith(DANGEROUS) else text


def _written(rows: Iterable[Sequence[str]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue().encode("utf-8", "replace")


def request_record_export(
    *,
    site: Site,
    form: str = JSON_LINES,
    has_gone: bool = False,
    actor: User | None = None,
    rings: bool = True,
) -> Job:
    """Let a job write a site's records into a zip file. Raises JobExists."""
    with transaction.atomic():
        job = jobs.create_job(
            task=TASK,
            queue=Job.Queue.KEEP,
            title=f"Export records of {site.name} as {Format(form).label}",
            site=site,
            params={"format": form, "gone": has_gone},
            key=f"export_records:{site.pk}:{form}",
            actor=actor,
            rings=rings,
        )
        audit.record(actor=actor, action="records.exported", subject=site.name, site=site)
    return job


def export_records(run: JobRun) -> dict[str, Any]:
    """Write the records that a job asks for into a file of the export folder. Raises JobFailed."""
    site, form = run.job.site, run.job.params["format"]
    if site is None:
        raise jobs.JobFailed("the site was deleted meanwhile")
    records = records_of(site, has_gone=run.job.params["gone"])
    folder = settings.EXPORT_DIR
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{site.name}-records-{run.job.pk}.zip"
    partial = path.with_suffix(
        f".{run.lease[:8]}.partial"
    )  # a worker that lost its lease may still write
    run.renew(n_total=records.count(), message="Records")
    packing = (
        zipfile.ZIP_STORED if form == PARQUET else zipfile.ZIP_DEFLATED
    )  # its columns are packed already

    def report(n_rows: int) -> None:
        n_done = (run.job.n_done or 0) + n_rows
        run.renew(n_done=min(n_done, run.job.n_total or n_done))

    try:
        with (
            zipfile.ZipFile(partial, "w", packing, compresslevel=3) as archive,
            archive.open(f"{site.name}.{form}", "w", force_zip64=True) as file,
        ):
            for part in export_parts(records, form, report):
                file.write(part)
        run.renew()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return {"file": path.name, "bytes": path.stat().st_size}


def records_of(site: Site, *, has_gone: bool = False) -> RecordQuerySet:
    """Return the records of a site."""
    records = Record.objects.filter(site=site)
    return records if has_gone else records.there()
