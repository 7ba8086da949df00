"""What is watched: checks with the outcome of each page, site changes, alerts, and proposals of repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from clustering.models import Cluster, Job, Page, Site, User
from rules.models import Rule

if TYPE_CHECKING:
    from typing import Self


class CheckQuerySet(models.QuerySet["Check"]):
    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))

    def latest_of(self, site: Site) -> Check | None:
        return self.filter(site=site).order_by("-id").first()


class Check(models.Model):
    """One round over the bellwethers of a site."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="checks", db_index=False)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    source = models.CharField(max_length=500, blank=True)  # the archive of newer pages; blank: the network
    made_at = models.DateTimeField(default=timezone.now)
    site_changed = models.BooleanField(default=False)
    paper_verdict = models.BooleanField(default=False)  # either test fails
    broken = models.JSONField(default=list)  # names of clusters
    reason = models.TextField(blank=True)
    warnings = models.JSONField(default=list)
    clusters = models.JSONField(default=list)  # per cluster, the shares and the reason
    thresholds = models.JSONField(default=dict)  # as they were
    n_pages = models.PositiveIntegerField(default=0)
    n_reachable = models.PositiveIntegerField(default=0)

    objects = CheckQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["site", "-id"], name="check_by_site")]

    def __str__(self) -> str:
        return f"{self.site.name} at {self.made_at:%Y-%m-%d %H:%M}"


class CheckedPage(models.Model):
    """What a check found on one bellwether."""

    class Outcome(models.TextChoices):
        OK = "ok", "As it was"
        CHANGED = "changed", "Changed"
        UNREACHABLE = "unreachable", "Unreachable"

    check_run = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="pages", db_index=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="checked")
    outcome = models.CharField(max_length=12, choices=Outcome)
    why = models.CharField(max_length=40, blank=True)  # of unreachable: a word of the triage
    shingle_test = models.BooleanField(null=True, blank=True)  # True: passed; None: not done
    field_test = models.BooleanField(null=True, blank=True)
    structure_test = models.BooleanField(null=True, blank=True)
    failed = models.JSONField(default=list)  # {"attribute", "was", "now", "kind"}

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["check_run", "cluster", "page"], name="page_once_per_check_and_cluster"
            )
        ]


class SiteChangeQuerySet(models.QuerySet["SiteChange"]):
    def open(self) -> Self:
        """Return the changes that are not repaired yet."""
        return self.filter(ended_at=None)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class SiteChange(models.Model):
    """The finding that a cluster's template is no longer the one that was learnt, until that is over."""

    class End(models.TextChoices):
        REPAIRED = "repaired", "Repaired"
        RECOVERED = "recovered", "As it was again"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="site_changes", db_index=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="site_changes")
    found_by = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.SET_NULL, related_name="changes"
    )
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)  # shares of pages, the first broken example
    last_good_at = models.DateTimeField(null=True, blank=True)  # the check before, which found nothing
    found_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=10, choices=End, blank=True)

    objects = SiteChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(ended_at=None), name="one_open_change_per_cluster"
            )
        ]
        indexes = [models.Index(fields=["site", "-id"], name="site_change_by_site")]

    def __str__(self) -> str:
        return f"{self.cluster.name} since {self.found_at:%Y-%m-%d %H:%M}"


class AlertQuerySet(models.QuerySet["Alert"]):
    def open(self) -> Self:
        return self.filter(ended_at=None)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class Alert(models.Model):
    """The row that says that somebody should look; one is open for a site and a kind at a time."""

    class Kind(models.TextChoices):
        SITE_CHANGED = "site_changed", "Site changed"
        WARNING = "warning", "Warning"
        UNREACHABLE = "unreachable", "Unreachable"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="alerts", db_index=False)
    kind = models.CharField(max_length=14, choices=Kind)
    text = models.TextField()
    check_run = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.SET_NULL, related_name="alerts"
    )
    raised_at = models.DateTimeField(default=timezone.now)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    snoozed_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "kind"], condition=Q(ended_at=None), name="one_open_alert_per_kind"
            )
        ]
        indexes = [models.Index(fields=["site", "-id"], name="alert_by_site")]

    def __str__(self) -> str:
        return f"{self.site.name}: {self.text[:80]}"


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def waiting(self) -> Self:
        return self.filter(state=Proposal.State.WAITING)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class Proposal(models.Model):
    """How a cluster may be served after a change: which rule is reused, or what was learnt anew."""

    class Decision(models.TextChoices):
        REUSED = "reused", "Reused"
        PROPOSED = "proposed", "Proposed"
        NEEDS_ANNOTATION = "needs_annotation", "Needs annotation"

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        ACCEPTED = "accepted", "Accepted"
        REPLACED = "replaced", "Replaced"  # by a later one

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="proposals", db_index=False)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=61)  # the cluster's; it may not exist before it is accepted
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="proposals"
    )
    from_cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    rule = models.ForeignKey(
        Rule, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )  # the one in force once it is accepted
    decision = models.CharField(max_length=16, choices=Decision)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    why = models.TextField(blank=True)
    url_share = models.FloatField(default=0.0)
    n_urls = models.PositiveIntegerField(default=0)
    field_test = models.BooleanField(null=True, blank=True)
    attributes = models.JSONField(default=dict)  # per attribute: XPath, precision
    evidence = models.JSONField(default=dict)  # the values found again, with scores
    made_at = models.DateTimeField(default=timezone.now)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    objects = ProposalQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["site", "state", "-id"], name="proposal_by_state")]

    def __str__(self) -> str:
        return f"{self.name}: {self.decision}"
