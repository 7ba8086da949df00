"""What an installation knows of itself."""

from __future__ import annotations

from django.db import models


class Installation(models.Model):
    """The one row of an installation; it is made when the page store is first used."""

    store = models.CharField(max_length=64)  # the id that its page store carries

    def __str__(self) -> str:
        return self.store
