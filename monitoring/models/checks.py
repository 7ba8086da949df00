"""Checks: what was fetched for them, what tests say of a page, when a cluster counts as broken."""

from __future__ import annotations

from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from clustering.models import Cluster, Page, Snapshot
from monitoring.algorithms.verdicts import (
    AS_IT_WAS,
    CONTENT_CHANGED,
    PARTLY_REDESIGNED,
    REDESIGNED,
    UNDECIDED,
    UNREACHABLE,
    Thresholds,
)
from monitoring.models.schedules import Slot
from vertex.core.models import Job, Site, User

IS_SHARE = (MinValueValidator(0.0), MaxValueValidator(1.0))


class CheckQuerySet(models.QuerySet["Check"]):
    def done(self) -> Self:
        """Return those that came to a verdict."""
        return self.filter(state=Check.State.DONE)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))

    def latest_of(self, site: Site) -> Check | None:
        return self.done().filter(site=site).order_by("-id").first()


class Check(models.Model):
    """One round over the bellwethers of a site."""

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        DONE = "done", "Done"

    class Verdict(models.TextChoices):
        AS_IT_WAS = AS_IT_WAS, "As it was"
        CONTENT_CHANGED = CONTENT_CHANGED, "Content changed"
        PARTLY_REDESIGNED = PARTLY_REDESIGNED, "Partly redesigned"
        REDESIGNED = REDESIGNED, "Redesigned"
        UNREACHABLE = UNREACHABLE, "Not reachable"
        UNDECIDED = UNDECIDED, "Undecided"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="checks", db_index=False)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    slot = models.OneToOneField(
        Slot, null=True, blank=True, on_delete=models.SET_NULL, related_name="check_run"
    )
    state = models.CharField(max_length=7, choices=State, default=State.DONE)
    # The archive of newer pages; blank: the network.
    source = models.CharField(max_length=500, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    made_at = models.DateTimeField(default=timezone.now)  # when it came to its verdict
    # How often what did not answer was asked.
    n_rounds = models.PositiveSmallIntegerField(default=1)
    site_changed = models.BooleanField(default=False)
    verdict = models.CharField(max_length=17, choices=Verdict, blank=True)
    layouts = models.JSONField(default=list)  # names of those that were redesigned
    # Of one that is undecided: when its site is looked at again.
    again_at = models.DateTimeField(null=True, blank=True)
    paper_verdict = models.BooleanField(default=False)  # either test fails
    broken = models.JSONField(default=list)  # names of clusters
    rules_share = models.FloatField(default=0.0)  # of the rules checked, that are broken
    reason = models.TextField(blank=True)
    warnings = models.JSONField(default=list)
    clusters = models.JSONField(default=list)  # per cluster, the shares and the reason
    thresholds = models.JSONField(default=dict)  # as they were
    n_pages = models.PositiveIntegerField(default=0)
    n_reachable = models.PositiveIntegerField(default=0)

    objects = CheckQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["job"], condition=Q(state="running"), name="one_running_check_per_job"
            )
        ]
        indexes = [
            models.Index(fields=["site", "-id"], name="check_by_site"),
            models.Index(fields=["made_at"], name="check_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.site.name} at {self.made_at:%Y-%m-%d %H:%M}"


class CheckedPage(models.Model):
    """What a check found on one bellwether."""

    class Outcome(models.TextChoices):
        OK = "ok", "As it was"
        CHANGED = "changed", "Changed"
        UNREACHABLE = "unreachable", "Unreachable"

    check_run = models.ForeignKey(
        Check, on_delete=models.CASCADE, related_name="pages", db_index=False
    )
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="checked")
    # The page as it was found, kept where it is not as it was.
    snapshot = models.ForeignKey(
        Snapshot, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    outcome = models.CharField(max_length=12, choices=Outcome)
    why = models.CharField(max_length=40, blank=True)  # of unreachable: a word of the triage
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # of HTTP
    n_tries = models.PositiveSmallIntegerField(default=1)
    shingle_test = models.BooleanField(null=True, blank=True)  # True: passed; None: not done
    field_test = models.BooleanField(null=True, blank=True)
    structure_test = models.BooleanField(null=True, blank=True)
    failed = models.JSONField(default=list)  # {"attribute", "was", "now", "kind"}
    # Attributes that vanished, are displaced, that it had, that are lost; whether it is there
    # at all.
    signs = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["check_run", "cluster", "page"], name="page_once_per_check_and_cluster"
            )
        ]


class FetchedPage(models.Model):
    """A page's answer to a check that is not over, or to a repair that nobody has decided on."""

    check_run = models.ForeignKey(
        Check,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="fetched",
        db_index=False,
    )
    # Of the repair.
    job = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    # Keeps the body of a repair's page.
    snapshot = models.ForeignKey(
        Snapshot, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Its name in the page store; blank: no answer.
    body = models.CharField(max_length=64, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    content_type = models.CharField(max_length=200, blank=True)
    final_url = models.TextField(blank=True)
    why = models.CharField(max_length=40, blank=True)  # there is no answer
    n_tries = models.PositiveSmallIntegerField(default=1)
    fetched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["check_run", "page"], name="fetched_once_per_check"),
            models.UniqueConstraint(fields=["job", "page"], name="fetched_once_per_repair"),
            models.CheckConstraint(
                condition=Q(check_run__isnull=False) | Q(job__isnull=False),
                name="fetched_for_something",
            ),
        ]


class ErrorPage(models.Model):
    """How a site's error page looks: what it answers for an address that does not exist."""

    class Source(models.TextChoices):
        ASKED = "asked", "Asked for a random address"
        SEEN = "seen", "Seen in place of a page"

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="error_pages", db_index=False
    )
    kind = models.CharField(max_length=20)  # a word of the triage
    source = models.CharField(max_length=5, choices=Source)
    url = models.TextField(blank=True)
    heading = models.CharField(max_length=300, blank=True)
    words = models.JSONField(default=list)  # hashes of the words that it shows
    digest = models.CharField(max_length=64)
    learnt_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["site", "digest"], name="error_page_once_per_site"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.heading}"


class SiteThresholds(models.Model):
    """When a site's clusters count as broken, where somebody chose other numbers than the usual."""

    site = models.OneToOneField(Site, on_delete=models.CASCADE, related_name="thresholds")
    pages = models.FloatField(default=Thresholds.pages, validators=IS_SHARE)
    quorum = models.FloatField(default=Thresholds.quorum, validators=IS_SHARE)
    coverage_drop = models.FloatField(default=Thresholds.coverage_drop, validators=IS_SHARE)
    reachable = models.FloatField(default=Thresholds.reachable, validators=IS_SHARE)
    rules = models.FloatField(default=Thresholds.rules, validators=IS_SHARE)
    crawl_drop = models.FloatField(default=Thresholds.crawl_drop, validators=IS_SHARE)
    changed_at = models.DateTimeField(default=timezone.now)
    changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    def __str__(self) -> str:
        return f"Thresholds of {self.site.name}"

    def as_values(self) -> Thresholds:
        """Return the numbers as the tests take them."""
        return Thresholds(
            self.pages, self.quorum, self.coverage_drop, self.reachable, self.rules, self.crawl_drop
        )
