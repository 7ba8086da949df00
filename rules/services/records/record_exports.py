"""Export records as files of any format, to be downloaded at once or written by a job.

A line is a plain dictionary, `Row`; `Line` is what a run of a rule writes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import orjson
from django.conf import settings

from annotation.algorithms.attribute_types import field_name_of
from clustering.values.normalising import TEXT as TEXT_TYPE
from rules.models import Record, RecordQuerySet, Rule
from rules.services.records.export_columns import RECORD_FIELDS, ExportedAttribute, columns_of
from rules.services.records.file_formats import (
    CSV,
    JSON_LINES,
    PARQUET,
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


def _report_to_nobody(_n_rows: int) -> None:
    pass


def export_parts(
    records: RecordQuerySet,
    form: str,
    report: Callable[[int], None] = _report_to_nobody,
    *,
    has_raw: bool = False,
) -> Iterator[bytes]:
    """Yield the bytes of a file with the records; `report` is called with how many more were read.

    All formats have the same columns, one for each attribute that a rule of the records' clusters
    ever had; in JSON Lines the fields of a nested list stand in its entries.
    """
    columns = columns_of(attributes_of(records), has_raw=has_raw)
    rows = _reported(all_record_rows(records, RECORD_FIELDS, read=orjson.loads), report)
    if form == CSV:
        return csv_file(columns, rows)
    if form == PARQUET:
        return parquet_file(columns, rows)
    return json_lines(_as_objects(columns, part) for part in rows)


def _as_objects(columns: Sequence[FileColumn], rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows as objects, in which a nested list is a list of objects."""
    names = {column.name for column in columns}
    nested: dict[str, list[FileColumn]] = {}
    for column in columns:
        # An attribute of the list's own name leaves the fields where they are.
        if column.list_name and column.list_name not in names:
            nested.setdefault(column.list_name, []).append(column)
    for row in rows:
        line: Row = {}
        for column in columns:
            if column.list_name not in nested:
                line[column.name] = column.value_of(row)
            elif column.list_name not in line:
                line[column.list_name] = _entries(nested[column.list_name], row)
        yield line


def _entries(columns: Sequence[FileColumn], row: Row) -> list[Row] | None:
    """Return the entries of a nested list of a record, None where it has none."""
    fields = [field_name_of(column.name) for column in columns]
    columns_of_values: list[Any] = [column.value_of(row) or [] for column in columns]
    entries = zip_longest(*columns_of_values)
    return [dict(zip(fields, entry, strict=True)) for entry in entries] or None


def _reported(parts: Iterable[list[Row]], report: Callable[[int], None]) -> Iterator[list[Row]]:
    for rows in parts:
        report(len(rows))
        yield rows


def attributes_of(records: RecordQuerySet) -> list[ExportedAttribute]:
    """Return the attributes that the rules of the records' clusters ever had.

    Of a cluster the newest rule tells an attribute's type; where clusters differ, it is text. One
    that any rule had as multi is multi.
    """
    clusters = records.order_by().values("cluster").distinct()
    rules = Rule.objects.filter(cluster__in=clusters).order_by("cluster", "-version")
    is_multi_by_name: dict[str, bool] = {}
    types_by_name: dict[str, dict[int, str]] = {}  # the newest type of each cluster
    for cluster, schema in rules.values_list("cluster", "schema"):
        for attribute in schema:
            name = attribute["name"]
            was_multi = is_multi_by_name.get(name, False)
            is_multi_by_name[name] = was_multi or bool(attribute.get("is_multi"))
            types_by_name.setdefault(name, {}).setdefault(cluster, attribute.get("type", TEXT_TYPE))
    return [
        ExportedAttribute(name, _common_type(types_by_name[name].values()), is_multi)
        for name, is_multi in is_multi_by_name.items()
    ]


def _common_type(types: Iterable[str]) -> str:
    different = set(types)
    return different.pop() if len(different) == 1 else TEXT_TYPE


def record_export_request(
    *,
    site: Site,
    form: str = JSON_LINES,
    has_gone: bool = False,
    has_raw: bool = False,
) -> JobRequest:
    """Describe the job that writes a site's records into a zip file."""
    return JobRequest(
        kind=EXPORT_RECORDS,
        title=f"Export records of {site.name} as {Format(form).label}",
        site=site,
        params={"format": form, "gone": has_gone, "raw": has_raw},
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
            has_raw = run.job.params.get("raw", False)
            for part in export_parts(records, form, report, has_raw=has_raw):
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
