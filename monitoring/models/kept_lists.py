"""Lists of addresses that a site keeps, to be visited at the times of a timetable."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from monitoring.algorithms.slots import SlotPlan
from monitoring.models.schedules import Timetable
from vertex.core.models import Job, Site, User


class KeptListQuerySet(models.QuerySet["KeptList"]):
    def present(self) -> Self:
        return self.filter(dropped_at=None)

    def dropped(self) -> Self:
        """Return those that were deleted and can be taken back."""
        return self.exclude(dropped_at=None)

    def running(self) -> Self:
        """Return those that are not paused, of sites that stay."""
        return self.present().filter(is_active=True, site__deletion_requested_at=None)

    def due(self, now: datetime) -> Self:
        return self.running().filter(next_at__lte=now)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class KeptList(Timetable):
    """Addresses visited again and again: kept, or read each time from a file of the site."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="kept_lists")
    name = models.CharField(max_length=100)
    addresses = models.TextField(blank=True)  # one a line, as they were handed in
    n_addresses = models.PositiveIntegerField(default=0)
    url = models.CharField(max_length=2048, blank=True)  # of the file, where the list is one
    # Seconds between two requests to a host; null: the site's.
    delay = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.0)])
    last_at = models.DateTimeField(null=True, blank=True)  # when the last visit was asked for
    last_job = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    left_out = models.CharField(max_length=300, blank=True)  # why nothing began the last time
    dropped_at = models.DateTimeField(null=True, blank=True)  # may be taken back for a while

    objects = KeptListQuerySet.as_manager()

    class Meta(Timetable.Meta):
        ordering = ["site", "name"]
        constraints = [
            *Timetable.Meta.constraints,
            models.UniqueConstraint(
                fields=["site", "name"],
                condition=Q(dropped_at=None),
                name="kept_list_once_per_name",
            ),
            models.CheckConstraint(
                condition=Q(url="") ^ Q(addresses=""), name="kept_list_has_one_source"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def plan(self) -> SlotPlan:
        """Return what the times of the visits follow from."""
        return self.plan_at(self.pk)
