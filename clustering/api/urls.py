"""Which address of the API leads where."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from clustering.api.clusters import cluster_changes, clusterings, doubts, fields
from clustering.api.pages import incoming, pages, pushes
from clustering.api.sites import fetching, sites
from vertex.core.converters import NameConverter


class ClusterConverter(NameConverter):
    """A cluster's name."""

    regex = "[a-z0-9][a-z0-9-]{0,60}"  # as CLUSTER_NAME has it


register_converter(ClusterConverter, "cluster")


SITE = "sites/<name:name>/"
CLUSTER = f"{SITE}clusters/<cluster:cluster>/"
CHANGE = f"{SITE}cluster-changes/<id:pk>/"
ANSWER = f"{SITE}doubt-answers/<id:pk>/"

urlpatterns: list[URLPattern] = [
    path("sites/", sites.Sites.as_view(), name="sites"),
    path("sites/<name:name>/", sites.SiteView.as_view(), name="site"),
    path("sites/<name:name>/fetching/", fetching.Fetching.as_view(), name="site_fetching"),
    path("sites/<name:name>/crawls/", incoming.Crawls.as_view(), name="crawls"),
    path("sites/<name:name>/imports/", incoming.Imports.as_view(), name="imports"),
    path(
        "sites/<name:name>/sitemap_crawls/", incoming.SitemapCrawls.as_view(), name="sitemap_crawls"
    ),
    path("sites/<name:name>/address_lists/", incoming.AddressLists.as_view(), name="address_lists"),
    path("sites/<name:name>/pushed_pages/", pushes.PushedPages.as_view(), name="pushed_pages"),
    path("sites/<name:name>/search_logs/", incoming.SearchLogs.as_view(), name="search_logs"),
    path(f"{SITE}algorithms/", clusterings.Algorithms.as_view(), name="algorithms"),
    path(f"{SITE}clusterings/", clusterings.Clusterings.as_view(), name="clusterings"),
    path(f"{SITE}clusterings/<id:pk>/", clusterings.ClusteringView.as_view(), name="clustering"),
    path(
        f"{SITE}clusterings/<id:pk>/make-current/",
        clusterings.MakeCurrent.as_view(),
        name="make_clustering_current",
    ),
    path(f"{SITE}clusters/", clusterings.ClusterList.as_view(), name="clusters"),
    path(CLUSTER, clusterings.ClusterView.as_view(), name="cluster"),
    path(f"{CLUSTER}fields/", fields.ClusterFieldList.as_view(), name="cluster_fields"),
    path(f"{CLUSTER}pages/", clusterings.ClusterPageList.as_view(), name="cluster_pages"),
    path(
        f"{SITE}cluster-changes/", cluster_changes.ClusterChanges.as_view(), name="cluster_changes"
    ),
    path(f"{CHANGE}undo/", cluster_changes.UndoChange.as_view(), name="undo_cluster_change"),
    path(f"{CHANGE}redo/", cluster_changes.RedoChange.as_view(), name="redo_cluster_change"),
    path(f"{SITE}doubts/", doubts.Doubts.as_view(), name="doubts"),
    path(f"{SITE}doubt-answers/", doubts.DoubtAnswers.as_view(), name="doubt_answers"),
    path(f"{ANSWER}undo/", doubts.UndoAnswer.as_view(), name="undo_doubt_answer"),
    path(f"{ANSWER}redo/", doubts.RedoAnswer.as_view(), name="redo_doubt_answer"),
    path(f"{CLUSTER}review/", cluster_changes.ClusterReviewPages.as_view(), name="cluster_review"),
    path(f"{CLUSTER}verdicts/", cluster_changes.ClusterVerdicts.as_view(), name="cluster_verdicts"),
    path(f"{SITE}truth/", cluster_changes.Truth.as_view(), name="truth"),
    path(f"{SITE}archive/", pages.SiteArchive.as_view(), name="site_archive"),
    path("pages/", pages.Pages.as_view(), name="pages"),
    path("pages/<id:pk>/", pages.PageView.as_view(), name="page"),
    path("pages/<id:pk>/links/", pages.PageLinkList.as_view(), name="page_links"),
    path("pages/<id:pk>/snapshots/", pages.PageSnapshots.as_view(), name="page_snapshots"),
    path("snapshots/<id:pk>/", pages.SnapshotView.as_view(), name="snapshot"),
    path("snapshots/<id:pk>/body/", pages.SnapshotBody.as_view(), name="snapshot_body"),
]
