"""Samples, and the annotations of attributes on pages.

An annotation belongs to a snapshot and an attribute, not to a cluster, so it survives every
clustering. Nothing is overwritten: a change makes a further revision of (page, attribute) and marks
the rows before it as superseded. The page goes with its site and takes its samples and annotations
along; a snapshot to which any of them refers is never dropped on its own.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.verticals import Attribute
from clustering.models import Cluster, Page, PageMembership, Snapshot
from vertex.core.models import Site, User


class SampleQuerySet(models.QuerySet["Sample"]):
    def in_order(self) -> SampleQuerySet:
        """Return samples cluster by cluster, in the order in which they are to be annotated."""
        return self.order_by("cluster__name", "rank")

    def visible_to(self, user: User) -> SampleQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(cluster__site__in=Site.objects.visible_to(user))


class Sample(models.Model):
    """A page of a cluster that is worth annotating."""

    class Scheme(models.TextChoices):
        WEIGHTED = "weighted", "Weighted greedy"
        GREEDY = "greedy", "Greedy"
        RANDOM = "random", "Random"

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="samples", db_index=False
    )
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="samples")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="samples")
    rank = models.PositiveIntegerField()  # from 1
    gain = models.FloatField()  # the weight that the page added to the cover
    scheme = models.CharField(max_length=10, choices=Scheme)
    drawn_at = models.DateTimeField(default=timezone.now)

    objects = SampleQuerySet.as_manager()

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "rank"], name="sample_rank_once_per_cluster"
            ),
            models.UniqueConstraint(
                fields=["cluster", "page"], name="sample_page_once_per_cluster"
            ),
        ]


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    def live(self) -> AnnotationQuerySet:
        """Return what holds now."""
        return self.filter(superseded_at__isnull=True)

    def of_cluster(self, cluster: Cluster) -> AnnotationQuerySet:
        """Return those on the pages that the cluster has in its site's current clustering."""
        pages = PageMembership.objects.of_cluster(cluster).values("page")
        return self.filter(page__in=pages)

    def visible_to(self, user: User) -> AnnotationQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(page__site__in=Site.objects.visible_to(user))


class Annotation(models.Model):
    """One value of an attribute on a page, its absence, or the boundary of a record."""

    class Kind(models.TextChoices):
        VALUE = "value", "Value"
        ABSENT = "absent", "Not on this page"  # or, with a record, not in that record
        RECORD = "record", "Record"
        CLEARED = "cleared", "Cleared"  # a revision that says nothing; such a row never holds

    class Source(models.TextChoices):
        HAND = "hand", "By hand"
        FILE = "file", "From a file"
        SUGGESTION = "suggestion", "An accepted suggestion"

    page = models.ForeignKey(
        Page, on_delete=models.CASCADE, related_name="annotations", db_index=False
    )
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="annotations")
    # None for the boundary of a record.
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.PROTECT, related_name="annotations"
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.VALUE)
    # Among the values of the attribute, or the records.
    position = models.PositiveIntegerField(default=0)
    # The anchor, see `annotation.algorithms.anchors.anchoring`. The XPath may end in /text()[n]
    # or /@name.
    xpath = models.TextField(blank=True)
    end_xpath = models.TextField(blank=True)  # where a value that runs on over other nodes ends
    text = models.TextField(blank=True)  # the value as displayed
    # Other nodes of the page that show the same are no value: the rule must find this one.
    is_only_here = models.BooleanField(default=False)
    # Null: from the beginning of the node.
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)  # null: to its end
    prefix = models.CharField(max_length=64, blank=True)
    suffix = models.CharField(max_length=64, blank=True)
    # In the displayed text of the page.
    text_position = models.PositiveIntegerField(null=True, blank=True)
    record = models.JSONField(default=list, blank=True)  # XPaths of the elements of the record
    author = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    source = models.CharField(max_length=10, choices=Source, default=Source.HAND)
    revision = models.PositiveIntegerField(default=1)  # of (page, attribute)
    made_at = models.DateTimeField(default=timezone.now)
    superseded_at = models.DateTimeField(null=True, blank=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        ordering = ["page", "attribute", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["page", "attribute", "position"],
                condition=Q(superseded_at__isnull=True),
                name="annotation_value_once",
            ),
            models.UniqueConstraint(
                fields=["page", "position"],
                condition=Q(superseded_at__isnull=True, attribute__isnull=True),
                name="annotation_record_once",
            ),
            models.CheckConstraint(
                condition=Q(kind="record", attribute__isnull=True)
                | Q(kind__in=["value", "absent"], attribute__isnull=False)
                | Q(kind="cleared", superseded_at__isnull=False),
                name="annotation_has_attribute",
            ),
        ]
        indexes = [
            models.Index(fields=["page", "attribute", "revision"], name="annotation_by_page"),
        ]
