"""The whole API: each app's routes, the schema made from them, and the page to try them on."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from vertex.core.api.authentication import SessionAuthentication


# Saves 140 ms for each request of the schema.
@cache
def schema_of_routes() -> dict[str, Any]:
    """Return the schema; it is the same for everybody and as long as the process lives."""
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator().get_schema(public=True)
    return schema


class FixedGenerator(SchemaGenerator):
    def get_schema(self, *_: Any, **__: Any) -> dict[str, Any]:
        return schema_of_routes()


class Schema(SpectacularAPIView):
    generator_class = FixedGenerator


class Docs(SpectacularSwaggerView):
    # So that the page is that of whoever looks at it.
    authentication_classes = (SessionAuthentication,)
    template_name = "vertex/api_docs.html"
    url_name = "schema"


v1: list[URLPattern | URLResolver] = [
    path("", include("vertex.core.api.urls")),
    path("", include("clustering.api.urls")),
    path("", include("annotation.api.urls")),
    path("", include("rules.api.urls")),
    path("", include("monitoring.api.urls")),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", include((v1, "v1"))),
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", Docs.as_view(), name="docs"),
]
