"""A share of the pages is annotated by a second person who does not see the first annotation."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.verticals import Attribute
from clustering.models import Page, Snapshot
from vertex.core.models import Site, User


class SecondAnnotationQuerySet(models.QuerySet["SecondAnnotation"]):
    def compared(self) -> SecondAnnotationQuerySet:
        """Return those that the first annotation can be compared with."""
        return self.exclude(agreement="")

    def disagreeing(self) -> SecondAnnotationQuerySet:
        """Return those that differ from the first annotation and that nobody has settled yet."""
        return (
            self.compared().exclude(agreement=SecondAnnotation.Agreement.SAME).filter(resolution="")
        )

    def visible_to(self, user: User) -> SecondAnnotationQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(page__site__in=Site.objects.visible_to(user))


class SecondAnnotation(models.Model):
    """What the second annotator of a page says of an attribute."""

    class Agreement(models.TextChoices):
        OPEN = "", "Not compared"
        SAME = "same", "Same node"
        PART = "part", "Same node, another part of its text"
        TEXT = "text", "Same text at another node"
        OTHER = "other", "Another node"
        ABSENCE = "absence", "One says that it is not on the page"

    class Resolution(models.TextChoices):
        OPEN = "", "Open"
        FIRST = "first", "The first annotation stays"
        SECOND = "second", "The second annotation is taken"

    page = models.ForeignKey(
        Page, on_delete=models.CASCADE, related_name="second_annotations", db_index=False
    )
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    attribute = models.ForeignKey(Attribute, on_delete=models.PROTECT, related_name="+")
    marks = models.JSONField(default=list)  # anchors; empty: not on this page
    author = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    agreement = models.CharField(
        max_length=10, choices=Agreement, default=Agreement.OPEN, blank=True
    )
    # Of the annotation that it was compared with.
    first_revision = models.PositiveIntegerField(default=0)
    resolution = models.CharField(
        max_length=10, choices=Resolution, default=Resolution.OPEN, blank=True
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = SecondAnnotationQuerySet.as_manager()

    class Meta:
        ordering = ["page", "attribute"]
        constraints = [
            models.UniqueConstraint(fields=["page", "attribute"], name="second_annotation_once"),
            models.CheckConstraint(
                condition=Q(resolution="") | Q(resolved_at__isnull=False),
                name="resolution_has_time",
            ),
        ]
