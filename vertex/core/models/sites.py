"""A site, and what was refused on the way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from vertex.core.models.jobs import Job

if TYPE_CHECKING:
    from vertex.core.models.people import User

SITE_NAME = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z",
    "Use 1 to 63 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.",
)


class SiteQuerySet(models.QuerySet["Site"]):
    def visible_to(self, user: User) -> SiteQuerySet:
        """Return the sites at which the user has any role."""
        if not user.is_active:
            return self.none()
        kept = self.filter(deletion_requested_at=None)
        if user.is_superuser or user.memberships.filter(site__isnull=True).exists():
            return kept
        return kept.filter(memberships__user=user)

    def matching(self, text: str) -> SiteQuerySet:
        """Return those whose name, title or address contains each of the words."""
        found = self
        for word in text.split():
            found = found.filter(
                Q(name__icontains=word) | Q(title__icontains=word) | Q(root_url__icontains=word)
            )
        return found

    def at_work(self) -> SiteQuerySet:
        """Return the sites for which a job waits or runs."""
        return self.filter(Exists(Job.objects.unfinished().filter(site=OuterRef("pk"))))

    def failed_last(self) -> SiteQuerySet:
        """Return the sites whose latest finished job failed."""
        latest = Job.objects.finished().filter(site=OuterRef("pk")).order_by("-pk").values("state")[:1]
        return self.alias(latest_end=Subquery(latest)).filter(latest_end=Job.State.FAILED)


class Site(models.Model):
    """A web site whose pages are made from templates."""

    name = models.CharField(max_length=63, unique=True, validators=[SITE_NAME])
    title = models.CharField(max_length=200, blank=True)
    root_url = models.CharField(max_length=2048)
    extra_hosts = models.JSONField(
        default=list, blank=True
    )  # further host names whose pages belong to the site
    crawl_delay = models.FloatField(default=1.0, validators=[MinValueValidator(0.0)])  # seconds
    obey_robots = models.BooleanField(default=True)
    render = models.BooleanField(default=False)  # fetch with a real browser
    snapshots_kept = models.PositiveIntegerField(null=True, blank=True)  # null: the installation's default
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        "core.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Kept by the transactions that add and drop pages, so that a list of sites needs no count over pages.
    n_pages = models.PositiveIntegerField(default=0)
    last_snapshot_at = models.DateTimeField(null=True, blank=True)
    deletion_requested_at = models.DateTimeField(null=True, blank=True)

    objects = SiteQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RefusalQuerySet(models.QuerySet["Refusal"]):
    def visible_to(self, user: User) -> RefusalQuerySet:
        """Return the refusals at the sites and in the jobs that the user may see."""
        if user.is_active and (user.is_superuser or user.memberships.filter(site__isnull=True).exists()):
            return self
        jobs = Job.objects.visible_to(user)
        sites = Site.objects.visible_to(user)
        return self.filter(Q(site__in=sites) | Q(site=None, job__in=jobs))

    def matching(self, text: str) -> RefusalQuerySet:
        """Return those whose subject or reason contains each of the words."""
        found = self
        for word in text.split():
            found = found.filter(Q(subject__icontains=word) | Q(reason__icontains=word))
        return found


class Refusal(models.Model):
    """Something that was not taken, with the reason: a line, a page, an address, a limit."""

    site = models.ForeignKey(Site, null=True, blank=True, on_delete=models.CASCADE, related_name="refusals")
    job = models.ForeignKey(
        "core.Job", null=True, blank=True, on_delete=models.CASCADE, related_name="refusals"
    )
    subject = models.TextField()  # URL, or file and line
    code = models.CharField(max_length=40)  # a word to group by, such as robots, too_large, bad_line
    reason = models.CharField(max_length=500)
    refused_at = models.DateTimeField(default=timezone.now)

    objects = RefusalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(code=""), name="refusal_has_code"),
        ]
        indexes = [models.Index(fields=["site", "-id"], name="refusal_by_site")]
