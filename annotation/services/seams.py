"""The seams of annotation: where an app to the right takes part without being imported.

    known_values_source    called by page.suggesting.known_values
                           provided by rules.services.records.known_records.known_from_records
    ruled_clusters_source  called by samples.worth.reasons_to_leave_out
                           provided by rules.services.learning.ruled_clusters.clusters_with_rules
    borrowed_reading_source  called by samples.queue.queue_of
                             provided by rules.services.records.borrowing.borrowed_readings
    outdated_clusters_source  called by samples.worth.reasons_to_leave_out
                              provided by rules.services.records.stale_records.clusters_from_before

The settings name the providers in SEAMS, since rules know annotations and not the other way round.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.models import Attribute
from clustering.models import Snapshot


class KnownValuesSource(Protocol):
    """Return what is known of a page beside its annotations: values to suggest, by attribute."""

    def __call__(
        self, snapshot: Snapshot, attributes: Sequence[Attribute], heading: str, /
    ) -> dict[str, list[KnownValue]]: ...


def known_values_source() -> KnownValuesSource:
    """Return the source that the settings name."""
    source: KnownValuesSource = import_string(settings.SEAMS["annotation.known_values_source"])
    return source


class RuledClustersSource(Protocol):
    """Return those of some clusters that have a rule: they are annotated whatever their kind."""

    def __call__(self, clusters: Collection[int], /) -> set[int]: ...


def ruled_clusters_source() -> RuledClustersSource:
    """Return the source that the settings name."""
    source: RuledClustersSource = import_string(settings.SEAMS["annotation.ruled_clusters_source"])
    return source


class OutdatedClustersSource(Protocol):
    """Return those of some clusters that show what their site looked like before a redesign."""

    def __call__(self, clusters: Collection[int], /) -> set[int]: ...


def outdated_clusters_source() -> OutdatedClustersSource:
    """Return the source that the settings name."""
    source: OutdatedClustersSource = import_string(
        settings.SEAMS["annotation.outdated_clusters_source"]
    )
    return source


class BorrowedReading(NamedTuple):
    """How much of a cluster without a rule the rules of its site's other clusters read."""

    share: float  # of what the best of them reads in its own cluster, 0 to 1
    lender: str  # the title of the cluster whose rule reads the pages now; blank where none does


class BorrowedReadingSource(Protocol):
    """Return what is read of some clusters by other clusters' rules, where that was tried."""

    def __call__(self, clusters: Collection[int], /) -> dict[int, BorrowedReading]: ...


def borrowed_reading_source() -> BorrowedReadingSource:
    """Return the source that the settings name."""
    source: BorrowedReadingSource = import_string(
        settings.SEAMS["annotation.borrowed_reading_source"]
    )
    return source
