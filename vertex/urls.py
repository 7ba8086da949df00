"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from vertex.running import health, metrics
from vertex.views import site_pages

urlpatterns: list[URLPattern | URLResolver] = [
    path("", site_pages.home, name="home"),
    path("", include("vertex.core.urls")),
    path("", include("clustering.urls")),
    path("", include("annotation.urls")),
    path("", include("rules.urls")),
    path("", include("monitoring.urls")),
    path("sites/", site_pages.sites, name="sites"),
    path("add-site/", site_pages.add_site, name="add_site"),
    path("import-site/", site_pages.import_site, name="import_site"),
    path("sites/<name:name>/", site_pages.site, name="site"),
    path("sites/<name:name>/settings/", site_pages.site_settings, name="site_settings"),
    path("api/", include("vertex.api")),
    path("favicon.ico", site_pages.favicon, name="favicon"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
]

handler400 = "vertex.views.failures.bad_request"
handler500 = "vertex.views.failures.server_error"
