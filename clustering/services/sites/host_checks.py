"""Whether a host can be fetched from at all, before a site is added for it."""

from __future__ import annotations

from django.conf import settings

from clustering.fetching.guard import Guard


def why_unreachable(url: str) -> str:
    """Return why this installation fetches nothing from the host of a URL, blank where it may."""
    return Guard(tuple(settings.ALLOWED_NETWORKS)).why_refused(url)
