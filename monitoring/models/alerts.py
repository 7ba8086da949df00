"""Alerts, and how people are told of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from monitoring.models.checks import Check
from vertex.core.models import Site, User
from vertex.core.models.outbox import MessageState, OutgoingMessage


class AlertQuerySet(models.QuerySet["Alert"]):
    def open(self) -> Self:
        return self.filter(ended_at=None)

    def waiting(self, now: datetime) -> Self:
        """Return the open ones that nobody took up and that are not snoozed."""
        return self.open().filter(acknowledged_at=None).exclude(snoozed_until__gt=now)

    def in_state(self, state: str, now: datetime) -> Self:
        """Return those of a state: open, acknowledged, snoozed or recovered."""
        if state == Alert.State.RECOVERED:
            return self.exclude(ended_at=None)
        if state == Alert.State.SNOOZED:
            return self.open().filter(snoozed_until__gt=now)
        if state == Alert.State.ACKNOWLEDGED:
            return self.open().exclude(acknowledged_at=None).exclude(snoozed_until__gt=now)
        return self.waiting(now)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class Alert(models.Model):
    """The row that says that somebody should look; one is open for a site and a kind at a time."""

    class Kind(models.TextChoices):
        SITE_CHANGED = "site_changed", "Site changed"
        IMPLAUSIBLE = "implausible", "Values look wrong"
        WARNING = "warning", "Warning"
        UNREACHABLE = "unreachable", "Unreachable"
        COVERAGE = "coverage", "Coverage fell"
        DRIFT = "drift", "Values drift"
        OVERDUE = "overdue", "Checks overdue"
        HELD = "held", "Values held back"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        ACKNOWLEDGED = "acknowledged", "Acknowledged"
        SNOOZED = "snoozed", "Snoozed"
        RECOVERED = "recovered", "Recovered"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="alerts", db_index=False)
    kind = models.CharField(max_length=14, choices=Kind)
    text = models.TextField()
    clusters = models.JSONField(default=list)  # names of those it is about; empty: the whole site
    check_run = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.SET_NULL, related_name="alerts"
    )
    raised_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)  # the last time that its cause was found
    n_seen = models.PositiveIntegerField(default=1)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snoozed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "kind"], condition=Q(ended_at=None), name="one_open_alert_per_kind"
            )
        ]
        indexes = [
            models.Index(fields=["site", "-id"], name="alert_by_site"),
            models.Index(fields=["ended_at", "-id"], name="alert_by_end"),
        ]

    def __str__(self) -> str:
        return f"{self.site.name}: {self.text[:80]}"

    def state_at(self, now: datetime) -> Alert.State:
        """Return how the alert stands."""
        if self.ended_at is not None:
            return self.State.RECOVERED
        if self.snoozed_until is not None and self.snoozed_until > now:
            return self.State.SNOOZED
        return self.State.ACKNOWLEDGED if self.acknowledged_at else self.State.OPEN


class ChannelQuerySet(models.QuerySet["Channel"]):
    def active(self) -> Self:
        return self.filter(is_active=True)

    def of_site(self, site: Site) -> Self:
        """Return those that are told of a site: its own, and those for all sites."""
        return self.filter(Q(site=site) | Q(site=None))

    def visible_to(self, user: User) -> Self:
        """Return those of sites where the user has a role; those for all need a role everywhere."""
        if user.is_active and user.sees_all_sites():
            return self
        return self.filter(site__in=Site.objects.visible_to(user))


class Channel(models.Model):
    """Where notices go."""

    class Kind(models.TextChoices):
        EMAIL = "email", "E-mail"
        WEBHOOK = "webhook", "Webhook"
        APPRISE = "apprise", "Chat or pager service"

    # Null: all sites.
    site = models.ForeignKey(
        Site, null=True, blank=True, on_delete=models.CASCADE, related_name="channels"
    )
    kind = models.CharField(max_length=7, choices=Kind)
    target = models.CharField(max_length=2048)  # an address; that of a chat service holds its key
    alert_kinds = models.JSONField(default=list)  # empty: all
    secret = models.CharField(max_length=100, blank=True)  # signs what a webhook is sent
    is_active = models.BooleanField(default=True)  # False once it was given up, or paused
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = ChannelQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.shown}"

    @property
    def shown(self) -> str:
        """The target without what is secret in it."""
        return shown_target(self.kind, self.target)

    @staticmethod
    def hide_secrets(row: dict[str, Any]) -> None:
        """Take out of a row what an export must not hold."""
        row["target"] = shown_target(row["kind"], row["target"])
        row["secret"] = ""


def shown_target(kind: str, target: str) -> str:
    """Return the address of a channel without the key that those of chat services hold."""
    return target.partition("://")[0] + "://…" if kind == Channel.Kind.APPRISE else target


class NoticeQuerySet(models.QuerySet["Notice"]):
    def due(self, now: datetime) -> Self:
        return self.filter(state=Notice.State.DUE, next_try_at__lte=now)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(alert__site__in=Site.objects.visible_to(user))


class Notice(OutgoingMessage):
    """The delivery of an alert to people over one channel; notices of one message have its id."""

    class Event(models.TextChoices):
        RAISED = "raised", "Raised"
        REMINDER = "reminder", "Still there"
        RECOVERED = "recovered", "Recovered"

    class State(models.TextChoices):
        DUE = MessageState.DUE.value, "Waiting"
        DELIVERED = MessageState.DELIVERED.value, "Delivered"
        FAILED = MessageState.FAILED.value, "Failed"
        DROPPED = "dropped", "Not needed any more"

    alert = models.ForeignKey(
        Alert, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="notices")
    event = models.CharField(max_length=9, choices=Event)
    occasion = models.CharField(max_length=40, blank=True)  # tells the reminders of one alert apart
    state = models.CharField(max_length=9, choices=State, default=State.DUE)
    message_id = models.CharField(max_length=60, blank=True)  # blank until it is first sent

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "channel", "event", "occasion"], name="notice_once_per_event"
            )
        ]
        indexes = [models.Index(fields=["state", "next_try_at"], name="notice_by_time")]

    def __str__(self) -> str:
        return f"{self.event}: {self.state}"
