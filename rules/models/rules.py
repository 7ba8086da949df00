"""Rules with their versions, the pages they were learnt from, and what is kept to compare with."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Vertical
from clustering.models import Cluster, Page, Snapshot
from rules.algorithms.running.record_lines import Line, line_from_json
from vertex.core.models import Site, User


class RuleQuerySet(models.QuerySet["Rule"]):
    def published(self) -> RuleQuerySet:
        return self.filter(state=Rule.State.PUBLISHED)

    def of_site(self, site: Site) -> RuleQuerySet:
        return self.filter(cluster__site=site)

    def visible_to(self, user: User) -> RuleQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(cluster__site__in=Site.objects.visible_to(user))


class Rule(models.Model):
    """One version of what extracts a cluster's records: a stylesheet, and how it came about."""

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        PROPOSED = "proposed", "Proposed"
        PUBLISHED = "published", "Published"
        RETIRED = "retired", "Retired"

    class Origin(models.TextChoices):
        LEARNT = "learnt", "Learnt from annotations"
        EDITED = "edited", "Edited by hand"
        IMPORTED = "imported", "Imported"
        DRAFTED = "drafted", "Drafted from other sites"

    cluster = models.ForeignKey(
        Cluster, on_delete=models.CASCADE, related_name="rules", db_index=False
    )
    version = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    vertical = models.ForeignKey(Vertical, on_delete=models.PROTECT, related_name="rules")
    schema = models.JSONField(default=list)  # the vertical's attributes as they were
    # The ClusterRule; empty where a person wrote the stylesheet.
    definition = models.JSONField(default=dict)
    stylesheet = models.TextField()
    figures = models.JSONField(default=list)  # per attribute, what it measured on the samples
    validation = models.JSONField(default=dict)  # the same on pages that were no samples
    # By attribute, how the values on the samples looked when it was published.
    value_looks = models.JSONField(default=dict)
    # What other sites of the vertical are certain that its attributes are, as they were asked last.
    opinions = models.JSONField(default=list)
    learner = models.CharField(max_length=20, default="default")
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.LEARNT)
    # The version that was changed by hand.
    edited_from = models.PositiveIntegerField(null=True, blank=True)
    comment = models.TextField(blank=True)  # why there is this version
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    published_at = models.DateTimeField(null=True, blank=True)
    published_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = RuleQuerySet.as_manager()

    class Meta:
        ordering = ["cluster", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "version"], name="rule_version_once_per_cluster"
            ),
            models.UniqueConstraint(
                fields=["cluster"],
                condition=Q(state="published"),
                name="one_published_rule_per_cluster",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster.name}@{self.version}"

    @property
    def attributes(self) -> list[AttributeType]:
        """Return the attributes that the vertical had when the rule was learnt."""
        return [AttributeType.from_json(entry) for entry in self.schema]

    @property
    def is_by_hand(self) -> bool:
        """Whether somebody wrote the stylesheet; then it runs only where it can be stopped."""
        return not self.definition


class RuleSample(models.Model):
    """A page as it was when a rule was learnt from it or judged on it."""

    class Use(models.TextChoices):
        ANNOTATED = "annotated", "Annotated"
        UNANNOTATED = "unannotated", "Not annotated"
        HELD_OUT = "held_out", "Held out"

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="samples")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    use = models.CharField(max_length=12, choices=Use)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rule", "snapshot"], name="sample_once_per_rule"),
        ]


class Bellwether(models.Model):
    """A page that is fetched again and again to learn early that a site changed."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="bellwethers")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveSmallIntegerField()
    chosen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "page"], name="bellwether_once_per_cluster")
        ]


class GoldenRecord(models.Model):
    """What a rule extracted from a page when published: known to be right, kept to compare with."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="golden_records")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    records = models.JSONField(default=list)  # the lines of extract_records, most often one

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rule", "page"], name="golden_record_once_per_page")
        ]

    @property
    def lines(self) -> list[Line]:
        return [line_from_json(payload) for payload in self.records]
