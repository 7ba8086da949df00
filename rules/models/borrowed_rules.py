"""Which rule serves a cluster that has none of its own."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from clustering.models import Cluster
from rules.models.rules import Rule
from vertex.core.models import Site


class BorrowedRuleQuerySet(models.QuerySet["BorrowedRule"]):
    def of_site(self, site: Site) -> BorrowedRuleQuerySet:
        return self.filter(cluster__site=site)

    def serving(self) -> BorrowedRuleQuerySet:
        """Return those by which pages are read now."""
        ruled = Rule.objects.published().values("cluster")
        return self.filter(rule__state=Rule.State.PUBLISHED, is_refused=False).exclude(
            cluster__in=ruled
        )


class BorrowedRule(models.Model):
    """What was decided for a cluster without a rule: whose rule reads its pages, if any does."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="borrowed_rule")
    # The one that reads most of the cluster's pages; null where none reads enough.
    rule = models.ForeignKey(Rule, null=True, on_delete=models.CASCADE, related_name="borrowers")
    share_read = models.FloatField(default=0.0)  # of what the rule reads in its own cluster, 0 to 1
    n_pages_read = models.PositiveIntegerField(default=0)
    is_refused = models.BooleanField(default=False)  # by a person
    decided_for = models.CharField(max_length=64)  # these rules and this clustering
    decided_at = models.DateTimeField(default=timezone.now)

    objects = BorrowedRuleQuerySet.as_manager()

    class Meta:
        ordering = ["cluster"]

    def __str__(self) -> str:
        return f"{self.cluster} reads by {self.rule}"
