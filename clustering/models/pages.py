"""The pages of a site, what was fetched of them and how they link to each other."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from vertex.core.models.bodies import BodyField
from vertex.core.models.sites import Site


class Host(models.Model):
    """A host that is fetched politely: by one worker at a time, with a pause between requests."""

    name = models.CharField(max_length=270, unique=True)  # scheme://host:port
    leased_until = models.DateTimeField(null=True, blank=True)
    leased_by = models.CharField(max_length=100, blank=True)
    # When a job that asks for little last found it taken; the crawl that has it gives way.
    wanted_at = models.DateTimeField(null=True, blank=True)
    next_fetch_at = models.DateTimeField(null=True, blank=True)
    # The host asked to be left alone until then.
    retry_after = models.DateTimeField(null=True, blank=True)
    robots_text = models.TextField(blank=True)
    robots_status = models.PositiveIntegerField(null=True, blank=True)
    robots_fetched_at = models.DateTimeField(null=True, blank=True)
    # Since a job leased it last.
    counted_since = models.DateTimeField(null=True, blank=True)
    n_answers = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)  # of bodies
    problems = models.JSONField(default=dict, blank=True)  # how many, by a word or a status

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
    # As somebody last handed it in; `url` where nobody did.
    given_url = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.DUE)
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # of HTTP, at the last visit
    reason = models.CharField(max_length=300, blank=True)  # why the state is not "stored"
    depth = models.PositiveIntegerField(default=0)  # links from the entry
    n_tries = models.PositiveSmallIntegerField(default=0)
    crawl = models.ForeignKey(
        "core.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Where a crawl asks for it; None where no crawl did yet.
    host = models.ForeignKey(
        Host, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    redirects_to = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    latest_snapshot = models.ForeignKey(
        "clustering.Snapshot", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    first_seen_at = models.DateTimeField(default=timezone.now)
    visited_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["site", "url_hash"], name="page_once_per_site")
        ]
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
        TOO_HEAVY = "too_heavy", "Too heavy to read"  # ended two processes that read it

    # No index of their own for the pages of snapshots and links: others begin with the page.
    page = models.ForeignKey(
        Page, on_delete=models.CASCADE, related_name="snapshots", db_index=False
    )
    body = BodyField()
    n_bytes = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(default=200)
    content_type = models.CharField(max_length=200, blank=True)
    encoding = models.CharField(max_length=40, blank=True)
    requested_url = models.TextField()
    final_url = models.TextField()
    problem = models.CharField(max_length=20, choices=Problem, blank=True, default=Problem.NONE)
    is_rendered = models.BooleanField(default=False)
    # What the browser waited for before it took what its scripts had made of the page.
    waited_for = models.CharField(max_length=60, blank=True, default="", db_default="")
    fetched_at = models.DateTimeField()
    seen_at = models.DateTimeField()  # the last time that the page still had these bytes
    # As the host wrote them, to ask it later whether the page still has these bytes.
    etag = models.CharField(max_length=300, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)

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
        constraints = [
            models.UniqueConstraint(fields=["page", "position"], name="link_once_per_place")
        ]
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
            models.UniqueConstraint(
                fields=["site", "query", "url_hash"], name="click_once_per_query"
            )
        ]
