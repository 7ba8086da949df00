"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from vertex import views
from vertex.running import health, metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("", include("vertex.core.urls")),
    path("", include("clustering.urls")),
    path("", include("annotation.urls")),
    path("", include("rules.urls")),
    path("", include("monitoring.urls")),
    path("add-site/", views.add_site, name="add_site"),
    path("sites/<name:name>/", views.site, name="site"),
    path("sites/<name:name>/settings/", views.site_settings, name="site_settings"),
    path("api/", include("vertex.api")),
    path("favicon.ico", views.favicon, name="favicon"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
]

handler400 = "vertex.views.bad_request"
handler500 = "vertex.views.server_error"
