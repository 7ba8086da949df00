"""Whether a host can be fetched from at all, before a site is added for it."""

from __future__ import annotations

from clustering.fetching.client import open_guard


def why_unreachable(url: str) -> str:
    """Return why this installation fetches nothing from the host of a URL, blank where it may."""
    return open_guard().why_refused(url)
