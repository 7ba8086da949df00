"""Routes of clusterings and of the clusters that a site works with."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from clustering.algorithms.clusterers import CLUSTERERS, parameter_lines, sentence_of
from clustering.algorithms.parameters import Parameter
from clustering.api.clusters.cluster_changes import READ, WRITE, ClusterAddress
from clustering.models import (
    Annotating,
    Cluster,
    ClusterFigures,
    Clustering,
    ClusterKind,
    PageMembership,
)
from clustering.services.clusters import clusterings
from clustering.services.clusters.cluster_changes import rename_cluster
from clustering.services.clusters.kinds import (
    annotator_named,
    kind_of,
    set_annotating,
    set_annotator,
    set_kind,
)
from clustering.services.clusters.layouts import layouts_by_cluster
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import AS_GIVEN, Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Site
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.page_reading import reads_pages, waits_for_others

MAX_SAMPLED = 2**31 - 1


class ClusteringRow(RowSerializer):
    class Meta:
        model = Clustering
        fields = (
            "id",
            "algorithm",
            "parameters",
            "why",
            "params",
            "evidence",
            "measures",
            "is_current",
            "n_pages",
            "n_sampled",
            "n_unassigned",
            "seconds",
            "made_at",
            "made_by",
            "job",
            "assigned_at",
        )

    parameters = serializers.DictField(
        help_text="Of the algorithm; one that is not here has its default."
    )
    params = serializers.DictField(help_text="Of the run: size and seed of the sample.")
    evidence = serializers.DictField(help_text="How many pages, links and clicks there were.")
    measures = serializers.DictField(
        help_text="Coverage, cohesion and the unassigned share, 0 to 1."
    )
    made_by = serializers.CharField(source="made_by.username", allow_null=True)
    job = serializers.IntegerField(source="job_id", allow_null=True)


class LayoutRow(serializers.Serializer[Any]):
    """Pages of a cluster that look alike."""

    name = serializers.CharField()
    n_pages = serializers.IntegerField()
    has = serializers.ListField(child=serializers.CharField(), help_text="What others lack.")
    lacks = serializers.ListField(child=serializers.CharField(), help_text="What others have.")


class ClusterRow(RowSerializer):
    """A cluster as the site's current clustering has it."""

    OF_CLUSTER: ClassVar = frozenset({"name", "title", "is_hand_made", "annotating"})
    COMPUTED: ClassVar = frozenset({"annotator", "kind", "certainty", "layouts"})

    class Meta:
        model = ClusterFigures
        fields = (
            "id",
            "name",
            "title",
            "is_hand_made",
            "n_pages",
            "url_pattern",
            "signature",
            "importance",
            "cohesion",
            "why",
            "examples",
            "kind",
            "certainty",
            "annotating",
            "annotator",
            "layouts",
        )

    name = serializers.CharField(source="cluster.name")
    title = serializers.CharField(source="cluster.title")
    is_hand_made = serializers.BooleanField(source="cluster.is_hand_made")
    signature = serializers.CharField(help_text="Eight bytes; ** stands for one that varies.")
    kind = serializers.CharField(help_text="What its pages are for; blank: not known.")
    certainty = serializers.FloatField(allow_null=True, help_text="Of the kind, 0 to 1.")
    annotating = serializers.CharField(
        source="cluster.annotating",
        help_text="wanted or dismissed, as a person said; blank: the kind decides.",
    )
    annotator = serializers.CharField(
        allow_null=True, help_text="The user name of who annotates it; null: whoever comes first."
    )
    layouts = LayoutRow(many=True, help_text="Pages that look alike; none where all do.")
    examples = serializers.ListField(
        child=serializers.IntegerField(), help_text="Ids of pages, the most typical first."
    )

    @classmethod
    def read(cls, queryset: QuerySet[Any]) -> list[dict[str, Any]]:
        """Return the rows with what people said of a cluster's kind, and with its layouts."""
        with_owners = queryset.select_related("cluster__annotator", "clustering")
        figures = list(
            with_owners.defer("clustering__model", "clustering__map")
        )  # they may be large
        if not figures:
            return []
        layouts = layouts_by_cluster(figures[0].clustering, [each.cluster for each in figures])
        plain_names = [name for name in cls.Meta.fields if name not in cls.COMPUTED]
        rows = []
        for each in figures:
            row = {name: getattr(_holder_of(name, each), name) for name in plain_names}
            shown = kind_of(each)
            layout_rows = [
                {
                    "name": part.layout.name,
                    "n_pages": part.n_pages,
                    "has": part.layout.has,
                    "lacks": part.layout.lacks,
                }
                for part in layouts.get(each.cluster_id, [])
            ]
            annotator = each.cluster.annotator
            row |= {
                "annotator": annotator.username if annotator else None,
                "kind": shown.kind,
                "certainty": shown.certainty,
                "layouts": layout_rows,
            }
            rows.append({name: row[name] for name in cls.Meta.fields})
        return rows


def _holder_of(name: str, figures: ClusterFigures) -> ClusterFigures | Cluster:
    """Return which row holds a field: what is the same in every clustering is the cluster's."""
    return figures.cluster if name in ClusterRow.OF_CLUSTER else figures


class ClusterPageRow(RowSerializer):
    class Meta:
        model = PageMembership
        fields = ("page", "url", "normalized_url", "found", "distance")

    page = serializers.IntegerField(source="page_id")
    url = serializers.CharField(source="page.given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="page.url")
    found = serializers.CharField(
        source="found.name",
        allow_null=True,
        help_text="The cluster that the algorithm put the page into.",
    )


class NewClustering(Body):
    """A clustering to be made."""

    algorithm = serializers.ChoiceField(
        choices=[(clusterer.name, clusterer.title) for clusterer in CLUSTERERS.values()],
        default="auto",
    )
    n_sample = serializers.IntegerField(
        min_value=1,
        max_value=MAX_SAMPLED,
        required=False,
        help_text=(
            "Pages to group, the others are assigned; by default all up to 2,000, of more a fifth."
        ),
    )
    parameters = serializers.DictField(
        required=False,
        help_text=(
            "Values of the algorithm's parameters; those that are not named have their "
            "paper's value. " + " ".join(parameter_lines())
        ),
    )
    compare = serializers.BooleanField(
        default=False, help_text="Keep it beside the current clustering instead of replacing that."
    )


class ClusterUpdate(Body):
    """What people say of a cluster; no clustering changes it, and what is not named stays."""

    title = serializers.CharField(max_length=200, required=False)
    kind = serializers.ChoiceField(
        choices=ClusterKind.choices,
        allow_blank=True,
        required=False,
        help_text="What its pages are for; blank takes back what a person said.",
    )
    annotating = serializers.ChoiceField(
        choices=Annotating.choices,
        allow_blank=True,
        required=False,
        help_text="Whether it is asked for in the queue; blank leaves it to its kind.",
    )
    annotator = serializers.CharField(
        max_length=150,
        allow_null=True,
        required=False,
        help_text="The user name of who annotates it; null: nobody. Editors say so of themselves, "
        "operators of everybody.",
    )


class AlgorithmParameter(serializers.Serializer[Any]):
    """Something of an algorithm that can be chosen."""

    name = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField(help_text="whole number, number, switch or choice")
    default = serializers.JSONField(help_text="Null: decided by the site.")
    least = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(allow_null=True)
    choices = serializers.ListField(child=serializers.CharField())
    sentence = serializers.CharField()


class Algorithm(serializers.Serializer[Any]):
    """An algorithm that groups pages."""

    name = serializers.CharField()
    title = serializers.CharField()
    sentence = serializers.CharField(help_text="What it does.")
    needs = serializers.ListField(
        child=serializers.CharField(), help_text="Such as links or clicks."
    )
    max_pages = serializers.IntegerField(
        allow_null=True, help_text="More pages than that it refuses."
    )
    parameters = AlgorithmParameter(many=True)


class AlgorithmList(serializers.Serializer[Any]):
    results = Algorithm(many=True)
    next = serializers.URLField(allow_null=True, help_text="Always null: all of them are here.")


class Algorithms(AtSite):
    @endpoint(
        "list_algorithms",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=AlgorithmList,
        tags=["clusters"],
    )
    def get(self, _request: Request, **_: object) -> dict[str, Any]:
        """List the algorithms that group pages."""
        rows = [
            {
                "name": clusterer.name,
                "title": clusterer.title,
                "sentence": sentence_of(clusterer.name),
                "needs": sorted(clusterer.needs),
                "max_pages": clusterer.max_pages,
                "parameters": [_row_of_parameter(each) for each in clusterer.parameters],
            }
            for clusterer in CLUSTERERS.values()
        ]
        return {"results": rows, "next": None}


class Clusterings(AtSite):
    @endpoint(
        "list_clusterings",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(ClusteringRow),
        tags=["clusters"],
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the clusterings of a site that are kept, the newest first."""
        clusterings_of_site = Clustering.objects.filter(site=subject)
        return page_of(
            clusterings_of_site,
            row=ClusteringRow,
            request=request,
            query=query,
            newest_first=True,
        )

    @job_endpoint(
        "cluster_site",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewClustering,
        tags=["clusters"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Cluster the stored pages as a job."""
        job_request = clusterings.clustering_request(site=subject, **body)
        return row_of_job(enqueue(job_request, actor=caller_of(request)))


class ClusteringAddress(ApiView):
    def find(self, request: Request, *, name: str, pk: int) -> Clustering:
        site = visible_site(request, name)
        with_site = Clustering.objects.without_model().select_related("site")
        clustering = with_site.filter(site=site, pk=pk).first()
        if clustering is None:
            raise NotFound(f"{site.name} has no clustering {pk}.")
        return clustering

    def site_of(self, subject: Clustering) -> Site:
        return subject.site


@waits_for_others
class ClusteringView(ClusteringAddress):
    @endpoint(
        "read_clustering",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=ClusteringRow,
        tags=["clusters"],
    )
    def get(self, _request: Request, *, subject: Clustering, **_: object) -> dict[str, Any]:
        """Show a clustering."""
        return _row_of(subject)

    @endpoint(
        "drop_clustering",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=ClusteringRow,
        tags=["clusters"],
    )
    def delete(self, request: Request, *, subject: Clustering, **_: object) -> dict[str, Any]:
        """Delete a clustering that is not the current one; returns what it was."""
        row = _row_of(subject)
        clusterings.drop_clustering(clustering=subject, actor=caller_of(request))
        return row


@reads_pages
@waits_for_others
class MakeCurrent(ClusteringAddress):
    @endpoint(
        "make_clustering_current",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=ClusteringRow,
        tags=["clusters"],
    )
    def post(self, request: Request, *, subject: Clustering, **_: object) -> dict[str, Any]:
        """Make a clustering the site's current one."""
        clusterings.make_current(clustering=subject, actor=caller_of(request))
        return _row_of(subject)


class ClusterList(AtSite):
    @endpoint(
        "list_clusters",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(ClusterRow),
        tags=["clusters"],
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the clusters that have pages."""
        present = ClusterFigures.objects.current().with_pages().filter(clustering__site=subject)
        return page_of(present, row=ClusterRow, request=request, query=query)


class ClusterView(ClusterAddress):
    @endpoint(
        "read_cluster",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=ClusterRow,
        tags=["clusters"],
    )
    def get(self, _request: Request, *, subject: Cluster, **_: object) -> dict[str, Any]:
        """Show a cluster as the current clustering has it."""
        return _row_of_cluster(subject)

    @endpoint(
        "rename_cluster",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=ClusterUpdate,
        answers=ClusterRow,
        tags=["clusters"],
    )
    def patch(
        self, request: Request, *, subject: Cluster, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Give a cluster a title, kind or person, or dismiss it from the queue; its name stays."""
        _row_of_cluster(subject)  # not one that has no pages
        actor = caller_of(request)
        with transaction.atomic():  # all of it, or nothing where one part is refused
            if "title" in body:
                rename_cluster(cluster=subject, title=body["title"], actor=actor)
            if "kind" in body:
                set_kind(cluster=subject, kind=body["kind"], actor=actor)
            if "annotating" in body:
                set_annotating(cluster=subject, annotating=body["annotating"], actor=actor)
            if "annotator" in body:
                username = body["annotator"]
                annotator = (
                    annotator_named(site=subject.site, username=username) if username else None
                )
                set_annotator(cluster=subject, annotator=annotator, actor=actor)
        return _row_of_cluster(subject)


class ClusterPageList(ClusterAddress):
    @endpoint(
        "list_cluster_pages",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(ClusterPageRow),
        tags=["clusters"],
    )
    def get(
        self, request: Request, *, subject: Cluster, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the pages of a cluster in the order in which they were found."""
        pages = PageMembership.objects.of_cluster(subject)
        return page_of(pages, row=ClusterPageRow, request=request, query=query, key="page")


def _row_of_parameter(parameter: Parameter) -> dict[str, Any]:
    is_number = parameter.kind in ("number", "whole number")
    return {
        "name": parameter.name,
        "title": parameter.title,
        "kind": parameter.kind,
        "default": parameter.default,
        "least": parameter.least if is_number else None,
        "most": parameter.most if is_number else None,
        "choices": list(parameter.choices),
        "sentence": parameter.sentence,
    }


def _row_of(clustering: Clustering) -> dict[str, Any]:
    return ClusteringRow.read(Clustering.objects.filter(pk=clustering.pk))[0]


def _row_of_cluster(cluster: Cluster) -> dict[str, Any]:
    rows = ClusterRow.read(ClusterFigures.objects.current().filter(cluster=cluster))
    if not rows:
        raise NotFound(f"{cluster.site.name} has no cluster “{cluster}” in its current clustering.")
    return rows[0]
