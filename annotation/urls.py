"""Which address leads where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path

from annotation import views

if TYPE_CHECKING:
    from django.urls import URLPattern, URLResolver

VERTICAL = "settings/verticals/<str:vertical_name>"

urlpatterns: list[URLPattern | URLResolver] = [
    path("settings/verticals/", views.verticals, name="verticals"),
    path("settings/add-vertical/", views.add_vertical, name="add_vertical"),
    path("settings/add-vertical/ready-made/", views.load_ready_made, name="load_ready_made"),
    path("settings/add-vertical/file/", views.import_vertical, name="import_vertical"),
    path(f"{VERTICAL}/", views.vertical, name="vertical"),
    path(f"{VERTICAL}/export/", views.export_vertical, name="export_vertical"),
    path(f"{VERTICAL}/delete/", views.delete_vertical, name="delete_vertical"),
]
