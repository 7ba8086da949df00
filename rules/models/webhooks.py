"""Who is told of changed records, and how that went."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

from vertex.core.models import Job, Site, User
from vertex.core.models.outbox import MessageState, OutgoingMessage


class Webhook(models.Model):
    """An address that is told of changed records."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    secret = models.CharField(max_length=100)  # signs what is sent
    is_active = models.BooleanField(default=True)
    told_up_to = models.PositiveBigIntegerField(default=0)  # the last change number that was sent
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    @staticmethod
    def hide_secrets(row: dict[str, Any]) -> None:
        """Take out of a row what an export must not hold."""
        row["secret"] = ""


class Delivery(OutgoingMessage):
    """One message to a webhook, with how its sending went."""

    State = MessageState

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    first_change = models.PositiveBigIntegerField()
    last_change = models.PositiveBigIntegerField()
    n_records = models.PositiveIntegerField(default=0)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "next_try_at"], name="delivery_by_time")]
