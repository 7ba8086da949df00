"""What stored pages are drawn with: style sheets, images and fonts, and which a snapshot has."""

from __future__ import annotations

from django.db import models

from clustering.models.pages import Snapshot
from vertex.core.models.bodies import BodyField
from vertex.core.models.sites import Site


class Asset(models.Model):
    """A file that pages of a site are drawn with; one row for the same bytes of an address."""

    class Kind(models.TextChoices):
        SHEET = "sheet", "Style sheet"
        IMAGE = "image", "Image"
        FONT = "font", "Font"

    # Without an index of its own: the constraint begins with it.
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="assets", db_index=False)
    url = models.TextField()  # normalised
    url_hash = models.BinaryField(max_length=16)  # like Page.url_hash
    kind = models.CharField(max_length=5, choices=Kind)
    body = BodyField(blank=True)  # of what is handed out
    n_bytes = models.PositiveIntegerField(default=0)  # as fetched
    content_type = models.CharField(max_length=100, blank=True)  # as decided by the bytes
    problem = models.CharField(max_length=300, blank=True)  # why there is nothing
    is_from_archive = models.BooleanField(default=False)
    fetched_at = models.DateTimeField()  # the last time that these bytes came

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["site", "url_hash", "body"], name="asset_once_per_site"
            ),
        ]

    def __str__(self) -> str:
        return self.url


class SnapshotAssets(models.Model):
    """The assets that a snapshot is drawn with, as they were when somebody wanted to see it."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="page_assets")
    assets = models.JSONField(default=list)  # ids
    n_missing = models.PositiveIntegerField(default=0)  # asked for, and nothing usable came
    n_left_out = models.PositiveIntegerField(default=0)  # beyond the limits of a page
    n_bytes = models.PositiveBigIntegerField(default=0)
    fetched_at = models.DateTimeField()

    @property
    def has_files(self) -> bool:
        """Whether any asset came."""
        return len(self.assets) > self.n_missing
