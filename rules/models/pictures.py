"""Small pictures of where a rule finds its values."""

from __future__ import annotations

from django.db import models

from rules.models.rules import Rule


class PlacePicture(models.Model):
    """Where a rule finds an attribute on one of its samples, drawn ahead of need."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="place_pictures")
    attribute = models.CharField(max_length=100)
    stylesheet_hash = models.CharField(max_length=64)  # of the rule when it was drawn
    svg = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rule", "attribute"], name="one_picture_per_place")
        ]

    def __str__(self) -> str:
        return f"{self.attribute} of {self.rule}"
