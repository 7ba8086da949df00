"""How much of what came in was extracted, day by day: the third, continuous detector reads it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from rules.models import Rule
from vertex.core.models import Site


class Coverage(models.Model):
    """Pages extracted on one day by one rule, or without any, and how many gave each attribute."""

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="coverage", db_index=False
    )
    # Null: no rule serves the page.
    rule = models.ForeignKey(
        Rule, null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    day = models.DateField()  # in UTC
    n_pages = models.PositiveIntegerField(default=0)
    n_served = models.PositiveIntegerField(default=0)  # that gave a record
    n_records = models.PositiveIntegerField(default=0)
    fields = models.JSONField(default=dict)  # per attribute, records that have it

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["site", "rule", "day"], name="coverage_once_per_rule_and_day"
            ),
            models.UniqueConstraint(
                fields=["site", "day"], condition=Q(rule=None), name="coverage_once_without_rule"
            ),
        ]
        indexes = [models.Index(fields=["rule", "day"], name="coverage_by_rule")]

    def __str__(self) -> str:
        return f"{self.day}: {self.n_served} of {self.n_pages}"


class CoverageMark(models.Model):
    """Up to where the extractions of a site are counted."""

    site = models.OneToOneField(Site, on_delete=models.CASCADE, related_name="coverage_mark")
    extraction_seen = models.PositiveBigIntegerField(default=0)
    drops = models.JSONField(default=list)  # what fell, as of the last count
    measured_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.site.name} up to {self.extraction_seen}"
