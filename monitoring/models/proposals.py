"""Proposals: how a cluster may be served after a site change."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.utils import timezone

from clustering.models import Cluster, Page
from rules.models import Rule
from vertex.core.models import Job, Site, User


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

    class Variant(models.TextChoices):
        """How the cluster was found whose rule was tried first."""

        CLUSTER_MATCH = "cluster_match", "Cluster match"
        PAGE_MATCH = "page_match", "Page match"
        FIELD_MATCH = "field_match", "Field test alone"

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        ACCEPTED = "accepted", "Accepted"
        REJECTED = "rejected", "Rejected"
        REPLACED = "replaced", "Replaced"  # by a later one

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="proposals", db_index=False
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=61)  # the cluster's; it may not exist before it is accepted
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="proposals"
    )
    from_cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The draft while it is being accepted; the one in force once it is.
    rule = models.ForeignKey(
        Rule, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decision = models.CharField(max_length=16, choices=Decision)
    variant = models.CharField(max_length=16, choices=Variant, blank=True)  # blank: none was found
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    why = models.TextField(blank=True)
    url_share = models.FloatField(default=0.0)
    n_urls = models.PositiveIntegerField(default=0)
    field_test = models.BooleanField(null=True, blank=True)
    attributes = models.JSONField(default=dict)  # per attribute: XPath, precision
    evidence = models.JSONField(default=dict)  # the values found again, with scores
    silent = models.JSONField(default=list)  # attributes that had values and get no rule
    # Where these probably stand now, as far as that is certain: value, address and why.
    hints = models.JSONField(default=list)
    # It still shows the values of most of these.
    page_to_annotate = models.ForeignKey(
        Page, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    rejected_at = models.DateTimeField(null=True, blank=True)
    rejected_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    comment = models.CharField(max_length=500, blank=True)  # why it was rejected

    objects = ProposalQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["site", "state", "-id"], name="proposal_by_state")]

    def __str__(self) -> str:
        return f"{self.name}: {self.decision}"


class SavedPlan(models.Model):
    """What accepting a proposal does, and what it was planned from."""

    proposal = models.OneToOneField(
        Proposal, primary_key=True, on_delete=models.CASCADE, related_name="plan"
    )
    made_at = models.DateTimeField(default=timezone.now)

    # What it rests on.
    # Published at that time: the rule that is reused, or that from whose values another was learnt.
    rule = models.ForeignKey(
        Rule, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The one in which most of the pages were.
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    last_annotation = models.PositiveBigIntegerField(default=0)  # the newest of its pages
    urls = models.JSONField(default=list)  # of all pages of the cluster
    pages_digest = models.CharField(max_length=64)  # of their bytes

    # The rule that was learnt, as a version holds it; empty where none was.
    definition = models.JSONField(default=dict)
    stylesheet = models.TextField(blank=True)
    figures = models.JSONField(default=list)
    validation = models.JSONField(default=dict)
    annotated = models.JSONField(default=list)  # URLs of the pages from which it was learnt
    unannotated = models.JSONField(default=list)
    # By URL, what was found again and is annotated; see `saved_plans.PageValues`.
    values = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"plan of {self.proposal}"
