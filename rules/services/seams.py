"""The seams of rules: where an app to the right takes part without being imported.

    record_guard    called by records.extracting.extract_records
                    provided by monitoring.services.guard.guard.pages_to_hold
    held_follow_up  called by records.extracting.extract_records
                    provided by monitoring.services.guard.guard.follow_up_held

The settings name each provider in SEAMS, since monitoring knows rules and not the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from rules.models import Rule
from rules.services.records.storing import ExtractedPage
from vertex.core.models import Site


class HoldReason(Enum):
    """Why a page is held back."""

    SITE_CHANGED = "its cluster has an open site change"
    AWAITS_CHECK = "its cluster waits for a check"
    VALUES_CHANGED = "its own constant values are doubtful"
    NOT_FETCHED_SINCE = "it was not fetched since its cluster was redesigned"


class HeldPage(NamedTuple):
    """A page that was extracted and is not stored now; it stays due."""

    page: int
    cluster: str
    reason: HoldReason


class HeldPages(NamedTuple):
    """The pages of a batch that are held back, and what is to be checked for that."""

    pages: Sequence[HeldPage]
    clusters_to_check: frozenset[str] = frozenset()  # empty: no check is needed for this batch
    n_doubtful: int = 0  # pages whose constant values make the check necessary

    @property
    def keys(self) -> frozenset[int]:
        return frozenset(held.page for held in self.pages)


class RecordGuard(Protocol):
    """Choose the extracted pages that are not stored now, in the transaction that stores others.

    It changes nothing: what follows is up to the caller.
    """

    def __call__(
        self, site: Site, pages: Sequence[ExtractedPage], rules: Mapping[str, Rule], /
    ) -> HeldPages: ...


class HeldFollowUp(Protocol):
    """Count the held pages; in the same transaction, alert people and request any check needed."""

    def __call__(self, site: Site, held: HeldPages, /) -> None: ...


def record_guard() -> RecordGuard:
    """Return the guard that the settings name."""
    guard: RecordGuard = import_string(settings.SEAMS["rules.record_guard"])
    return guard


def held_follow_up() -> HeldFollowUp:
    """Return what the settings name to follow up held pages."""
    follow_up: HeldFollowUp = import_string(settings.SEAMS["rules.held_follow_up"])
    return follow_up
