"""What published rules tell of the fields of their verticals."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from annotation.models import Vertical
from clustering.models import Cluster
from rules.models.rules import Rule


class FieldProfile(models.Model):
    """How the fields of a vertical look on the pages of one cluster whose rule is published."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="field_profile")
    vertical = models.ForeignKey(Vertical, on_delete=models.CASCADE, related_name="field_profiles")
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="+")  # it was learnt from
    profile = models.JSONField(default=dict)
    n_values = models.JSONField(default=dict)  # by attribute
    n_pages = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"fields of {self.rule}"
