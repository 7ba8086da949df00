"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from annotation.views.annotations import comments, effort, second_annotating
from annotation.views.page import annotating, gestures
from annotation.views.samples import queue
from annotation.views.verticals import keys, verticals

VERTICAL = "settings/verticals/<str:vertical_name>"
SITE = "sites/<name:name>"
CLUSTER = f"{SITE}/clusters/<slug:cluster_name>"
PAGE = f"{SITE}/pages/<id:pk>"
SNAPSHOT = f"{PAGE}/snapshots/<id:snapshot_pk>"

urlpatterns: list[URLPattern | URLResolver] = [
    path("annotate/", queue.annotate, name="annotate"),
    path("annotate/keys/", keys.annotate_keys, name="annotate_keys"),
    path(f"{SITE}/annotate/", queue.annotate_site, name="annotate_site"),
    path(f"{CLUSTER}/samples/<id:rank>/", annotating.annotate_page, name="annotate_page"),
    path(f"{CLUSTER}/draw-samples/", queue.draw_cluster_samples, name="draw_cluster_samples"),
    path(f"{CLUSTER}/vertical/", queue.describe_cluster, name="describe_cluster"),
    path(f"{PAGE}/annotate/", annotating.annotate_page, name="annotate_page"),
    path(f"{SNAPSHOT}/outline/", annotating.page_outline, name="page_outline"),
    path(f"{SNAPSHOT}/node/", annotating.page_node, name="page_node"),
    path(f"{SNAPSHOT}/suggestions/", annotating.page_suggestions, name="page_suggestions"),
    path(f"{SNAPSHOT}/gestures/", gestures.gesture, name="gesture"),
    path(f"{PAGE}/comments/", comments.page_comments, name="page_comments"),
    path(f"{SITE}/comments/<id:pk>/resolve/", comments.resolve_comment, name="resolve_comment"),
    path(
        f"{SITE}/second-annotations/",
        second_annotating.second_annotations,
        name="second_annotations",
    ),
    path(f"{PAGE}/annotate-again/", second_annotating.annotate_again, name="annotate_again"),
    path(
        f"{SITE}/second-annotations/<id:pk>/resolve/",
        second_annotating.resolve_disagreement,
        name="resolve_disagreement",
    ),
    path("effort/", effort.effort, name="effort"),
    path("settings/verticals/", verticals.verticals, name="verticals"),
    path("settings/add-vertical/", verticals.add_vertical, name="add_vertical"),
    path("settings/add-vertical/ready-made/", verticals.load_ready_made, name="load_ready_made"),
    path("settings/add-vertical/file/", verticals.import_vertical, name="import_vertical"),
    path(f"{VERTICAL}/", verticals.vertical, name="vertical"),
    path(f"{VERTICAL}/export/", verticals.export_vertical, name="export_vertical"),
    path(f"{VERTICAL}/delete/", verticals.delete_vertical, name="delete_vertical"),
]
