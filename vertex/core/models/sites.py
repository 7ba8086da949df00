"""A site: what pages, people and jobs belong to."""

from __future__ import annotations

from typing import Protocol

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone

from vertex.core.models.search import has_words

SITE_NAME = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z",
    "Use 1 to 63 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.",
)


class Viewer(Protocol):
    """What decides which sites a user sees; it is a User, whose module stands above this one."""

    pk: int
    is_active: bool

    def sees_all_sites(self) -> bool: ...


class SiteQuerySet(models.QuerySet["Site"]):
    def visible_to(self, user: Viewer) -> SiteQuerySet:
        """Return the sites at which the user has any role."""
        if not user.is_active:
            return self.none()
        sites = self.filter(deletion_requested_at=None)
        if user.sees_all_sites():
            return sites
        return sites.filter(memberships__user=user.pk)

    def matching(self, text: str) -> SiteQuerySet:
        """Return those whose name, title or address contains each of the words."""
        return self.filter(has_words(text, "name", "title", "root_url"))


class Site(models.Model):
    """A web site whose pages are made from templates."""

    class MatchBy(models.TextChoices):
        MODEL = "model", "By the clustering"
        SIGNATURE = "signature", "By address, signature and importance"

    name = models.CharField(max_length=63, unique=True, validators=[SITE_NAME])
    title = models.CharField(max_length=200, blank=True)
    root_url = models.CharField(max_length=2048)
    # Further host names whose pages belong to the site.
    extra_hosts = models.JSONField(default=list, blank=True)
    crawl_delay = models.FloatField(default=1.0, validators=[MinValueValidator(0.0)])  # seconds
    obey_robots = models.BooleanField(default=True)
    render = models.BooleanField(default=False)  # fetch with a real browser
    # Null: the installation's default.
    snapshots_kept = models.PositiveIntegerField(null=True, blank=True)
    # How extraction finds the cluster whose rule serves a page.
    match_by = models.CharField(max_length=9, choices=MatchBy.choices, default=MatchBy.MODEL)
    # ISO 3166; blank: that of its host name. By it telephone numbers and shared currency signs
    # are read.
    country = models.CharField(max_length=2, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Kept by the transactions that add and drop pages, so that a list of sites needs no count
    # over pages.
    n_pages = models.PositiveIntegerField(default=0)
    last_snapshot_at = models.DateTimeField(null=True, blank=True)
    deletion_requested_at = models.DateTimeField(null=True, blank=True)

    objects = SiteQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
