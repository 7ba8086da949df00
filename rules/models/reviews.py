"""How a rule is reviewed: proposed, judged, compared with that in use, published or sent back."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from clustering.models import Snapshot
from rules.algorithms.running.record_lines import Line, line_from_json
from rules.models.rules import Rule
from vertex.core.models import Job, User


class ReviewQuerySet(models.QuerySet["Review"]):
    def open(self) -> ReviewQuerySet:
        """Return those that nobody has decided yet."""
        return self.filter(outcome="")

    def visible_to(self, user: User) -> ReviewQuerySet:
        """Return those of the sites at which the user has any role."""
        return self.filter(rule__in=Rule.objects.visible_to(user))


class Review(models.Model):
    """A rule that somebody proposed for publishing, and how that ended."""

    class Outcome(models.TextChoices):
        OPEN = "", "Waiting"
        PUBLISHED = "published", "Published"
        SENT_BACK = "sent_back", "Sent back"
        WITHDRAWN = "withdrawn", "Withdrawn"
        REPLACED = "replaced", "Replaced by a newer proposal"

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="reviews")
    comment = models.TextField(blank=True)  # of who proposed it
    proposed_at = models.DateTimeField(default=timezone.now)
    proposed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.OPEN, blank=True)
    reason = models.TextField(blank=True)  # why it was sent back, or published with force
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    stylesheet_hash = models.CharField(max_length=64)  # what the pages were extracted with

    objects = ReviewQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule"], condition=Q(outcome=""), name="one_open_review_per_rule"
            )
        ]

    def __str__(self) -> str:
        return f"review of {self.rule}"


class JudgedPage(models.Model):
    """A page that was no sample, drawn for a review: what the rule extracts, what a person says."""

    class Verdict(models.TextChoices):
        OPEN = "", "Not judged"
        RIGHT = "right", "Right"
        WRONG = "wrong", "Wrong"
        SKIPPED = "skipped", "Skipped"

    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, related_name="pages", db_index=False
    )
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    rank = models.PositiveSmallIntegerField()  # from 1
    records = models.JSONField(default=list)  # the lines of extract_records
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.OPEN, blank=True)
    # Attributes that are wrong, or missing though the page has them.
    marked = models.JSONField(default=list)
    judged_at = models.DateTimeField(null=True, blank=True)
    judged_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(fields=["review", "rank"], name="judged_page_rank_once"),
            models.UniqueConstraint(fields=["review", "snapshot"], name="judged_page_once"),
        ]

    @property
    def lines(self) -> list[Line]:
        return [line_from_json(payload) for payload in self.records]


class Impact(models.Model):
    """What a rule would change about the records of its cluster's stored pages."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="impacts")
    against = models.ForeignKey(
        Rule, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    against_version = models.PositiveIntegerField(null=True, blank=True)  # null: no rule was in use
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    stylesheet_hash = models.CharField(max_length=64)
    figures = models.JSONField(default=dict)
    examples = models.JSONField(default=list)
    last_page = models.PositiveBigIntegerField(default=0)  # where a run that was cut off goes on
    made_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
