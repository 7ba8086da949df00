"""What people say to each other about a page, at one of its nodes or as a whole."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from annotation.models.verticals import Attribute
from clustering.models import Page, Snapshot
from vertex.core.models import Site, User


class CommentQuerySet(models.QuerySet["Comment"]):
    def open(self) -> CommentQuerySet:
        """Return those that nobody has settled yet."""
        return self.filter(resolved_at=None)

    def visible_to(self, user: User) -> CommentQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(page__site__in=Site.objects.visible_to(user))


class Comment(models.Model):
    """A remark at a node of a page; it stays, and can be settled."""

    page = models.ForeignKey(
        Page, on_delete=models.CASCADE, related_name="comments", db_index=False
    )
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    xpath = models.TextField(blank=True)  # blank: the page as a whole
    text = models.TextField()
    author = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = CommentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["page", "resolved_at"], name="comment_by_page")]
