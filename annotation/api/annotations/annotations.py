"""Routes of samples and annotations."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError as Refused
from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from annotation.models import Annotation, Sample
from annotation.services.files import importing
from annotation.services.samples import sampling
from clustering.api.pages.pages import hash_of_url
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import (
    AS_GIVEN,
    Body,
    ListQuery,
    RowSerializer,
    StrictSerializer,
    listed,
)
from vertex.core.models import Role, Scope, Site
from vertex.core.services.files import uploads
from vertex.core.services.jobs.requests import enqueue

SCHEMES = [(str(value), label) for value, label in Sample.Scheme.choices]
KINDS = [(str(value), label) for value, label in Annotation.Kind.choices]


class SampleRow(RowSerializer):
    class Meta:
        model = Sample
        fields = (
            "id",
            "site",
            "cluster",
            "rank",
            "page",
            "url",
            "normalized_url",
            "snapshot",
            "gain",
            "scheme",
            "drawn_at",
        )

    site = serializers.CharField(source="cluster.site.name")
    cluster = serializers.CharField(source="cluster.name")
    page = serializers.IntegerField(source="page_id")
    url = serializers.CharField(source="page.given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="page.url")
    snapshot = serializers.IntegerField(source="snapshot_id")
    scheme = serializers.ChoiceField(choices=SCHEMES)


class AnnotationRow(RowSerializer):
    class Meta:
        model = Annotation
        fields = (
            "id",
            "site",
            "page",
            "url",
            "normalized_url",
            "snapshot",
            "vertical",
            "attribute",
            "kind",
            "position",
            "xpath",
            "end_xpath",
            "text",
            "start",
            "end",
            "prefix",
            "suffix",
            "record",
            "is_only_here",
            "author",
            "source",
            "revision",
            "made_at",
            "superseded_at",
        )

    site = serializers.CharField(source="page.site.name")
    page = serializers.IntegerField(source="page_id")
    url = serializers.CharField(source="page.given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="page.url")
    snapshot = serializers.IntegerField(source="snapshot_id")
    vertical = serializers.CharField(source="attribute.vertical.name", allow_null=True)
    attribute = serializers.CharField(
        source="attribute.name", allow_null=True, help_text="Null for the boundary of a record."
    )
    kind = serializers.ChoiceField(choices=KINDS)
    text = serializers.CharField(help_text="The value as displayed.")
    start = serializers.IntegerField(
        allow_null=True, help_text="Offset in the displayed text of the node; null: its beginning."
    )
    end = serializers.IntegerField(
        allow_null=True, help_text="Behind the value; null: the node's end."
    )
    record = serializers.ListField(
        child=serializers.CharField(),
        help_text="XPaths of the record's elements; empty outside records.",
    )
    author = serializers.CharField(source="author.username", allow_null=True)


class SamplesQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    cluster = serializers.CharField(max_length=61, required=False, help_text="A cluster's name.")


class AnnotationsQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    url = serializers.CharField(
        max_length=8192, required=False, help_text="The page of this address."
    )
    attribute = serializers.CharField(
        max_length=63, required=False, help_text="An attribute's name."
    )
    kind = serializers.ChoiceField(choices=KINDS, required=False)
    changed_since = serializers.DateTimeField(
        required=False, help_text="Those that were made at this time or later."
    )
    history = serializers.BooleanField(
        default=False, help_text="Those that were replaced as well, not only what holds now."
    )


class NewSamples(Body):
    """SampleList to be drawn."""

    cluster = serializers.CharField(
        max_length=61, required=False, help_text="A cluster's name; by default all clusters."
    )
    size = serializers.IntegerField(min_value=1, max_value=sampling.MAX_SIZE, required=False)
    scheme = serializers.ChoiceField(choices=SCHEMES, required=False)
    prefer_unseen = serializers.BooleanField(
        required=False, help_text="Prefer pages that show a label or layout not seen yet."
    )


class AnnotationUpload(StrictSerializer):
    """Annotations to be imported."""

    file = serializers.FileField(help_text="Lines as the command import_annotations takes them.")


class SampleList(ApiView):
    @endpoint(
        "list_samples",
        scope=Scope.VERTICALS_READ,
        query=SamplesQuery,
        answers=listed(SampleRow),
        tags=["annotations"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List samples."""
        visible = Sample.objects.visible_to(caller_of(request))
        columns = {"site": "cluster__site__name", "cluster": "cluster__name"}
        filters = {column: query[name] for name, column in columns.items() if name in query}
        return page_of(visible.filter(**filters), row=SampleRow, request=request, query=query)


class Annotations(ApiView):
    @endpoint(
        "list_annotations",
        scope=Scope.VERTICALS_READ,
        query=AnnotationsQuery,
        answers=listed(AnnotationRow),
        tags=["annotations"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List annotations in the order in which they were made."""
        visible = Annotation.objects.visible_to(caller_of(request))
        columns = {
            "site": "page__site__name",
            "attribute": "attribute__name",
            "kind": "kind",
            "changed_since": "made_at__gte",
        }
        filters = {column: query[name] for name, column in columns.items() if name in query}
        if "url" in query:
            filters["page__url_hash"] = hash_of_url(query["url"])
        annotations = visible.filter(**filters)
        if not query["history"]:
            annotations = annotations.live()
        return page_of(annotations, row=AnnotationRow, request=request, query=query)


class SiteSamples(AtSite):
    @job_endpoint(
        "draw_samples",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewSamples,
        tags=["annotations"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Draw samples as a job; they replace the cluster's samples."""
        try:
            job = enqueue(sampling.samples_request(site=subject, **body), actor=caller_of(request))
        except Refused as error:
            raise ValidationError({"cluster": error.messages}) from None
        return row_of_job(job)


class SiteAnnotations(AtSite):
    parser_classes = (MultiPartParser,)
    max_megabytes = settings.MAX_UPLOAD_MB + 1  # the form around the file is no megabyte

    @job_endpoint(
        "import_annotations",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "there"),
        takes=AnnotationUpload,
        errors=(409, 507),
        tags=["annotations"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Upload annotations, to be read by a job."""
        file = body["file"]
        source = uploads.keep_upload(chunks=file.chunks(), name=file.name)
        try:
            job = enqueue(
                importing.import_request(site=subject, source=source), actor=caller_of(request)
            )
        except BaseException:  # no job will read the file: it must not stay
            uploads.drop_upload(source)
            raise
        return row_of_job(job)


urlpatterns: list[URLPattern] = [
    path("samples/", SampleList.as_view(), name="samples"),
    path("annotations/", Annotations.as_view(), name="annotations"),
    path("sites/<name:name>/samples/", SiteSamples.as_view(), name="site_samples"),
    path("sites/<name:name>/annotations/", SiteAnnotations.as_view(), name="site_annotations"),
]
