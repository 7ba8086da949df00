"""A site's records: the table, one record with its history, downloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, Max, Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from clustering.models import Cluster
from rules.models import Extraction, Record, RecordQuerySet, Rule
from rules.services.records import file_formats, record_exports
from rules.services.records.record_rows import WantedRows, narrowed
from rules.views.learning.rule_rows import lit
from rules.views.learning.rules import allowed
from vertex.core.models import Job, Role, Site
from vertex.core.views.access import needs_role
from vertex.core.views.lists import both_ways, choice_of, list_part, words
from vertex.core.views.page_reading import reads_pages, waits_for_others

ORDERS = both_ways({"changed": ["change_number"], "confidence": ["record_confidence", "id"]})
ATTRIBUTES_SHOWN = 5  # as columns; the record's page has all
VERSIONS_SHOWN = 50
# Of the records; on labelled sites most wrong values were among this share of the least sure ones.
LEAST_SURE_SHARE = 0.12
LEAST_SURE = "least-sure"
STATES = (
    ("", "There"),
    (LEAST_SURE, "Least sure"),
    ("failed", "With failures"),
    ("problems", "Not readable"),
    ("stale", "Stale"),
    ("gone", "Gone"),
    ("all", "All"),
)


class RecordLine(NamedTuple):
    """A record with the values that the table shows."""

    record: Record
    cells: list[Any]


class ValueRow(NamedTuple):
    """What a record has of one attribute."""

    name: str
    type: str
    value: Any
    raw: Any
    normalised: Any
    confidence: float | None
    nodes: list[str]
    failed: str
    problem: str
    is_missing: bool


class Before(NamedTuple):
    """What a record was for a time, with what is otherwise after it."""

    version: Any
    changes: list[tuple[str, Any, Any]]  # attribute, then and afterwards


@needs_role(Role.VIEWER)
@require_GET
def records(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    # That which is asked for, too, though it has no records: all those of others are no answer.
    asked_for = request.GET.get("cluster", "").replace("\0", "")
    listed = Q(records__isnull=False) | Q(name=asked_for)
    clusters = list(Cluster.objects.filter(listed, site=site).distinct().order_by("title"))
    cluster = choice_of(request, "cluster", [known_cluster.name for known_cluster in clusters])
    state = choice_of(request, "state", [value for value, _ in STATES])
    sort = choice_of(request, "sort", ORDERS, "confidence" if state == LEAST_SURE else "-changed")
    query = words(request)
    shown = narrowed(Record.objects.filter(site=site), _wanted(cluster, query, state))
    shown = _of_state(shown, state)
    page = list_part(request, shown.select_related("page", "cluster", "rule"), order=ORDERS[sort])
    attributes = _attributes(site, cluster, page.rows)
    context = allowed(request, site) | {
        "query": query,
        "clusters": clusters,
        "cluster": cluster,
        "states": STATES,
        "state": state,
        "sort": sort,
        "page": page,
        "attributes": attributes,
        "lines": [
            RecordLine(row, [row.values.get(attribute) for attribute in attributes])
            for row in page.rows
        ],
        "is_narrowed": bool(query or cluster or state),
        "n_stale": Record.objects.there().filter(site=site, stale_since__isnull=False).count(),
        "without": _without_record(site),
        "unreadable": Record.objects.there().filter(site=site).n_unreadable_by_attribute(),
        "has_rule": Rule.objects.published().of_site(site).exists(),
    }
    return render(request, "rules/records/records.html", context)


@reads_pages
@needs_role(Role.VIEWER)
@require_GET
def record(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    rows = Record.objects.select_related(
        "page", "cluster", "rule__vertical", "snapshot__page__site"
    )
    shown = get_object_or_404(rows, site=site, pk=pk)
    versions = shown.versions.select_related("rule")[:VERSIONS_SHOWN]
    context = allowed(request, site) | {
        "record": shown,
        "values": value_rows(shown),
        "of_details": _of_details(shown),
        "lit": lit(shown.snapshot, shown.nodes),
        "history": _history(shown, versions),
    }
    return render(request, "rules/records/record.html", context)


@waits_for_others
@needs_role(Role.VIEWER)
@require_GET
def download_records(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Stream the records that the table shows, all parts of it."""
    site = get_object_or_404(Site, name=name)
    form = choice_of(request, "format", file_formats.MEDIA_TYPES, file_formats.JSON_LINES)
    state = choice_of(request, "state", [value for value, _ in STATES])
    cluster = request.GET.get("cluster", "").replace("\0", "")
    shown = narrowed(Record.objects.filter(site=site), _wanted(cluster, words(request), state))
    return StreamingHttpResponse(
        record_exports.export_parts(_of_state(shown, state), form),
        content_type=file_formats.MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}-records.{form}"'},
    )


@waits_for_others
@needs_role(Role.VIEWER)
@require_GET
def record_file(_request: HttpRequest, name: str, pk: int) -> FileResponse:
    """Hand out the file that an export of records made."""
    job = get_object_or_404(
        Job, pk=pk, site__name=name, task=record_exports.EXPORT_RECORDS.task, state=Job.State.DONE
    )
    file = str((job.result or {}).get("file", ""))
    path = settings.EXPORT_DIR / file
    if not file or "/" in file or not path.is_file():
        raise Http404("The file of this job is not there any more. Export the records again.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=file)


def site_records(site: Site) -> dict[str, Any]:
    """Return what a site's overview tells of its rules and records."""
    latest = Extraction.objects.filter(site=site).aggregate(at=Max("extracted_at"))
    return {
        "n_rules": Rule.objects.published().of_site(site).count(),
        "n_records": Record.objects.there().filter(site=site).count(),
        "last_extraction": latest["at"],
    }


def value_rows(shown: Record) -> list[ValueRow]:
    """Return what a record has of each attribute, those of its rule first."""
    attributes = shown.rule.attributes if shown.rule else []
    types = {attribute.name: attribute.type for attribute in attributes}
    names = dict.fromkeys([*types, *shown.values, *shown.missing, *shown.failed])
    return [
        ValueRow(
            name=name,
            type=types.get(name, "text"),
            value=shown.values.get(name),
            raw=shown.raw.get(name),
            normalised=shown.normalized.get(name),
            confidence=shown.confidence.get(name),
            nodes=_several(shown.nodes.get(name)),
            failed=shown.failed.get(name, ""),
            problem=shown.problems.get(name, ""),
            is_missing=name in shown.missing,
        )
        for name in names
    ]


def _of_details(shown: Record) -> Record | None:
    """Return the record of the page to which a list leads for details, None where there is none."""
    of_page = WantedRows(site=shown.site, url=shown.details_url)
    return narrowed(Record.objects.all(), of_page).first() if shown.details_url else None


def _several(value: Any) -> list[Any]:
    if value is None:
        return []
    return [path for path in value if path] if isinstance(value, list) else [value]


def _history(shown: Record, versions: Iterable[Any]) -> list[Before]:
    """Return what a record was, the newest first, each with what came after."""
    earlier = []
    after = shown.values
    for version in versions:
        earlier.append(Before(version, _changes(version.values, after)))
        after = version.values
    return earlier


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    names = dict.fromkeys([*before, *after])
    return [
        (name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _wanted(cluster: str, query: str, state: str) -> WantedRows:
    return WantedRows(cluster=cluster, text=query, has_gone=state in {"gone", "all"})


def _of_state(queryset: RecordQuerySet, state: str) -> RecordQuerySet:
    if state == LEAST_SURE:
        return _least_sure(queryset)
    if state == "problems":
        return queryset.exclude(problems={})
    if state == "failed":
        return queryset.exclude(failed={})
    if state == "stale":
        return queryset.filter(stale_since__isnull=False)
    return queryset.filter(gone_at__isnull=False) if state == "gone" else queryset


def _least_sure(queryset: RecordQuerySet) -> RecordQuerySet:
    """Return the records that are less sure than all but a small share of the others."""
    n_least = ceil(LEAST_SURE_SHARE * queryset.count())
    in_order = queryset.order_by("record_confidence").values_list("record_confidence", flat=True)
    next_confidence = in_order[n_least : n_least + 1]
    return (
        queryset.filter(record_confidence__lt=next_confidence[0])
        if next_confidence
        else queryset.none()
    )


def _attributes(site: Site, cluster: str, rows: Iterable[Record]) -> list[str]:
    """Return the attributes that stand as columns: the first of the vertical that the rows have."""
    rules = Rule.objects.published().of_site(site)
    schemas = (rules.filter(cluster__name=cluster) if cluster else rules).values_list(
        "schema", flat=True
    )
    known = dict.fromkeys(attribute["name"] for schema in schemas for attribute in schema)
    present = dict.fromkeys(name for row in rows for name in row.values)
    names = [name for name in known if name in present]
    names += [name for name in present if name not in known]
    return names[:ATTRIBUTES_SHOWN]


def _without_record(site: Site) -> list[tuple[str, int]]:
    """Return why how many pages have no record, the most frequent reason first."""
    without = Extraction.objects.filter(site=site, n_records=0).exclude(reason="")
    counted = without.order_by().values_list("reason").annotate(n=Count("pk"))
    return sorted(counted, key=lambda reason_and_n: -reason_and_n[1])
