"""Routes that records are pulled by."""

from __future__ import annotations

from typing import Any, cast

import xxhash
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotation.models import Vertical
from rules.models import Record, RecordQuerySet, RecordVersion
from rules.services.records import file_formats, record_exports
from rules.services.records.file_formats import Format
from rules.services.records.record_rows import NAMES, WantedRows, narrowed, record_rows
from rules.services.records.record_schemas import record_schema
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.formats import BytesRenderer, FastJSONRenderer, LinesRenderer
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import read_cursor, write_cursor
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, Query, RowSerializer
from vertex.core.models import Role, Scope, Site
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.page_reading import waits_for_others

MAX_NUMBER = 2**63 - 1
VERSIONS_SHOWN = 100
NARROWING = ("cluster", "vertical", "url", "changed_since", "confidence", "has_problems")


class CsvRenderer(BytesRenderer):
    """Stand for answers that are CSV."""

    media_type = file_formats.MEDIA_TYPES[file_formats.CSV]
    format = "csv"


def _value(**options: Any) -> serializers.DictField:
    return serializers.DictField(required=False, **options)


class RecordAnswer(serializers.Serializer[Any]):
    """A record: what a rule extracted from a page, as last seen."""

    id = serializers.IntegerField(required=False)
    site = serializers.CharField(required=False)
    url = serializers.CharField(required=False)
    cluster = serializers.CharField(required=False)
    vertical = serializers.CharField(required=False, allow_null=True)
    rule = serializers.CharField(required=False, allow_null=True, help_text="Cluster and version.")
    page = serializers.IntegerField(required=False)
    snapshot = serializers.IntegerField(required=False)
    key = serializers.CharField(required=False, help_text="Tells the records of one page apart.")
    index = serializers.IntegerField(required=False, help_text="The record's place on its page.")
    details_url = serializers.CharField(
        required=False,
        help_text="Of a list's record: the normalised address of the page about the same thing, "
        "blank where the list leads to none.",
    )
    values = _value(help_text="As displayed; a list where the attribute has several values.")
    raw = _value(help_text="As the stylesheet emits them.")
    normalized = _value(help_text="By the type of the attribute.")
    missing = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Attributes without a value."
    )
    failed = _value(help_text="Why a missing attribute should have a value.")
    problems = _value(help_text="Per attribute, why its value could not be read as its type.")
    confidence = _value(help_text="Per attribute, 0 to 1.")
    nodes = _value(help_text="Per attribute, the XPath of its node.")
    record_confidence = serializers.FloatField(required=False)
    change_number = serializers.IntegerField(
        required=False,
        help_text="Grows with each change of any record: give it as `changed_since`.",
    )
    first_seen_at = serializers.DateTimeField(required=False)
    changed_at = serializers.DateTimeField(required=False)
    gone_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="When its page no longer had it."
    )
    stale_since = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="It is from before a redesign that was found then; "
        "null once its page was extracted again.",
    )


class RecordVersionRow(RowSerializer):
    class Meta:
        model = RecordVersion
        fields = ("values", "rule_version", "was_gone", "since", "until")

    values = serializers.DictField()
    rule_version = serializers.IntegerField(source="rule.version", allow_null=True)


class RecordWithHistory(RecordAnswer):
    """A record and what it was before."""

    history = RecordVersionRow(many=True, help_text="The newest first, 100 at most.")


def listed_records() -> serializers.Serializer[Any]:
    """Return the shape of a page of records."""
    return inline_serializer(
        name="RecordList",
        fields={
            "results": RecordAnswer(many=True),
            "next": serializers.URLField(
                allow_null=True, help_text="The address of the next page; null on the last."
            ),
        },
    )


class RecordFilters(Query):
    """What narrows the records."""

    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    vertical = serializers.CharField(max_length=63, required=False, help_text="A vertical's name.")
    cluster = serializers.CharField(max_length=61, required=False, help_text="A cluster's name.")
    url = serializers.CharField(
        max_length=8192, required=False, help_text="The address of one page."
    )
    changed_since = serializers.IntegerField(
        min_value=0,
        max_value=MAX_NUMBER,
        required=False,
        help_text="A change number: only what changed after it, also records that are gone.",
    )
    confidence = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        help_text="At least so sure that all values are right.",
    )
    has_problems = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether a value could not be read as the type of its attribute.",
    )
    gone = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether to list records that their pages no longer have; by default with "
        "`changed_since` only.",
    )


class RecordsQuery(RecordFilters, ListQuery):
    fields = serializers.CharField(  # type: ignore[assignment]  # a parameter of this name
        max_length=400,
        required=False,
        help_text="Names of fields with commas between; by default all.",
    )


RAW_HELP = "Whether to write the displayed text beside each attribute, as `ATTRIBUTE_raw`."


class ExportQuery(RecordFilters):
    format = serializers.ChoiceField(choices=Format.choices, default=Format.JSON_LINES)
    raw = serializers.BooleanField(default=False, help_text=RAW_HELP)


class NewExport(Body):
    """A file of a site's records to be made."""

    format = serializers.ChoiceField(choices=Format.choices, default=Format.JSON_LINES)
    gone = serializers.BooleanField(
        default=False, help_text="Whether to write records that their pages no longer have."
    )
    raw = serializers.BooleanField(default=False, help_text=RAW_HELP)


class Records(ApiView):
    @endpoint(
        "list_records",
        scope=Scope.RECORDS_READ,
        query=RecordsQuery,
        answers=listed_records(),
        tags=["records"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> HttpResponse:
        """List records in the order of their changes; the cursor never skips or repeats one."""
        names = _names(query.get("fields", ""))
        return tagged(request, _page_of(_wanted(request, query), names, request, query))


class RecordView(ApiView):
    def find(self, request: Request, *, pk: int) -> Record:
        visible = Record.objects.visible_to(caller_of(request))
        record = visible.select_related("site").filter(pk=pk).first()
        if record is None:
            raise NotFound(f"There is no record {pk}, or it is not yours to see.")
        return record

    def site_of(self, subject: Record) -> Site:
        return subject.site

    @endpoint(
        "read_record",
        scope=Scope.RECORDS_READ,
        needs=(Role.VIEWER, "there"),
        answers=RecordWithHistory,
        tags=["records"],
    )
    def get(self, request: Request, *, subject: Record, **_: object) -> HttpResponse:
        """Show a record and what it was before."""
        (row,) = record_rows(Record.objects.filter(pk=subject.pk))
        history = RecordVersionRow.read(
            RecordVersion.objects.filter(record=subject)[:VERSIONS_SHOWN]
        )
        return tagged(request, row | {"history": history})


class ParquetRenderer(BytesRenderer):
    """Stand for answers that are Parquet."""

    media_type = file_formats.MEDIA_TYPES[file_formats.PARQUET]
    format = "parquet"


@waits_for_others
class RecordExport(ApiView):
    renderer_classes = (LinesRenderer, CsvRenderer, ParquetRenderer, FastJSONRenderer)

    @endpoint(
        "export_records",
        scope=Scope.RECORDS_READ,
        query=ExportQuery,
        answers=OpenApiTypes.STR,
        media_type=tuple(file_formats.MEDIA_TYPES.values()),
        tags=["records"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> StreamingHttpResponse:
        """Download records as JSON Lines, CSV or Parquet, each value in its attribute's type."""
        form = query["format"]
        name = f"{query.get('site', 'all')}-records.{form}"
        return StreamingHttpResponse(
            record_exports.export_parts(_wanted(request, query), form, has_raw=query["raw"]),
            content_type=file_formats.MEDIA_TYPES[form],
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class SiteRecordExports(AtSite):
    @job_endpoint(
        "request_record_export",
        scope=Scope.RECORDS_READ,
        needs=(Role.OPERATOR, "there"),
        takes=NewExport,
        tags=["records"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Start a job that writes a site's records into a zip file."""
        job = enqueue(
            record_exports.record_export_request(
                site=subject, form=body["format"], has_gone=body["gone"], has_raw=body["raw"]
            ),
            actor=caller_of(request),
        )
        return row_of_job(job)


class VerticalSchema(ApiView):
    def find(self, _request: Request, *, name: str) -> Vertical:
        vertical = Vertical.objects.filter(name=name).first()
        if vertical is None:
            raise NotFound(f"There is no vertical “{name}”.")
        return vertical

    @endpoint(
        "read_record_schema",
        scope=Scope.RECORDS_READ,
        answers=OpenApiTypes.OBJECT,
        tags=["records"],
    )
    def get(self, _request: Request, *, subject: Vertical, **_: object) -> dict[str, Any]:
        """Show the JSON Schema of a vertical's records."""
        return record_schema(subject)


def tagged(request: Request, content: dict[str, Any]) -> HttpResponse:
    """Answer with a tag of the content; a caller that has it already gets 304 and no body."""
    body = FastJSONRenderer().render(content)
    etag = f'"{xxhash.xxh3_128_hexdigest(body)}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    response = HttpResponse(body, content_type=FastJSONRenderer.media_type, headers=headers)
    django_request = cast("HttpRequest", request)  # it hands on what the framework's own has
    return cast(
        "HttpResponse", get_conditional_response(django_request, etag=etag, response=response)
    )


def _wanted(request: Request, query: dict[str, Any]) -> RecordQuerySet:
    """Return the records that are asked for, of the sites that the caller may see."""
    site = visible_site(request, query["site"]) if "site" in query else None
    records = Record.objects.all() if site else Record.objects.visible_to(caller_of(request))
    gone = query.get("gone")
    filters = {name: query[name] for name in NARROWING if name in query}
    has_gone = "changed_since" in query if gone is None else gone
    return narrowed(records, WantedRows(site=site, has_gone=has_gone, **filters))


def _page_of(
    records: RecordQuerySet, names: tuple[str, ...], request: Request, query: dict[str, Any]
) -> dict[str, Any]:
    """Return a page in the order of the change numbers, which only grow and show in their order."""
    limit = query["limit"]
    if query.get("cursor"):
        records = records.changed_since(int(read_cursor(query["cursor"], request)))
    rows = record_rows(
        records.order_by("change_number")[: limit + 1],
        tuple(dict.fromkeys((*names, "change_number"))),
    )
    following = None
    if len(rows) > limit:
        rows = rows[:limit]
        cursor = write_cursor(rows[-1]["change_number"], request)
        following = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    if "change_number" not in names:
        for row in rows:
            del row["change_number"]
    return {"results": rows, "next": following}


def _names(names_given: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in names_given.split(",") if name.strip()))
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ValidationError(
            {"fields": [f"Unknown: {', '.join(unknown)[:200]}. Known are: {', '.join(NAMES)}."]}
        )
    return names or NAMES
