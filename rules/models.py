"""Rules with their versions, the records that they extract, and who is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Vertical
from clustering.models import Cluster, Job, Page, Site, Snapshot, User

if TYPE_CHECKING:
    from collections.abc import Iterable


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

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="rules", db_index=False)
    version = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    vertical = models.ForeignKey(Vertical, on_delete=models.PROTECT, related_name="rules")
    schema = models.JSONField(default=list)  # the vertical's attributes as they were
    definition = models.JSONField(default=dict)  # the ClusterRule; empty where a person wrote the stylesheet
    stylesheet = models.TextField()
    figures = models.JSONField(default=list)  # per attribute, what it measured on the samples
    validation = models.JSONField(default=dict)  # the same on pages that were no samples
    learner = models.CharField(max_length=20, default="default")
    comment = models.TextField(blank=True)  # why there is this version
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField(null=True, blank=True)
    published_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = RuleQuerySet.as_manager()

    class Meta:
        ordering = ["cluster", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "version"], name="rule_version_once_per_cluster"),
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(state="published"), name="one_published_rule_per_cluster"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cluster.name}@{self.version}"


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
    """What a rule extracted from a page when it was published: known to be right, kept to compare with."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="golden_records")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    records = models.JSONField(default=list)  # the lines of extract_records, most often one

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "page"], name="golden_record_once_per_page")]


class Extraction(models.Model):
    """What came of a page when it was last extracted; it tells which pages are due again."""

    page = models.OneToOneField(Page, on_delete=models.CASCADE, related_name="extraction")
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="extractions", db_index=False)
    snapshot_seen = models.PositiveBigIntegerField()
    cluster = models.ForeignKey(Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    rule = models.ForeignKey(Rule, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    rules_seen = models.CharField(max_length=64)  # a hash of the rules and clusters that decided
    reason = models.CharField(max_length=40, blank=True)  # a word: why there is no record
    why = models.CharField(max_length=500, blank=True)  # the same as a sentence
    agrees = models.BooleanField(default=True)  # whether the match is the cluster that the page is in
    n_records = models.PositiveIntegerField(default=0)
    extracted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["site", "reason"], name="extraction_by_reason"),
            models.Index(fields=["site", "rule"], name="extraction_by_rule"),
        ]


class RecordQuerySet(models.QuerySet["Record"]):
    def visible_to(self, user: User) -> RecordQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))

    def there(self) -> RecordQuerySet:
        """Return the records that their pages still have."""
        return self.filter(gone_at=None)

    def changed_since(self, number: int) -> RecordQuerySet:
        """Return what changed after a change number, in the order of the changes."""
        return self.filter(change_number__gt=number).order_by("change_number")

    def of_pages(self, pages: Iterable[int]) -> RecordQuerySet:
        return self.filter(page__in=pages)


class Record(models.Model):
    """What a rule extracts from a page: attributes and their values, as last seen."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="records", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="records", db_index=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="records")
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="records")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    key = models.CharField(max_length=200, blank=True)  # tells the records of one page apart
    index = models.PositiveIntegerField(default=0)  # the record's place on its page
    values = models.JSONField(default=dict)  # as displayed
    raw = models.JSONField(default=dict)
    normalized = models.JSONField(default=dict)
    missing = models.JSONField(default=list)
    failed = models.JSONField(default=dict)
    confidence = models.JSONField(default=dict)
    nodes = models.JSONField(default=dict)
    least_confidence = models.FloatField(default=1.0)
    change_number = models.PositiveBigIntegerField(unique=True)  # grows with each change of any record
    first_seen_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)
    gone_at = models.DateTimeField(null=True, blank=True)  # the page no longer has it

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["page", "key"], name="record_key_once_per_page")]
        indexes = [
            models.Index(fields=["site", "change_number"], name="record_by_site"),
            models.Index(fields=["cluster", "change_number"], name="record_by_cluster"),
        ]


class RecordVersion(models.Model):
    """What a record was before it changed."""

    record = models.ForeignKey(Record, on_delete=models.CASCADE, related_name="versions")
    values = models.JSONField(default=dict)
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="+")
    was_gone = models.BooleanField(default=False)
    since = models.DateTimeField()
    until = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]


class ChangeCounter(models.Model):
    """The last change number given; its row is locked until the changes are visible, so none is skipped."""

    name = models.CharField(max_length=20, primary_key=True)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return self.name


class Webhook(models.Model):
    """An address that is told of changed records."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    secret = models.CharField(max_length=100)  # signs what is sent
    is_active = models.BooleanField(default=True)
    told_up_to = models.PositiveBigIntegerField(default=0)  # the last change number that was sent
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")


class Delivery(models.Model):
    """One message to a webhook, with how its sending went."""

    class State(models.TextChoices):
        DUE = "due", "Waiting"
        DELIVERED = "delivered", "Delivered"
        FAILED = "failed", "Failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    first_change = models.PositiveBigIntegerField()
    last_change = models.PositiveBigIntegerField()
    n_records = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.DUE)
    n_tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # of HTTP
    error = models.CharField(max_length=300, blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "next_try_at"], name="delivery_by_time")]
