"""The stream: how fresh records are to be, when pages are revisited, and the steps of the chain."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from clustering.models import Cluster, Page
from rules.models import Rule
from vertex.core.models import Job, Site, User

MAX_GOAL_HOURS = 24 * 90
MAX_REQUESTS_PER_DAY = 10_000_000


class FreshnessGoalQuerySet(models.QuerySet["FreshnessGoal"]):
    def in_force(self) -> Self:
        """Return those of clusters with a published rule, at sites that stay."""
        # As a join, the clock would read the rules of all sites for each site that is due.
        published = Rule.objects.published().filter(cluster=OuterRef("cluster"))
        return self.filter(Exists(published), cluster__site__deletion_requested_at=None)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(cluster__site__in=Site.objects.visible_to(user))


class FreshnessGoal(models.Model):
    """How long a cluster's records may be stale, for how many requests, and how far that is met."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="freshness_goal")
    goal_hours = models.PositiveIntegerField(
        default=24, validators=[MinValueValidator(1), MaxValueValidator(MAX_GOAL_HOURS)]
    )
    # Null: as many as the goal takes.
    requests_per_day = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_REQUESTS_PER_DAY)],
    )
    changed_at = models.DateTimeField(default=timezone.now)
    changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # What follows from the visits until `planned_at`.
    planned_at = models.DateTimeField(null=True, blank=True)
    shares = models.JSONField(default=list)  # of the pages at each rate of change
    price = models.FloatField(default=0.0)  # of being late, in requests an hour
    links = models.JSONField(default=dict)  # which links lead to new pages: patterns and paths
    n_pages = models.PositiveIntegerField(default=0)
    reached_share = models.FloatField(default=1.0)  # of the records, expected, not stale for longer
    n_requests = models.PositiveBigIntegerField(default=0)
    n_saved = models.PositiveBigIntegerField(default=0)  # against a visit of each page once a goal
    expected_requests = models.FloatField(default=0.0)  # a day

    objects = FreshnessGoalQuerySet.as_manager()

    class Meta:
        ordering = ["cluster"]
        indexes = [models.Index(fields=["planned_at"], name="freshness_goal_by_plan")]

    def __str__(self) -> str:
        return f"{self.cluster}: {self.goal_hours} hours"


class RevisitQuerySet(models.QuerySet["Revisit"]):
    def due(self, now: datetime) -> Self:
        return self.filter(next_at__lte=now, site__deletion_requested_at=None)


class Revisit(models.Model):
    """What visits to a page with records saw, and when it is visited next."""

    page = models.OneToOneField(Page, on_delete=models.CASCADE, related_name="revisit")
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="+", db_index=False)
    goal = models.ForeignKey(FreshnessGoal, on_delete=models.CASCADE, related_name="revisits")
    # It has no records and leads to pages that do: it is visited once a goal, to find new ones.
    is_listing = models.BooleanField(default=False)
    n_visits = models.PositiveIntegerField(default=0)
    n_changed = models.PositiveIntegerField(default=0)  # visits that saw other records
    hours_changed = models.FloatField(default=0.0)  # between visits, of those that saw others
    hours_unchanged = models.FloatField(default=0.0)
    n_gone = models.PositiveSmallIntegerField(default=0)  # visits in a row that found no page
    visited_at = models.DateTimeField()  # the last visit that was counted
    snapshot_seen = models.PositiveBigIntegerField(null=True)
    change_number = models.PositiveBigIntegerField(default=0)  # the last of its records then
    next_at = models.DateTimeField(null=True, blank=True)  # null while it is under way
    asked_at = models.DateTimeField(null=True, blank=True)  # null once what it brought is counted
    made_at = models.DateTimeField(default=timezone.now)

    objects = RevisitQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"], condition=Q(next_at__isnull=False), name="revisit_by_time"
            ),
            models.Index(fields=["site", "next_at"], name="revisit_by_site"),
            models.Index(fields=["goal", "asked_at"], name="revisit_by_goal"),
        ]


class ChainStep(models.Model):
    """A step of the chain at a site: up to where it was started, and whether a person paused it."""

    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="chain_steps", db_index=False
    )
    step = models.CharField(max_length=20)
    # What came until then was given to a job; null: nothing yet.
    started_for = models.DateTimeField(null=True, blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    is_paused = models.BooleanField(default=False)
    changed_at = models.DateTimeField(default=timezone.now)
    changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["site", "step"], name="chain_step_once_per_site")
        ]
        indexes = [
            models.Index(fields=["step"], condition=Q(is_paused=True), name="chain_step_paused")
        ]

    def __str__(self) -> str:
        return f"{self.step} of {self.site}"
