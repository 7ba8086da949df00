"""Routes of pages, their snapshots and their links."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.models import Link, Page, Snapshot
from clustering.services.pages.warc_export import pack, warc_parts
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.errors import Damaged, Gone
from vertex.core.api.formats import BytesRenderer, FastJSONRenderer
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import AS_GIVEN, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site
from vertex.core.storage import BodyDamaged, BodyMissing, page_store
from vertex.core.views.page_reading import waits_for_others

PAGE_STATES = [(str(value), label) for value, label in Page.State.choices]


class PageRow(RowSerializer):
    class Meta:
        model = Page
        fields = (
            "id",
            "site",
            "url",
            "normalized_url",
            "state",
            "status",
            "reason",
            "depth",
            "redirects_to",
            "latest_snapshot",
            "first_seen_at",
            "changed_at",
            "visited_at",
        )

    site = serializers.CharField(source="site.name")
    url = serializers.CharField(source="given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="url")
    redirects_to = serializers.IntegerField(source="redirects_to_id", allow_null=True)
    latest_snapshot = serializers.IntegerField(source="latest_snapshot_id", allow_null=True)
    changed_at = serializers.DateTimeField(
        source="latest_snapshot.fetched_at",
        allow_null=True,
        help_text="When its bytes were last new.",
    )


class SnapshotRow(RowSerializer):
    class Meta:
        model = Snapshot
        fields = (
            "id",
            "page",
            "body",
            "n_bytes",
            "status",
            "content_type",
            "encoding",
            "requested_url",
            "final_url",
            "problem",
            "is_rendered",
            "waited_for",
            "fetched_at",
            "seen_at",
        )

    page = serializers.IntegerField(source="page_id")
    body = serializers.CharField(help_text="The SHA-256 of the bytes.")


class LinkRow(RowSerializer):
    class Meta:
        model = Link
        fields = ("position", "xpath", "url", "text")


class PagesQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    state = serializers.ChoiceField(choices=PAGE_STATES, required=False)
    status = serializers.IntegerField(
        min_value=100, max_value=999, required=False, help_text="Of HTTP, at the last visit."
    )
    url = serializers.CharField(
        max_length=8192, required=False, help_text="The page of this address."
    )
    changed_since = serializers.DateTimeField(
        required=False, help_text="Pages whose bytes were new at this time or later."
    )
    visited_since = serializers.DateTimeField(
        required=False, help_text="Pages that were visited at this time or later."
    )


class Pages(ApiView):
    @endpoint(
        "list_pages",
        scope=Scope.PAGES_READ,
        query=PagesQuery,
        answers=listed(PageRow),
        tags=["pages"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List pages in the order in which they were found."""
        visible = pages_at(Site.objects.visible_to(caller_of(request)), query.get("site"))
        columns = {
            "state": "state",
            "status": "status",
            "changed_since": "latest_snapshot__fetched_at__gte",
            "visited_since": "visited_at__gte",
        }
        filters = {column: query[name] for name, column in columns.items() if name in query}
        if "url" in query:
            filters["url_hash"] = hash_of_url(query["url"])
        return page_of(visible.filter(**filters), row=PageRow, request=request, query=query)


class WarcRenderer(BytesRenderer):
    """Stand for an answer that is a web archive."""

    media_type = "application/warc"
    format = "warc"


@waits_for_others
class SiteArchive(AtSite):
    renderer_classes = (WarcRenderer, FastJSONRenderer)

    @endpoint(
        "download_archive",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=OpenApiTypes.BINARY,
        media_type=WarcRenderer.media_type,
        tags=["pages"],
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> StreamingHttpResponse:
        """Download the pages of a site as a web archive, each record packed with gzip."""
        parts = warc_parts(subject)
        return StreamingHttpResponse(
            (pack(record) for records in parts for record in records),
            content_type=WarcRenderer.media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{subject.name}.warc.gz"',
                "X-Content-Type-Options": "nosniff",
            },
        )


class PageView(ApiView):
    def find(self, request: Request, *, pk: int) -> Page:
        pages = Page.objects.filter(site__in=Site.objects.visible_to(caller_of(request)))
        page = pages.select_related("site").filter(pk=pk).first()
        if page is None:
            raise NotFound(f"There is no page {pk}, or it is not yours to see.")
        return page

    def site_of(self, subject: Page) -> Site:
        return subject.site

    @endpoint(
        "read_page",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=PageRow,
        tags=["pages"],
    )
    def get(self, _request: Request, *, subject: Page, **_: object) -> dict[str, Any]:
        """Show a page."""
        return PageRow.read(Page.objects.filter(pk=subject.pk))[0]


class PageSnapshots(PageView):
    @endpoint(
        "list_snapshots",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(SnapshotRow),
        tags=["pages"],
    )
    def get(
        self, request: Request, *, subject: Page, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List a page's snapshots, the newest first."""
        return page_of(
            subject.snapshots.all(),
            row=SnapshotRow,
            request=request,
            query=query,
            newest_first=True,
        )


class PageLinkList(PageView):
    @endpoint(
        "list_links",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(LinkRow),
        tags=["pages"],
    )
    def get(
        self, request: Request, *, subject: Page, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the links of a page's latest snapshot, as they stand on the page."""
        return page_of(
            subject.links.all(), row=LinkRow, request=request, query=query, key="position"
        )


class SnapshotView(ApiView):
    def find(self, request: Request, *, pk: int) -> Snapshot:
        visible = Site.objects.visible_to(caller_of(request))
        snapshots = Snapshot.objects.select_related("page__site").filter(page__site__in=visible)
        snapshot = snapshots.filter(pk=pk).first()
        if snapshot is None:
            raise NotFound(f"There is no snapshot {pk}, or it is not yours to see.")
        return snapshot

    def site_of(self, subject: Snapshot) -> Site:
        return subject.page.site

    @endpoint(
        "read_snapshot",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=SnapshotRow,
        tags=["pages"],
    )
    def get(
        self, _request: Request, *, subject: Snapshot, **_: object
    ) -> dict[str, Any] | HttpResponse:
        """Show what is known of a snapshot."""
        return SnapshotRow.read(Snapshot.objects.filter(pk=subject.pk))[0]


class SnapshotBody(SnapshotView):
    renderer_classes = (BytesRenderer, FastJSONRenderer)

    @endpoint(
        "download_snapshot",
        scope=Scope.PAGES_READ,
        needs=(Role.VIEWER, "there"),
        answers=OpenApiTypes.BINARY,
        media_type=BytesRenderer.media_type,
        errors=(410,),
        tags=["pages"],
    )
    def get(self, _request: Request, *, subject: Snapshot, **_: object) -> HttpResponse:
        """Download the bytes of a snapshot as they were received."""
        return HttpResponse(
            bytes_of(subject),
            content_type=BytesRenderer.media_type,
            headers={
                "Content-Disposition": f'attachment; filename="snapshot-{subject.pk}.bin"',
                # A stranger's bytes: whatever a browser does with them, they run nothing here.
                "Content-Security-Policy": "default-src 'none'; sandbox",
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "private, no-store",
            },
        )


def pages_at(visible: QuerySet[Site], name: str | None) -> QuerySet[Page]:
    """Return the pages of the visible sites, or of the one that is named."""
    if name is None:
        return Page.objects.filter(site__in=visible)
    return Page.objects.filter(
        site__in=list(visible.filter(name=name).values_list("pk", flat=True))
    )


def hash_of_url(url: str) -> bytes:
    try:
        return url_hash(normalise_url(url))
    except BadAddress as error:
        raise ValidationError({"url": [str(error)]}) from None


def bytes_of(snapshot: Snapshot) -> bytes:
    try:
        return page_store().read(snapshot.body)
    except BodyMissing:
        raise Gone(
            f"The bytes of snapshot {snapshot.pk} are no longer in the page store."
        ) from None
    except BodyDamaged:
        raise Damaged(
            f"The stored bytes of snapshot {snapshot.pk} are damaged; restore a backup."
        ) from None
