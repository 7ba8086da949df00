"""The editor's vocabulary: verticals, their attributes, and which clusters they describe."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.algorithms.attribute_types import AttributeType
from clustering.models import Cluster, Page, PageMembership
from vertex.core.models import Site
from vertex.core.models.search import has_words
from vertex.core.texts import storable

ATTRIBUTE_NAME = RegexValidator(
    r"^[A-Za-z_][A-Za-z0-9_.-]{0,62}\Z",
    "Use 1 to 63 letters, digits, dots, hyphens and underscores, "
    "beginning with a letter or underscore.",
)


class VerticalQuerySet(models.QuerySet["Vertical"]):
    def matching(self, query: str) -> VerticalQuerySet:
        """Return the verticals whose name, description or attributes contain the words."""
        verticals = self
        for word in storable(query).split():
            has_attribute = Attribute.objects.live().filter(
                vertical=models.OuterRef("pk"), name__icontains=word
            )
            in_texts = has_words(word, "name", "description")
            verticals = verticals.filter(in_texts | models.Exists(has_attribute))
        return verticals

    def with_counts(self) -> VerticalQuerySet:
        """Add to each vertical `n_attributes` and `n_sites`."""
        live = Q(attributes__dropped_at__isnull=True)
        return self.annotate(
            n_attributes=models.Count("attributes", filter=live, distinct=True),
            n_sites=models.Count("assignments__site", distinct=True),
        )


class Vertical(models.Model):
    """A kind of thing that pages describe: product, business, article."""

    name = models.CharField(max_length=63, unique=True, validators=[ATTRIBUTE_NAME])
    description = models.CharField(max_length=300, blank=True)
    # Grows with each change, so that none overwrites another.
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)

    objects = VerticalQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def attribute_types(self) -> list[AttributeType]:
        """Return the attributes that are still in the vertical, as the algorithms take them."""
        return [attribute.as_type() for attribute in self.attributes.live()]


class AttributeQuerySet(models.QuerySet["Attribute"]):
    def live(self) -> AttributeQuerySet:
        """Return the attributes that are still in their vertical."""
        return self.filter(dropped_at__isnull=True)


class Attribute(models.Model):
    """A named property of a vertical, with what is known of its values."""

    class Type(models.TextChoices):
        TEXT = "text", "Text"
        PRICE = "price", "Price"
        NUMBER = "number", "Number"
        RATING = "rating", "Rating"
        PHONE = "phone", "Phone"
        ZIP = "zip", "ZIP code"
        DATE = "date", "Date"
        URL = "url", "URL"
        IMAGE = "image", "Image"
        HTML = "html", "HTML"

    vertical = models.ForeignKey(Vertical, on_delete=models.CASCADE, related_name="attributes")
    name = models.CharField(max_length=63, validators=[ATTRIBUTE_NAME])
    type = models.CharField(max_length=10, choices=Type, default=Type.TEXT)
    # The value of a page does not change with time.
    is_constant = models.BooleanField(default=False)
    is_mandatory = models.BooleanField(default=False)
    is_multi = models.BooleanField(default=False)
    regex = models.CharField(max_length=512, blank=True)  # of RE2
    position = models.PositiveSmallIntegerField()
    # No longer in the vertical; its annotations stay.
    dropped_at = models.DateTimeField(null=True, blank=True)

    objects = AttributeQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["vertical", "name"], name="attribute_once_per_vertical")
        ]

    def __str__(self) -> str:
        return self.name

    def as_type(self) -> AttributeType:
        """Return the attribute as the algorithms take it."""
        return AttributeType(
            name=self.name,
            type=self.type,
            is_constant=self.is_constant,
            is_mandatory=self.is_mandatory,
            is_multi=self.is_multi,
            regex=self.regex,
        )


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def defaults(self) -> AssignmentQuerySet:
        """Return what holds for whole sites."""
        return self.filter(cluster__isnull=True)

    def vertical_of(self, site: Site, cluster: Cluster | None = None) -> Vertical | None:
        """Return the vertical of a cluster: its own, or else the site's."""
        own_first = models.F("cluster").desc(nulls_last=True)
        assignment = (
            self.filter(Q(cluster__isnull=True) | Q(cluster=cluster), site=site)
            .select_related("vertical")
            .order_by(own_first)
            .first()
        )
        return assignment.vertical if assignment else None

    def vertical_of_page(self, page: Page) -> Vertical | None:
        """Return the vertical of a page: that of its cluster, or else its site's."""
        return self.vertical_of(page.site, PageMembership.objects.current().cluster_of(page.pk))


class Assignment(models.Model):
    """The vertical that a cluster describes; a row without cluster holds for the site's others."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="assignments")
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="assignments"
    )
    vertical = models.ForeignKey(Vertical, on_delete=models.PROTECT, related_name="assignments")
    assigned_at = models.DateTimeField(default=timezone.now)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["site"],
                condition=Q(cluster__isnull=True),
                name="one_default_vertical_per_site",
            ),
            models.UniqueConstraint(fields=["cluster"], name="one_vertical_per_cluster"),
        ]
