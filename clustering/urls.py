"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from clustering.views.clusters import (
    cluster_changes,
    cluster_reviews,
    clusterings,
    clusters,
    doubts,
    kinds,
)
from clustering.views.looks import frames
from clustering.views.pages import pages, snapshots
from clustering.views.sites import crawl_picture, fetching, hosts, sites

SITE = "sites/<name:name>"
PAGE = f"{SITE}/pages/<id:pk>"
FRAME = f"{SITE}/frames/<id:pk>"
CLUSTER = f"{SITE}/clusters/<slug:cluster_name>"
CLUSTERING = f"{SITE}/clusterings/<id:pk>"
CHANGE = f"{SITE}/cluster-changes/<id:pk>"
DOUBT = f"{SITE}/doubts/<slug:doubt>"
ANSWER = f"{SITE}/doubt-answers/<id:pk>"

urlpatterns: list[URLPattern | URLResolver] = [
    path(f"{SITE}/delete/", sites.delete_site, name="delete_site"),
    path(f"{SITE}/export/", sites.export_site, name="export_site"),
    path(f"{SITE}/export-warc/", sites.export_warc, name="export_warc"),
    path("operations/hosts/", hosts.hosts, name="hosts"),
    path(f"{SITE}/crawl-picture/", crawl_picture.crawl_picture, name="crawl_picture"),
    path(f"{SITE}/settings/fetching/", fetching.site_fetching, name="site_fetching"),
    path(f"{SITE}/crawl/", pages.crawl_site, name="crawl_site"),
    path(f"{SITE}/import/", pages.import_pages, name="import_pages"),
    path(f"{SITE}/crawl-sitemaps/", pages.crawl_sitemaps, name="crawl_sitemaps"),
    path(f"{SITE}/visit-addresses/", pages.visit_addresses, name="visit_addresses"),
    path(f"{SITE}/search-log/", pages.search_log, name="search_log"),
    path(f"{SITE}/pages/", pages.pages, name="pages"),
    path(f"{SITE}/page-states/", pages.page_states, name="page_states"),
    path(f"{PAGE}/", pages.page, name="page"),
    path(f"{PAGE}/snapshots/<id:snapshot_pk>/", snapshots.snapshot_source, name="snapshot_source"),
    path(
        f"{PAGE}/snapshots/<id:snapshot_pk>/bytes/", snapshots.snapshot_body, name="snapshot_body"
    ),
    path(f"{PAGE}/snapshots/<id:snapshot_pk>/look/", frames.snapshot_look, name="snapshot_look"),
    path(
        f"{PAGE}/compare/<id:older>/<id:newer>/",
        snapshots.compare_snapshots,
        name="compare_snapshots",
    ),
    path(f"{FRAME}/", frames.page_frame, name="page_frame"),
    path(f"{FRAME}/line/", frames.page_frame_line, name="page_frame_line"),
    path(f"{FRAME}/fetch/", frames.fetch_page_assets, name="fetch_page_assets"),
    path(
        "frame-assets/<id:snapshot>/<id:expires>/<slug:signed>/<slug:body>",
        frames.frame_asset,
        name="frame_asset",
    ),
    path(f"{SITE}/cluster/", clusterings.cluster_site, name="cluster_site"),
    path(f"{SITE}/clusters/", clusters.clusters, name="clusters"),
    path(f"{SITE}/cluster-map/", clusters.cluster_map, name="cluster_map"),
    path(f"{SITE}/unassigned-pages/", clusters.unassigned_pages, name="unassigned_pages"),
    path(f"{SITE}/move-pages/", cluster_changes.move_pages, name="move_pages"),
    path(f"{SITE}/cluster-changes/", clusters.cluster_changes, name="cluster_changes"),
    path(f"{CHANGE}/undo/", cluster_changes.undo_change, name="undo_change"),
    path(f"{CHANGE}/redo/", cluster_changes.redo_change, name="redo_change"),
    path(f"{SITE}/doubts/", doubts.doubts, name="doubts"),
    path(f"{DOUBT}/", doubts.doubt, name="doubt"),
    path(f"{DOUBT}/settle/", doubts.settle_doubt, name="settle_doubt"),
    path(f"{ANSWER}/undo/", doubts.undo_answer, name="undo_answer"),
    path(f"{ANSWER}/redo/", doubts.redo_answer, name="redo_answer"),
    path(f"{SITE}/follow-answers/", doubts.follow_answers, name="follow_answers"),
    path(f"{CLUSTER}/", clusters.cluster, name="cluster"),
    path(f"{CLUSTER}/merge/", cluster_changes.merge_clusters, name="merge_clusters"),
    path(f"{CLUSTER}/split/", cluster_changes.split_cluster, name="split_cluster"),
    path(f"{CLUSTER}/rename/", cluster_changes.rename_cluster, name="rename_cluster"),
    path(f"{CLUSTER}/kind/", kinds.set_cluster_kind, name="set_cluster_kind"),
    path(f"{CLUSTER}/annotating/", kinds.set_annotating, name="set_annotating"),
    path(f"{CLUSTER}/annotator/", kinds.set_annotator, name="set_annotator"),
    path(f"{CLUSTER}/split-off-layout/", kinds.split_off_layout, name="split_off_layout"),
    path(f"{CLUSTER}/review/", cluster_reviews.review_cluster, name="review_cluster"),
    path(f"{SITE}/truth-file/", cluster_reviews.truth_file, name="truth_file"),
    path(f"{SITE}/clusterings/", clusterings.clusterings, name="clusterings"),
    path(f"{CLUSTERING}/", clusterings.clustering, name="clustering"),
    path(f"{CLUSTERING}/make-current/", clusterings.make_current, name="make_current"),
    path(f"{CLUSTERING}/drop/", clusterings.drop_clustering, name="drop_clustering"),
    path(
        f"{SITE}/compare-clusterings/", clusterings.compare_clusterings, name="compare_clusterings"
    ),
    path(f"{SITE}/site-model/", clusterings.site_model, name="site_model"),
    path(f"{SITE}/thumbnails/", clusterings.draw_thumbnails, name="draw_thumbnails"),
    path(f"{SITE}/thumbnails/<slug:body>/", clusters.thumbnail, name="thumbnail"),
]
