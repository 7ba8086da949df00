"""Routes of the lists that stored pages show, as tables that nobody taught."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from clustering.algorithms.tables.page_tables import N_LISTS, ListTable
from clustering.api.pages.pages import PageView, SnapshotView, bytes_of
from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.forms.sites import propose_name
from clustering.models import Page, Snapshot
from rules.services.lists import pasted_lists
from rules.services.lists.shown_tables import shown_tables
from vertex.core.api.endpoints import ApiView, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import read_cursor, write_cursor
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, Query
from vertex.core.models import Role, Scope, Site
from vertex.core.models.sites import SITE_NAME
from vertex.core.views.page_reading import waits_for_children

OF_COLUMN = ("name", "kind", "is_multi", "n_filled")
OF_TABLE = ("rank", "score", "n_records", "detail_column", "next_url", "pages", "is_cut")


class TableColumn(serializers.Serializer[Any]):
    """A column of a table."""

    name = serializers.CharField(help_text="What the page calls it.")
    kind = serializers.CharField(help_text="text, link or image.")
    is_multi = serializers.BooleanField(
        help_text="Whether a record may have several values, as a list."
    )
    n_filled = serializers.IntegerField(help_text="How many records have it.")


class Table(serializers.Serializer[Any]):
    """A list of a page as a table."""

    page = serializers.IntegerField()
    snapshot = serializers.IntegerField()
    rank = serializers.IntegerField(help_text="From 1, the list that looks most like one.")
    score = serializers.FloatField(help_text="How much it looks like one, 0 to 1.")
    n_records = serializers.IntegerField()
    columns = TableColumn(many=True)
    detail_column = serializers.CharField(
        allow_blank=True,
        help_text="The column that leads to the records' own pages; blank where none does.",
    )
    next_url = serializers.CharField(
        allow_blank=True, help_text="Where the list goes on; blank at its end."
    )
    pages = serializers.ListField(
        child=serializers.CharField(), help_text="Further pages of the list that this one links to."
    )
    is_cut = serializers.BooleanField(
        help_text="Whether the page was too large to be read to its end."
    )


class TableRow(serializers.Serializer[Any]):
    """A record of a table."""

    index = serializers.IntegerField(help_text="Its place in the list, from 0.")
    values = serializers.DictField(
        help_text="By column: a text, or a list where the column may hold several. "
        "What it lacks is left out."
    )


# Saves no time: two shapes of one name would be two components of the schema.
@cache
def listed_tables() -> serializers.Serializer[Any]:
    """Return the shape of a page's tables."""
    last = serializers.URLField(allow_null=True, help_text="Always null: all of them are here.")
    return inline_serializer(name="TableList", fields={"results": Table(many=True), "next": last})


def listed_rows() -> serializers.Serializer[Any]:
    """Return the shape of a page of a table's rows."""
    onward = serializers.URLField(
        allow_null=True, help_text="The address of the next page; null on the last."
    )
    return inline_serializer(
        name="TableRowList", fields={"results": TableRow(many=True), "next": onward}
    )


class TablesQuery(Query):
    url = serializers.CharField(max_length=8192, help_text="The address of a stored page.")
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")


class RowsQuery(ListQuery):
    rank = serializers.IntegerField(
        min_value=1, max_value=N_LISTS, default=1, help_text="Of the table; by default the best."
    )


class NewTable(Body):
    """A page to be fetched for its lists."""

    url = serializers.CharField(max_length=8192, help_text="The address of the page.")
    name = serializers.RegexField(
        SITE_NAME.regex,
        required=False,
        trim_whitespace=False,
        help_text="Of the site that is added where the host has none; by default the host's name.",
    )


@waits_for_children
class Tables(ApiView):
    @endpoint(
        "list_tables",
        scope=Scope.PAGES_READ,
        query=TablesQuery,
        answers=listed_tables(),
        errors=(410,),
        tags=["tables"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List the tables of the stored page of an address, as it was seen last."""
        return _tables_of(_page_at(request, query).latest_snapshot)

    @job_endpoint(
        "request_table",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "anywhere"),
        takes=NewTable,
        tags=["tables"],
    )
    def post(self, request: Request, *, body: dict[str, Any], **_: object) -> dict[str, Any]:
        """Start a job that fetches one page for its lists; its result names the snapshot."""
        url = body["url"]
        name = body.get("name") or propose_name(url)
        try:
            job = pasted_lists.start_table(url=url, name=name, actor=caller_of(request))
        except pasted_lists.NotAllowed as error:
            raise PermissionDenied(str(error)) from None
        return row_of_job(job)


@waits_for_children
class PageTables(PageView):
    @endpoint(
        "list_page_tables",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=listed_tables(),
        errors=(410,),
        tags=["tables"],
    )
    def get(self, _request: Request, *, subject: Page, **_: object) -> dict[str, Any]:
        """List the tables of a page, as it was seen last."""
        return _tables_of(subject.latest_snapshot)


@waits_for_children
class SnapshotTables(SnapshotView):
    @endpoint(
        "list_snapshot_tables",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=listed_tables(),
        errors=(410,),
        tags=["tables"],
    )
    def get(self, _request: Request, *, subject: Snapshot, **_: object) -> dict[str, Any]:
        """List the tables of a snapshot, the best first; none where it shows no list."""
        return _tables_of(subject)


@waits_for_children
class TableRows(SnapshotView):
    @endpoint(
        "list_table_rows",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        query=RowsQuery,
        answers=listed_rows(),
        errors=(410,),
        tags=["tables"],
    )
    def get(
        self, request: Request, *, subject: Snapshot, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the records of a table in the order of the page."""
        tables = _readable_tables(subject)
        for table in tables:
            if table.rank == query["rank"]:
                return _rows_of(table, request, query)
        raise ValidationError({"rank": [f"The snapshot shows {len(tables)} lists."]})


def _page_at(request: Request, query: dict[str, Any]) -> Page:
    """Return the page of an address that was seen last, of those that the caller may see."""
    visible = Site.objects.visible_to(caller_of(request))
    sites = [visible_site(request, query["site"])] if "site" in query else visible
    try:
        wanted = url_hash(normalise_url(query["url"]))
    except BadAddress as error:
        raise ValidationError({"url": [str(error)]}) from None
    pages = Page.objects.filter(site__in=sites, url_hash=wanted, latest_snapshot__isnull=False)
    page = (
        pages.select_related("latest_snapshot").order_by("-latest_snapshot__seen_at", "-pk").first()
    )
    if page is None:
        raise NotFound(
            "No page of this address is stored; POST the address here to have it fetched."
        )
    return page


def _readable_tables(snapshot: Snapshot) -> list[ListTable]:
    tables = shown_tables(snapshot)
    if not tables:
        bytes_of(snapshot)  # to say that they are gone, which is not that there is no list
    return tables


def _tables_of(snapshot: Snapshot | None) -> dict[str, Any]:
    if snapshot is None:
        raise NotFound("The page has no snapshot: nothing of it is stored.")
    return {
        "results": [_row_of(table, snapshot) for table in _readable_tables(snapshot)],
        "next": None,
    }


def _row_of(table: ListTable, snapshot: Snapshot) -> dict[str, Any]:
    columns = [{name: getattr(column, name) for name in OF_COLUMN} for column in table.columns]
    row = {name: getattr(table, name) for name in OF_TABLE}
    return row | {"page": snapshot.page_id, "snapshot": snapshot.pk, "columns": columns}


def _rows_of(table: ListTable, request: Request, query: dict[str, Any]) -> dict[str, Any]:
    """Return one page of the records; the cursor is the index of the last one before it."""
    start = int(read_cursor(query["cursor"], request)) + 1 if query.get("cursor") else 0
    stop = min(start + query["limit"], table.n_records)
    rows = [{"index": number, "values": table.row(number)} for number in range(start, stop)]
    following = None
    if stop < table.n_records:
        cursor = write_cursor(stop - 1, request)
        following = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    return {"results": rows, "next": following}
