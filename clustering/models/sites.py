"""A site, its pages, what was fetched of them and how they link to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone

from clustering.models.jobs import Job

if TYPE_CHECKING:
    from clustering.models.people import User

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
        "clustering.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
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


class Host(models.Model):
    """A host that is fetched politely: by one worker at a time, with a pause between requests."""

    name = models.CharField(max_length=270, unique=True)  # scheme://host:port
    leased_until = models.DateTimeField(null=True, blank=True)
    leased_by = models.CharField(max_length=100, blank=True)
    next_fetch_at = models.DateTimeField(null=True, blank=True)
    retry_after = models.DateTimeField(null=True, blank=True)  # the host asked to be left alone until then
    robots_text = models.TextField(blank=True)
    robots_status = models.PositiveIntegerField(null=True, blank=True)
    robots_fetched_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Page(models.Model):
    """An address of a site, whether it was fetched yet or not."""

    class State(models.TextChoices):
        DUE = "due", "Due"
        STORED = "stored", "Stored"
        REDIRECTED = "redirected", "Redirected"
        SKIPPED = "skipped", "Skipped"  # answered, but not with a page
        REFUSED = "refused", "Refused"  # not asked for: robots.txt, address, limits
        FAILED = "failed", "Failed"

    # Without an index of its own: page_by_site begins with it.
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="pages", db_index=False)
    url = models.TextField()  # normalised
    url_hash = models.BinaryField(max_length=16)  # the first 16 bytes of the sha256 of `url`
    written_url = models.TextField()  # as first seen
    state = models.CharField(max_length=10, choices=State, default=State.DUE)
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # of HTTP, at the last visit
    reason = models.CharField(max_length=300, blank=True)  # why the state is not "stored"
    depth = models.PositiveIntegerField(default=0)  # links from the entry
    n_tries = models.PositiveSmallIntegerField(default=0)
    crawl = models.ForeignKey(
        "clustering.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Where a crawl asks for it; None where no crawl did yet.
    host = models.ForeignKey(Host, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    redirects_to = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    latest_snapshot = models.ForeignKey(
        "clustering.Snapshot", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    first_seen_at = models.DateTimeField(default=timezone.now)
    visited_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["site", "url_hash"], name="page_once_per_site")]
        indexes = [
            models.Index(fields=["crawl", "host", "state", "depth", "id"], name="page_frontier"),
            models.Index(fields=["site", "state", "id"], name="page_by_state"),
            models.Index(fields=["site", "status", "id"], name="page_by_status"),
            models.Index(fields=["site", "-id"], name="page_by_site"),
            models.Index(fields=["visited_at"], name="page_by_visit"),
        ]

    def __str__(self) -> str:
        return self.url


class Snapshot(models.Model):
    """The bytes that a page had at one time; a new one only when the bytes changed."""

    class Problem(models.TextChoices):
        NONE = "", "None"
        TRUNCATED = "truncated", "Truncated"  # deeper or longer than the parser reads
        EMPTY = "empty", "Empty"  # no element to be seen
        TOO_MANY_ATTRIBUTES = "too_many_attributes", "Too many attributes"

    # No index of their own for the pages of snapshots and links: others begin with the page.
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="snapshots", db_index=False)
    body = models.CharField(max_length=64, db_index=True)  # sha256 of the bytes: their name in the page store
    n_bytes = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(default=200)
    content_type = models.CharField(max_length=200, blank=True)
    encoding = models.CharField(max_length=40, blank=True)
    requested_url = models.TextField()
    final_url = models.TextField()
    problem = models.CharField(max_length=20, choices=Problem, blank=True, default=Problem.NONE)
    is_rendered = models.BooleanField(default=False)
    fetched_at = models.DateTimeField()
    seen_at = models.DateTimeField()  # the last time that the page still had these bytes

    class Meta:
        indexes = [
            models.Index(fields=["page", "-id"], name="snapshot_by_page"),
            models.Index(fields=["fetched_at"], name="snapshot_by_time"),
        ]


class Link(models.Model):
    """A link on a page's latest snapshot, with the place where it stands."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="links", db_index=False)
    position = models.PositiveIntegerField()  # order on the page
    xpath = models.TextField()  # element path with positions
    url = models.TextField()  # normalised
    url_hash = models.BinaryField(max_length=16)  # like Page.url_hash
    text = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["page", "position"], name="link_once_per_place")]
        indexes = [models.Index(fields=["url_hash"], name="link_by_target")]


class SearchClick(models.Model):
    """How often searchers for a query went to a page, from a search log."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="search_clicks")
    query = models.CharField(max_length=500)
    url = models.TextField()  # normalised
    url_hash = models.BinaryField(max_length=16)
    clicks = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["site", "query", "url_hash"], name="click_once_per_query")
        ]


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
        "clustering.Job", null=True, blank=True, on_delete=models.CASCADE, related_name="refusals"
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
