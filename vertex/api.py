"""The whole API: each app's routes, the import of a site, the schema, and the page to try them."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, include, path
from django.utils.encoding import force_bytes
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from vertex.core.api.authentication import SessionAuthentication
from vertex.core.api.endpoints import ApiView
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import StrictSerializer
from vertex.core.models import Role, Scope
from vertex.core.models.sites import SITE_NAME
from vertex.site_import import upload_site


# Saves 140 ms for each request of the schema.
@cache
def schema_of_routes() -> dict[str, Any]:
    """Return the schema; it is the same for everybody and as long as the process lives."""
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator().get_schema(public=True)
    return schema


# Saves up to 700 ms for each request of the schema, which strangers may make.
@cache
def written_schema(media_type: str) -> bytes:
    """Return the schema in one of the forms in which it is offered."""
    renderer = next(each for each in Schema.renderer_classes if each.media_type == media_type)
    return force_bytes(renderer().render(schema_of_routes(), media_type, {}))


class Schema(SpectacularAPIView):
    @extend_schema(exclude=True)
    def get(self, request: Request, *_: object, **__: object) -> HttpResponse:
        """Answer with the schema, as YAML unless JSON is asked for."""
        renderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        return HttpResponse(
            written_schema(renderer.media_type),
            content_type=f"{renderer.media_type}{charset}",
            headers={"Content-Disposition": f'inline; filename="vertex.{renderer.format}"'},
        )


class Docs(SpectacularSwaggerView):
    # So that the page is that of whoever looks at it.
    authentication_classes = (SessionAuthentication,)
    template_name = "vertex/api_docs.html"
    url_name = "schema"


class SiteUpload(StrictSerializer):
    """A site to be imported."""

    file = serializers.FileField(help_text="What the export of a site wrote.")
    name = serializers.RegexField(
        SITE_NAME.regex,
        trim_whitespace=False,
        required=False,
        help_text="What the site is called here; by default as it was there.",
    )


class SiteImports(ApiView):
    parser_classes = (MultiPartParser,)
    max_megabytes = settings.MAX_UPLOAD_MB + 1  # the form around the file is no megabyte

    @job_endpoint(
        "import_site",
        scope=Scope.SITES_WRITE,
        needs=(Role.ADMINISTRATOR, "everywhere"),
        takes=SiteUpload,
        errors=(409, 507),
        tags=["sites"],
    )
    def post(self, request: Request, *, body: dict[str, Any], **_: object) -> dict[str, Any]:
        """Upload the export of a site, to be added by a job, whole or not at all."""
        file = body["file"]
        job = upload_site(
            chunks=file.chunks(),
            file_name=file.name,
            name=body.get("name", ""),
            actor=caller_of(request),
        )
        return row_of_job(job)


v1: list[URLPattern | URLResolver] = [
    path("", include("vertex.core.api.urls")),
    path("", include("clustering.api.urls")),
    path("", include("annotation.api.urls")),
    path("", include("rules.api.urls")),
    path("", include("monitoring.api.urls")),
    path("site-imports/", SiteImports.as_view(), name="site_imports"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", include((v1, "v1"))),
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", Docs.as_view(), name="docs"),
]
