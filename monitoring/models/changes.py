"""Site changes: from the finding that a template is another one until that is over."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from clustering.models import Cluster
from monitoring.models.checks import Check
from monitoring.models.proposals import Proposal
from vertex.core.models import Site, User


class SiteChangeQuerySet(models.QuerySet["SiteChange"]):
    def open(self) -> Self:
        """Return the changes that are not repaired yet."""
        return self.filter(ended_at=None)

    def ended(self) -> Self:
        return self.exclude(ended_at=None)

    def with_waiting_repairs(self) -> Self:
        """Return the changes, ended ones too, of which a proposed repair waits for a decision."""
        waiting = Proposal.objects.waiting().filter(decision=Proposal.Decision.PROPOSED)
        mine = waiting.filter(from_cluster=OuterRef("cluster"), made_at__gte=OuterRef("found_at"))
        return self.filter(Exists(mine))

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class SiteChange(models.Model):
    """The finding that a cluster's template is not the learnt one any more, until that is over."""

    class End(models.TextChoices):
        REPAIRED = "repaired", "Repaired"
        RECOVERED = "recovered", "As it was again"
        DISMISSED = "dismissed", "No change, said a person"

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="site_changes", db_index=False
    )
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="site_changes")
    found_by = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.SET_NULL, related_name="changes"
    )
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)  # shares of pages, the first broken example
    # The check before, which found nothing.
    last_good_at = models.DateTimeField(null=True, blank=True)
    found_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    end = models.CharField(max_length=10, choices=End, blank=True)
    n_held = models.PositiveIntegerField(default=0)  # pages whose new values were held back
    # Once it is over: for how long, what it cost, what was saved.
    report = models.JSONField(default=dict)

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
