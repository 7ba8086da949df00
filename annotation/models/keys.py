"""Which keys a person chose."""

from __future__ import annotations

from django.db import models

from vertex.core.models import User


class ChosenKeys(models.Model):
    """The keys that a person gave to actions and attributes; the others have their usual one."""

    person = models.OneToOneField(User, on_delete=models.CASCADE, related_name="chosen_keys")
    # By action, as command:undo, or attribute, as attribute:price.
    keys = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"keys of {self.person}"
