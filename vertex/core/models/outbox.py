"""What all messages have in common that are sent until they arrive."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class MessageState(models.TextChoices):
    DUE = "due", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class OutgoingMessage(models.Model):
    """A message, or a part of one, with how its sending went."""

    state = models.CharField(max_length=10, choices=MessageState, default=MessageState.DUE)
    n_tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # of HTTP
    error = models.CharField(max_length=300, blank=True)
    made_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
