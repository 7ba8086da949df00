"""Export records as files of any format, to be downloaded at once or written by a job.

Values stand as they are displayed; in Parquet an attribute that may have several has a column of lists.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final

import orjson
import pyarrow as pa
from django.conf import settings

from rules.models import Record, RecordQuerySet, Rule
from rules.services.records.file_formats import (
    CSV,
    JSON_LINES,
    PARQUET,
    TEXT,
    TEXTS,
    TIME,
    FileColumn,
    Format,
    Row,
    csv_file,
    json_lines,
    parquet_file,
)
from rules.services.records.record_rows import all_record_rows
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest

HEAD: Final[Mapping[str, pa.DataType]] = {
    "url": TEXT,
    "cluster": TEXT,
    "rule": TEXT,
    "key": TEXT,
    "least_confidence": pa.float64(),
    "changed_at": TIME,
    "gone_at": TIME,
}
NORMALIZED: Final = "normalized"  # by the attributes' types, in Parquet as JSON text


def _report_to_nobody(_n_rows: int) -> None:
    pass


def export_parts(
    records: RecordQuerySet, form: str, report: Callable[[int], None] = _report_to_nobody
) -> Iterator[bytes]:
    """Yield the bytes of a file with the records; `report` is called with how many more were read.

    CSV and Parquet have a column for each attribute that a rule of the records' clusters ever had.
    """
    if form == JSON_LINES:
        return json_lines(_reported(all_record_rows(records), report))
    is_multi_by_attribute = attributes_of(records)
    if form == CSV:
        rows = all_record_rows(records, (*HEAD, "values"), read=orjson.loads)
        return csv_file(_csv_columns(is_multi_by_attribute), _reported(rows, report))
    rows = all_record_rows(records, (*HEAD, "values", NORMALIZED), read=orjson.loads)
    return parquet_file(_parquet_columns(is_multi_by_attribute), _reported(rows, report))


def _reported(parts: Iterable[list[Row]], report: Callable[[int], None]) -> Iterator[list[Row]]:
    for rows in parts:
        report(len(rows))
        yield rows


def _csv_columns(attributes: Iterable[str]) -> list[FileColumn]:
    return [*_head_columns(), *(FileColumn(name, TEXT, _value_of(name)) for name in attributes)]


def _parquet_columns(is_multi_by_attribute: Mapping[str, bool]) -> list[FileColumn]:
    """Return the columns of a Parquet file; an attribute named like one of the others has a prefix."""
    columns = _head_columns()
    for name, is_multi in is_multi_by_attribute.items():
        column = f"values.{name}" if name in {*HEAD, NORMALIZED} else name
        columns.append(FileColumn(column, TEXTS if is_multi else TEXT, _value_of(name)))
    columns.append(FileColumn(NORMALIZED, TEXT, _normalized_json))
    return columns


def _head_columns() -> list[FileColumn]:
    return [FileColumn(name, kind, itemgetter(name)) for name, kind in HEAD.items()]


def _value_of(attribute: str) -> Callable[[Row], object]:
    return lambda row: row["values"].get(attribute)


def _normalized_json(row: Row) -> str:
    return orjson.dumps(row[NORMALIZED]).decode()


def attributes_of(records: RecordQuerySet) -> dict[str, bool]:
    """Return the attributes that the rules of the records' clusters ever had: whether they may be several."""
    clusters = records.order_by().values("cluster").distinct()
    rules = Rule.objects.filter(cluster__in=clusters).order_by("cluster", "-version")
    is_multi_by_attribute: dict[str, bool] = {}
    for schema in rules.values_list("schema", flat=True):
        for attribute in schema:
            name = attribute["name"]
            was_multi = is_multi_by_attribute.get(name, False)
            is_multi_by_attribute[name] = was_multi or bool(attribute.get("is_multi"))
    return is_multi_by_attribute


def record_export_request(
    *,
    site: Site,
    form: str = JSON_LINES,
    has_gone: bool = False,
) -> JobRequest:
    """Describe the job that writes a site's records into a zip file."""
    return JobRequest(
        kind=EXPORT_RECORDS,
        title=f"Export records of {site.name} as {Format(form).label}",
        site=site,
        params={"format": form, "gone": has_gone},
        key=f"export_records:{site.pk}:{form}",
    )


def export_records(run: JobRun) -> dict[str, Any]:
    """Write the records that a job asks for into a file of the export folder. Raises JobFailed."""
    site, form = run.site, run.job.params["format"]
    records = records_of(site, has_gone=run.job.params["gone"])
    folder = settings.EXPORT_DIR
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{site.name}-records-{run.job.pk}.zip"
    # Named by the lease: a worker that lost it may still write.
    partial = path.with_suffix(f".{run.lease[:8]}.partial")
    run.renew(n_total=records.count(), message="Records")
    # The columns of Parquet are packed already.
    packing = zipfile.ZIP_STORED if form == PARQUET else zipfile.ZIP_DEFLATED

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


EXPORT_RECORDS = JobKind("rules.export_records", Job.Queue.KEEP, export_records, "records.exported")


def records_of(site: Site, *, has_gone: bool = False) -> RecordQuerySet:
    """Return the records of a site."""
    records = Record.objects.filter(site=site)
    return records if has_gone else records.there()
