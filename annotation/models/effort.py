"""How much work annotating is: counted as it is done, summed up by person, page and attribute."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.verticals import Attribute
from clustering.models import Cluster, Page
from vertex.core.models import Site, User


class Effort(models.Model):
    """What one person did on a page for an attribute; without an attribute, for the whole page."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="efforts")
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="efforts"
    )
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="efforts", db_index=False)
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    seconds = models.FloatField(default=0.0)  # pauses of more than a minute are left out
    n_keys = models.PositiveIntegerField(default=0)
    n_clicks = models.PositiveIntegerField(default=0)
    n_accepted = models.PositiveIntegerField(default=0)  # suggestions that were taken as they were
    n_corrected = models.PositiveIntegerField(default=0)
    n_undone = models.PositiveIntegerField(default=0)
    n_done = models.PositiveIntegerField(default=0)  # how often the page was finished
    last_at = models.DateTimeField(default=timezone.now)  # of the last action

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["page", "attribute", "person"], name="effort_once"),
            models.UniqueConstraint(
                fields=["page", "person"],
                condition=Q(attribute=None),
                name="effort_once_for_the_page",
            ),
        ]
