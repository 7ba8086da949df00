"""The seams of the core: where an app takes part without being imported.

    page_weigher    called by jobs.limited_work.within_limits
                    provided by rules.services.learning.heavy_pages.mark_heavy

The settings name the provider in SEAMS, since the core knows no pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string


class PageWeigher(Protocol):
    """Weigh pages one by one in limited children; mark the too heavy ones, return how many."""

    def __call__(self, bodies: Sequence[str], /) -> int: ...


def page_weigher() -> PageWeigher:
    """Return what the settings name to weigh pages."""
    weigher: PageWeigher = import_string(settings.SEAMS["vertex.core.page_weigher"])
    return weigher
