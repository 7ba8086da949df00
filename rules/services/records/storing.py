"""Write what was extracted from pages: exactly once, with a history, nothing silently deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from clustering.services.pages.stored_pages import StoredPage
from rules.algorithms.running.record_lines import Line, NoRecord
from rules.algorithms.running.run_rule import STOPPED
from rules.models import Extraction, Rule
from rules.services.records.record_upserts import upsert_records

LONGEST_KEY, LONGEST_REASON, LONGEST_WHY = 200, 40, 500


class ExtractedPage(NamedTuple):
    """A page with the lines that came of it."""

    page: StoredPage
    lines: Sequence[Line]
    agrees: bool  # whether the match is the cluster that the page is in


def store_served(
    served: Sequence[ExtractedPage], *, site_id: int, rule_by_cluster: Mapping[str, Rule], mark: str
) -> dict[str, int]:
    """Write the records of some pages and what came of each page, in the caller's transaction.

    Returns how many records are new, changed, gone and the same.
    """
    now = timezone.now()
    rows = (row for one in served for row in _rows_of(one, site_id, rule_by_cluster))
    # Of a page on which a rule was stopped nobody knows what it has now: its records stay as they were.
    known = [one.page.pk for one in served if one.lines[0].reason != STOPPED]
    written = upsert_records(rows, pages=known, now=now)
    _write_extractions(served, site_id, rule_by_cluster, mark, now)
    return written


def _rows_of(
    served: ExtractedPage, site_id: int, rule_by_cluster: Mapping[str, Rule]
) -> Iterator[dict[str, Any]]:
    for line in served.lines:
        if line.cluster is None or isinstance(line.outcome, NoRecord):
            continue
        rule, record = rule_by_cluster[line.cluster], line.outcome
        yield {
            "site_id": site_id,
            "page_id": served.page.pk,
            "cluster_id": rule.cluster_id,
            "rule_id": rule.pk,
            "snapshot_id": served.page.snapshot,
            "key": (record.key or "")[:LONGEST_KEY],
            "index": record.index or 0,
            "values": record.values,
            "raw": record.raw,
            "normalized": record.normalized,
            "missing": record.missing,
            "failed": record.failed,
            "confidence": record.confidence,
            "nodes": record.nodes,
            "least_confidence": min(record.confidence.values(), default=0.0),
        }


def _write_extractions(
    served: Sequence[ExtractedPage],
    site_id: int,
    rule_by_cluster: Mapping[str, Rule],
    mark: str,
    now: datetime,
) -> None:
    Extraction.objects.filter(page__in=[one.page.pk for one in served]).delete()
    Extraction.objects.bulk_create(
        _extraction(one, site_id, rule_by_cluster, mark, now) for one in served
    )


def _extraction(
    one: ExtractedPage, site_id: int, rule_by_cluster: Mapping[str, Rule], mark: str, now: datetime
) -> Extraction:
    first = one.lines[0]
    rule = rule_by_cluster.get(first.cluster) if first.cluster else None
    return Extraction(
        page_id=one.page.pk,
        site_id=site_id,
        snapshot_seen=one.page.snapshot,
        cluster_id=rule.cluster_id if rule else None,
        rule=rule,
        rules_seen=mark,
        reason=first.reason[:LONGEST_REASON],
        why=first.why[:LONGEST_WHY],
        agrees=one.agrees,
        n_records=sum(line.record is not None for line in one.lines),
        extracted_at=now,
    )
