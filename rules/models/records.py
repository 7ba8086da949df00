"""What rules extract from pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.db import models
from django.utils import timezone

from clustering.models import Cluster, Page, Snapshot
from rules.models.rules import Rule
from vertex.core.models import Site, User


class Extraction(models.Model):
    """What came of a page when it was last extracted; it tells which pages are due again."""

    page = models.OneToOneField(Page, on_delete=models.CASCADE, related_name="extraction")
    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="extractions", db_index=False
    )
    snapshot_seen = models.PositiveBigIntegerField()
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    rule = models.ForeignKey(
        Rule, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    rules_seen = models.CharField(max_length=64)  # a hash of the rules and clusters that decided
    reason = models.CharField(max_length=40, blank=True)  # a word: why there is no record
    why = models.CharField(max_length=500, blank=True)  # the same as a sentence
    # Whether the match is the cluster that the page is in.
    agrees = models.BooleanField(default=True)
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

    def n_unreadable_by_attribute(self) -> dict[str, int]:
        """Return in how many records an attribute's value was not readable, most frequent first."""
        counts: Counter[str] = Counter()
        with_problems = self.exclude(problems={}).order_by()
        for problems in with_problems.values_list("problems", flat=True).iterator():
            counts.update(problems.keys())
        return dict(counts.most_common())

    def with_newer_snapshot(self) -> RecordQuerySet:
        """Return those whose pages have a newer snapshot: extracting brings them up to date."""
        return self.exclude(snapshot=models.F("page__latest_snapshot"))

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
    # Of a list's record: the normalised address of the page about the same thing.
    details_url = models.TextField(blank=True, default="")
    values = models.JSONField(default=dict)  # as displayed
    raw = models.JSONField(default=dict)
    normalized = models.JSONField(default=dict)
    missing = models.JSONField(default=list)
    failed = models.JSONField(default=dict)
    problems = models.JSONField(default=dict)  # by attribute: why a value could not be read
    confidence = models.JSONField(default=dict)
    nodes = models.JSONField(default=dict)
    # The probability that all values are right; those of an attribute stand in `confidence`.
    record_confidence = models.FloatField(default=1.0)
    # Grows with each change of any record.
    change_number = models.PositiveBigIntegerField(unique=True)
    first_seen_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)
    gone_at = models.DateTimeField(null=True, blank=True)  # the page no longer has it
    # The template was found to be another one, and the page was not extracted since.
    stale_since = models.DateTimeField(null=True, blank=True)

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["page", "key"], name="record_key_once_per_page")
        ]
        indexes = [
            models.Index(fields=["site", "change_number"], name="record_by_site"),
            models.Index(fields=["cluster", "change_number"], name="record_by_cluster"),
            models.Index(
                fields=["site"],
                condition=models.Q(stale_since__isnull=False),
                name="stale_record_by_site",
            ),
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
    """The last change number; its row is locked until changes are visible, so none is skipped."""

    name = models.CharField(max_length=20, primary_key=True)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return self.name
