"""Routes of what people change about clusters, and of their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

from clustering.models import Cluster, ClusterChange, ClusterReview, PageMembership
from clustering.models.clusterings import CLUSTER_NAME
from clustering.services.clusters import cluster_changes, cluster_reviews, layouts
from clustering.services.clusters.splitting import split_request
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.formats import FastJSONRenderer, LinesRenderer
from vertex.core.api.jobs.jobs import JobRow, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, Query, RowSerializer, listed
from vertex.core.models import Role, Scope, Site, User
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.page_reading import reads_pages, waits_for_others

MAX_ID = 2**63 - 1
MAX_LAYOUT_CHARS = 100
READ, WRITE = Scope.PAGES_READ, Scope.PAGES_WRITE
KINDS = [
    ("move", "Pages into the cluster `to`, or into a new one with `title`."),
    ("merge", "All pages of `cluster` into the cluster `into`."),
    ("split", "A job groups the pages of `cluster` again, more strictly."),
    ("split_off", "The pages of a `layout` of `cluster` into a cluster of their own."),
    ("rename", "Give `cluster` the title `title`."),
]
# The fields of each kind: those it needs, and those of which it needs exactly one.
FIELDS = {
    "move": ({"pages"}, {"to", "title"}),
    "merge": ({"cluster", "into"}, set()),
    "split": ({"cluster"}, set()),
    "split_off": ({"cluster", "layout"}, set()),
    "rename": ({"cluster", "title"}, set()),
}


class ClusterChangeRow(RowSerializer):
    class Meta:
        model = ClusterChange
        fields = ("id", "kind", "cluster", "into", "n_pages", "made_at", "made_by", "undone_at")

    cluster = serializers.CharField(source="cluster.name")
    into = serializers.CharField(source="into.name", allow_null=True)
    n_pages = serializers.IntegerField(
        source="detail.n_pages",
        allow_null=True,
        help_text="Pages that it was about when it was made.",
    )
    made_by = serializers.CharField(source="made_by.username", allow_null=True)


class VerdictRow(RowSerializer):
    class Meta:
        model = ClusterReview
        fields = (
            "id",
            "cluster",
            "clustering",
            "verdict",
            "pages",
            "strangers",
            "comment",
            "given_at",
            "given_by",
        )

    cluster = serializers.CharField(source="cluster.name")
    clustering = serializers.IntegerField(source="clustering_id")
    pages = serializers.ListField(child=serializers.IntegerField())
    strangers = serializers.ListField(child=serializers.IntegerField())
    given_by = serializers.CharField(source="given_by.username", allow_null=True)


def _ids(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        max_length=cluster_changes.MAX_PAGES,
        **options,
    )


def _name(**options: Any) -> serializers.RegexField:
    return serializers.RegexField(CLUSTER_NAME.regex, trim_whitespace=False, **options)


class NewChange(Body):
    """Something to be changed about a site's clusters."""

    kind = serializers.ChoiceField(choices=KINDS)
    pages = _ids(required=False, help_text="Ids of pages, to be moved.")
    to = _name(required=False, help_text="The cluster that pages are moved to.")
    cluster = _name(required=False, help_text="The cluster to be merged, split or renamed.")
    into = _name(required=False, help_text="The cluster that another is merged into.")
    layout = serializers.CharField(
        max_length=MAX_LAYOUT_CHARS, required=False, help_text="The name of a layout of `cluster`."
    )
    title = serializers.CharField(max_length=200, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed, either = FIELDS[attrs["kind"]]
        given = set(attrs) - {"kind"}
        missing = needed - given
        if missing:
            raise ValidationError({name: [f"Needed to {attrs['kind']}."] for name in missing})
        useless = given - needed - either
        if useless:
            raise ValidationError({name: [f"Of no use to {attrs['kind']}."] for name in useless})
        if either and len(given & either) != 1:
            raise ValidationError({"to": ["Give either this or the title of a new cluster."]})
        return attrs


class NewVerdict(Body):
    """A person's verdict on a cluster, by some of its pages."""

    verdict = serializers.ChoiceField(choices=ClusterReview.Verdict.choices)
    pages = _ids(help_text="Ids of the pages that were looked at.")
    strangers = _ids(required=False, help_text="Those of them that are of another type.")
    comment = serializers.CharField(
        max_length=cluster_reviews.MAX_COMMENT_CHARS, required=False, allow_blank=True
    )


class ChangeAnswer(serializers.Serializer[Any]):
    """What came of a change."""

    cluster = serializers.CharField(help_text="The name of the cluster that was changed or made.")
    change = ClusterChangeRow(allow_null=True, help_text="What can be undone; null of a new title.")
    job = JobRow(allow_null=True, help_text="The job that splits the cluster; else null.")


class ReviewPage(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.CharField()
    distance = serializers.FloatField(
        allow_null=True, help_text="From the cluster's centre, 0 to 1."
    )


class ReviewAnswer(serializers.Serializer[Any]):
    """Pages by which a cluster is judged."""

    random = ReviewPage(many=True)
    strangest = ReviewPage(many=True)


class ReviewQuery(Query):
    seed = serializers.IntegerField(
        min_value=0, max_value=MAX_ID, default=0, help_text="Another number shows other pages."
    )


@reads_pages
@waits_for_others
class ClusterChanges(AtSite):
    @endpoint(
        "list_cluster_changes",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(ClusterChangeRow),
        tags=["clusters"],
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List what people changed about a site's clusters, the newest first."""
        changes = ClusterChange.objects.filter(site=subject)
        return page_of(
            changes, row=ClusterChangeRow, request=request, query=query, newest_first=True
        )

    @endpoint(
        "change_clusters",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewChange,
        answers=ChangeAnswer,
        status=201,
        errors=(409,),
        tags=["clusters"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Move pages, merge, split or rename a cluster, or split one of its layouts off."""
        named: dict[str, Cluster] = {
            name: _cluster_of(subject, name, body)
            for name in ("to", "cluster", "into")
            if name in body
        }
        return _change(subject, body, named, caller_of(request))


class ChangeAddress(ApiView):
    def find(self, request: Request, *, name: str, pk: int) -> ClusterChange:
        site = visible_site(request, name)
        change = (
            ClusterChange.objects.select_related("site", "cluster").filter(site=site, pk=pk).first()
        )
        if change is None:
            raise NotFound(f"{site.name} has no change {pk} of its clusters.")
        return change

    def site_of(self, subject: ClusterChange) -> Site:
        return subject.site


@reads_pages
@waits_for_others
class UndoChange(ChangeAddress):
    @endpoint(
        "undo_cluster_change",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        answers=ClusterChangeRow,
        tags=["clusters"],
    )
    def post(self, request: Request, *, subject: ClusterChange, **_: object) -> dict[str, Any]:
        """Undo a change; the others stay."""
        cluster_changes.undo_change(change=subject, actor=caller_of(request))
        return _row_of_change(subject)


@reads_pages
@waits_for_others
class RedoChange(ChangeAddress):
    @endpoint(
        "redo_cluster_change",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        answers=ClusterChangeRow,
        tags=["clusters"],
    )
    def post(self, request: Request, *, subject: ClusterChange, **_: object) -> dict[str, Any]:
        """Redo a change that was undone, at its old position in the order."""
        cluster_changes.redo_change(change=subject, actor=caller_of(request))
        return _row_of_change(subject)


class ClusterAddress(ApiView):
    def find(self, request: Request, *, name: str, cluster: str) -> Cluster:
        site = visible_site(request, name)
        subject = Cluster.objects.select_related("site").filter(site=site, name=cluster).first()
        if subject is None:
            raise NotFound(f"{site.name} has no cluster “{cluster}”.")
        return subject

    def site_of(self, subject: Cluster) -> Site:
        return subject.site


class ClusterReviewPages(ClusterAddress):
    @endpoint(
        "review_cluster",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ReviewQuery,
        answers=ReviewAnswer,
        tags=["clusters"],
    )
    def get(
        self, _request: Request, *, subject: Cluster, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Show pages by which to judge whether a cluster is one type: random and strangest ones."""
        pages = cluster_reviews.pages_to_review(subject, seed=query["seed"])
        return {"random": _pages(pages.random), "strangest": _pages(pages.strangest)}


@waits_for_others
class ClusterVerdicts(ClusterAddress):
    @endpoint(
        "list_verdicts",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(VerdictRow),
        tags=["clusters"],
    )
    def get(
        self, request: Request, *, subject: Cluster, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the verdicts on a cluster, the newest first; the newest one counts."""
        reviews = ClusterReview.objects.filter(cluster=subject)
        return page_of(reviews, row=VerdictRow, request=request, query=query, newest_first=True)

    @endpoint(
        "give_verdict",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewVerdict,
        answers=VerdictRow,
        status=201,
        tags=["clusters"],
    )
    def post(
        self, request: Request, *, subject: Cluster, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Judge whether a cluster is one type, by some of its pages."""
        review = cluster_reviews.store_review(
            cluster=subject,
            verdict=body["verdict"],
            pages=body["pages"],
            strangers=body.get("strangers", []),
            comment=body.get("comment", ""),
            actor=caller_of(request),
        )
        return VerdictRow.read(ClusterReview.objects.filter(pk=review.pk))[0]


@waits_for_others
class Truth(AtSite):
    renderer_classes = (LinesRenderer, FastJSONRenderer)

    @endpoint(
        "download_truth",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=OpenApiTypes.STR,
        media_type=LinesRenderer.media_type,
        tags=["clusters"],
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> StreamingHttpResponse:
        """Download the pages of clusters that people judged to be one type, as lines of JSON."""
        return StreamingHttpResponse(
            _lines(subject),
            content_type=LinesRenderer.media_type,
            headers={"Content-Disposition": f'attachment; filename="{subject.name}-truth.jsonl"'},
        )


def _change(
    site: Site, body: dict[str, Any], named: dict[str, Cluster], actor: User
) -> dict[str, Any]:
    """Make the change that a request describes, with the clusters that its fields name."""
    change, job = None, None
    match body["kind"]:
        case "move" if "to" in named:
            change = cluster_changes.move_pages(
                site=site, pages=body["pages"], to=named["to"], actor=actor
            )
        case "move":
            change = cluster_changes.move_to_new_cluster(
                site=site, pages=body["pages"], title=body["title"], actor=actor
            )
        case "merge":
            change = cluster_changes.merge_clusters(
                cluster=named["cluster"], into=named["into"], actor=actor
            )
        case "split_off":
            layout = layouts.layout_named(named["cluster"], body["layout"])
            change = layouts.split_off_layout(cluster=named["cluster"], layout=layout, actor=actor)
        case "rename":
            cluster_changes.rename_cluster(
                cluster=named["cluster"], title=body["title"], actor=actor
            )
        case _:
            job = enqueue(split_request(cluster=named["cluster"]), actor=actor)
    return {
        "cluster": (change.cluster if change else named["cluster"]).name,
        "change": _row_of_change(change) if change else None,
        "job": row_of_job(job) if job else None,
    }


def _cluster_of(site: Site, field: str, body: dict[str, Any]) -> Cluster:
    cluster = Cluster.objects.select_related("site").filter(site=site, name=body[field]).first()
    if cluster is None:
        raise ValidationError({field: [f"{site.name} has no cluster “{body[field]}”."]})
    return cluster


def _row_of_change(change: ClusterChange) -> dict[str, Any]:
    return ClusterChangeRow.read(ClusterChange.objects.filter(pk=change.pk))[0]


def _pages(memberships: list[PageMembership]) -> list[dict[str, Any]]:
    return [
        {
            "id": membership.page_id,
            "url": membership.page.given_url,
            "normalized_url": membership.page.url,
            "distance": membership.distance,
        }
        for membership in memberships
    ]


def _lines(site: Site) -> Iterator[bytes]:
    for line in cluster_reviews.truth_lines(site):
        yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
