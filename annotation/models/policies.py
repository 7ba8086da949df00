"""What a site asks of reviews."""

from __future__ import annotations

from django.db import models

from vertex.core.models import Site


class ReviewPolicy(models.Model):
    """What a site asks of reviews; a site without a row has the defaults."""

    class Publishing(models.TextChoices):
        WHERE_POSSIBLE = "where_possible", "A second person, if there is one who may publish"
        SECOND = "second", "A second person"
        ANYBODY = "anybody", "Anybody who may publish, also who made it"

    site = models.OneToOneField(Site, on_delete=models.CASCADE, related_name="review_policy")
    publishing = models.CharField(
        max_length=20, choices=Publishing, default=Publishing.WHERE_POSSIBLE
    )
    second_share = models.PositiveSmallIntegerField(default=10)  # percent of the annotated pages
