"""Routes of comments on pages."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

from annotation.models import Comment
from annotation.services.annotations.commenting import (
    MAX_COMMENT_CHARS,
    add_comment,
    resolve_comment,
)
from clustering.api.pages.pages import hash_of_url
from clustering.models import Page
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import AS_GIVEN, Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site
from vertex.core.views.page_reading import reads_pages

MAX_URL_CHARS = 8192
MAX_XPATH_CHARS = 4000
MAX_NAME_CHARS = 63


class CommentRow(RowSerializer):
    class Meta:
        model = Comment
        fields = (
            "id",
            "site",
            "page",
            "url",
            "normalized_url",
            "snapshot",
            "attribute",
            "xpath",
            "text",
            "author",
            "made_at",
            "resolved_at",
            "resolved_by",
        )

    site = serializers.CharField(source="page.site.name")
    page = serializers.IntegerField(source="page_id")
    url = serializers.CharField(source="page.given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="page.url")
    snapshot = serializers.IntegerField(source="snapshot_id")
    attribute = serializers.CharField(source="attribute.name", allow_null=True)
    xpath = serializers.CharField(help_text="The node; blank: the page as a whole.")
    author = serializers.CharField(source="author.username", allow_null=True)
    resolved_by = serializers.CharField(source="resolved_by.username", allow_null=True)


class CommentsQuery(ListQuery):
    site = serializers.CharField(
        max_length=MAX_NAME_CHARS, required=False, help_text="A site's name."
    )
    url = serializers.CharField(
        max_length=MAX_URL_CHARS, required=False, help_text="The page of this address."
    )
    open = serializers.BooleanField(default=False, help_text="Only those that nobody has settled.")


class NewComment(Body):
    """A comment to be added to a page."""

    url = serializers.CharField(max_length=MAX_URL_CHARS, help_text="The address of the page.")
    text = serializers.CharField(max_length=MAX_COMMENT_CHARS)
    xpath = serializers.CharField(
        max_length=MAX_XPATH_CHARS,
        default="",
        allow_blank=True,
        help_text="Of the node; blank: of the page.",
    )
    attribute = serializers.CharField(max_length=MAX_NAME_CHARS, default="", allow_blank=True)


class Settling(Body):
    """A comment is settled, or opened again."""

    open = serializers.BooleanField(default=False, help_text="Open it again.")


class Comments(ApiView):
    @endpoint(
        "list_comments",
        scope=Scope.VERTICALS_READ,
        query=CommentsQuery,
        answers=listed(CommentRow),
        tags=["comments"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List comments in the order in which they were made."""
        comments = Comment.objects.visible_to(caller_of(request))
        if "site" in query:
            comments = comments.filter(page__site__name=query["site"])
        if "url" in query:
            comments = comments.filter(page__url_hash=hash_of_url(query["url"]))
        comments = comments.open() if query["open"] else comments
        return page_of(comments, row=CommentRow, request=request, query=query)


@reads_pages
class SiteComments(AtSite):
    @endpoint(
        "add_comment",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewComment,
        answers=CommentRow,
        status=201,
        tags=["comments"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Comment on a page, or on one of its nodes."""
        pages = Page.objects.select_related("site", "latest_snapshot")
        page = pages.filter(site=subject, url_hash=hash_of_url(body.pop("url"))).first()
        if page is None:
            raise ValidationError({"url": [f"{subject.name} has no page of this address."]})
        return _row_of(add_comment(page=page, actor=caller_of(request), **body))


class CommentAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> Comment:
        visible = Comment.objects.visible_to(caller_of(request)).select_related("page__site")
        comment = visible.filter(pk=pk).first()
        if comment is None:
            raise NotFound(f"There is no comment {pk}, or it is not yours to see.")
        return comment

    def site_of(self, subject: Comment) -> Site:
        return subject.page.site


class ResolveComment(CommentAddress):
    @endpoint(
        "resolve_comment",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "there"),
        takes=Settling,
        answers=CommentRow,
        tags=["comments"],
    )
    def post(
        self, request: Request, *, subject: Comment, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Settle a comment, or open it again."""
        resolve_comment(comment=subject, is_resolved=not body["open"], actor=caller_of(request))
        return _row_of(subject)


def _row_of(comment: Comment) -> dict[str, Any]:
    return CommentRow.read(Comment.objects.filter(pk=comment.pk))[0]


urlpatterns: list[URLPattern] = [
    path("comments/", Comments.as_view(), name="comments"),
    path("comments/<id:pk>/resolve/", ResolveComment.as_view(), name="resolve_comment"),
    path("sites/<name:name>/comments/", SiteComments.as_view(), name="site_comments"),
]
