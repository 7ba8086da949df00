"""Which address of the API leads where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path, register_converter

from clustering.api import audit, cluster_changes, clusterings, incoming, jobs, pages, sites

if TYPE_CHECKING:
    from django.urls import URLPattern

MAX_ID = 2**63 - 1


class NameConverter:
    """A site's name."""

    regex = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}"  # as SITE_NAME has it; a test compares them

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class IdConverter:
    """A row's number, no larger than the database has."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        number = int(value)
        if number > MAX_ID:
            raise ValueError(f"{number} is larger than any id")
        return number

    def to_url(self, value: int) -> str:
        return str(value)


class ClusterConverter(NameConverter):
    """A cluster's name."""

    regex = "[a-z0-9][a-z0-9-]{0,60}"  # as CLUSTER_NAME has it


register_converter(NameConverter, "name_of_site")
register_converter(ClusterConverter, "name_of_cluster")
register_converter(IdConverter, "id_of_row")


SITE = "sites/<name_of_site:name>/"
CLUSTER = f"{SITE}clusters/<name_of_cluster:cluster>/"
CHANGE = f"{SITE}cluster-changes/<id_of_row:pk>/"

urlpatterns: list[URLPattern] = [
    path("sites/", sites.Sites.as_view(), name="sites"),
    path("sites/<name_of_site:name>/", sites.SiteView.as_view(), name="site"),
    path("sites/<name_of_site:name>/crawls/", incoming.Crawls.as_view(), name="crawls"),
    path("sites/<name_of_site:name>/imports/", incoming.Imports.as_view(), name="imports"),
    path("sites/<name_of_site:name>/search_logs/", incoming.SearchLogs.as_view(), name="search_logs"),
    path(f"{SITE}algorithms/", clusterings.Algorithms.as_view(), name="algorithms"),
    path(f"{SITE}clusterings/", clusterings.Clusterings.as_view(), name="clusterings"),
    path(f"{SITE}clusterings/<id_of_row:pk>/", clusterings.ClusteringView.as_view(), name="clustering"),
    path(
        f"{SITE}clusterings/<id_of_row:pk>/make-current/",
        clusterings.MakeCurrent.as_view(),
        name="make_clustering_current",
    ),
    path(f"{SITE}clusters/", clusterings.Clusters.as_view(), name="clusters"),
    path(CLUSTER, clusterings.ClusterView.as_view(), name="cluster"),
    path(f"{CLUSTER}pages/", clusterings.ClusterPages.as_view(), name="cluster_pages"),
    path(f"{SITE}cluster-changes/", cluster_changes.ClusterChanges.as_view(), name="cluster_changes"),
    path(f"{CHANGE}undo/", cluster_changes.UndoChange.as_view(), name="undo_cluster_change"),
    path(f"{CHANGE}redo/", cluster_changes.RedoChange.as_view(), name="redo_cluster_change"),
    path(f"{CLUSTER}review/", cluster_changes.ClusterReview.as_view(), name="cluster_review"),
    path(f"{CLUSTER}verdicts/", cluster_changes.ClusterVerdicts.as_view(), name="cluster_verdicts"),
    path(f"{SITE}truth/", cluster_changes.Truth.as_view(), name="truth"),
    path("pages/", pages.Pages.as_view(), name="pages"),
    path("pages/<id_of_row:pk>/", pages.PageView.as_view(), name="page"),
    path("pages/<id_of_row:pk>/links/", pages.PageLinks.as_view(), name="page_links"),
    path("pages/<id_of_row:pk>/snapshots/", pages.PageSnapshots.as_view(), name="page_snapshots"),
    path("snapshots/<id_of_row:pk>/", pages.SnapshotView.as_view(), name="snapshot"),
    path("snapshots/<id_of_row:pk>/body/", pages.SnapshotBody.as_view(), name="snapshot_body"),
    path("jobs/", jobs.Jobs.as_view(), name="jobs"),
    path("jobs/<id_of_row:pk>/", jobs.JobView.as_view(), name="job"),
    path("jobs/<id_of_row:pk>/cancel/", jobs.CancelJob.as_view(), name="cancel_job"),
    path("jobs/<id_of_row:pk>/retry/", jobs.RetryJob.as_view(), name="retry_job"),
    path("refusals/", jobs.Refusals.as_view(), name="refusals"),
    path("audit/", audit.Audit.as_view(), name="audit"),
]
