"""Store what was extracted from pages: exactly once, with a history, nothing silently deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from clustering.services.pages.stored_pages import StoredPage
from rules.algorithms.running.confidence import confidence_in_record
from rules.algorithms.running.record_lines import ERROR_PAGE, Line
from rules.algorithms.running.run_rule import STOPPED
from rules.models import Extraction
from rules.services.records.published_rules import PublishedRules
from rules.services.records.record_upserts import upsert_records
from rules.services.records.stale_records import mark_pages_fresh

# As long as the columns are.
MAX_KEY_CHARS, MAX_REASON_CHARS, MAX_WHY_CHARS = 200, 40, 500


class ExtractedPage(NamedTuple):
    """A page with the lines that came of it."""

    page: StoredPage
    lines: Sequence[Line]
    agrees: bool  # whether the match is the cluster that the page is in


def store_extracted(
    pages: Sequence[ExtractedPage], *, site_id: int, published: PublishedRules
) -> dict[str, int]:
    """Store the records of some pages and the outcome of each page, in the caller's transaction.

    Returns how many records are new, changed, gone and the same.
    """
    now = timezone.now()
    rows = (row for page in pages for row in _record_rows(page, site_id, published))
    # Of a page on which a rule was stopped, or that came with an error, nobody knows what it has
    # now: its records stay as they were.
    known = [page.page.pk for page in pages if page.lines[0].reason not in {STOPPED, ERROR_PAGE}]
    n_by_state = upsert_records(rows, pages=known, now=now)
    mark_pages_fresh(known)
    Extraction.objects.filter(page__in=[page.page.pk for page in pages]).delete()
    Extraction.objects.bulk_create(_extraction(page, site_id, published, now) for page in pages)
    return n_by_state


def _record_rows(
    page: ExtractedPage, site_id: int, published: PublishedRules
) -> Iterator[dict[str, Any]]:
    """Yield the columns of a page's records."""
    for line in page.lines:
        record = line.record
        if line.cluster is None or record is None:
            continue
        rule = published.rule_serving(line.cluster)
        assert rule is not None  # noqa: S101 - a rule made the record
        yield {
            "site_id": site_id,
            "page_id": page.page.pk,
            "cluster_id": published.cluster_pk(line.cluster),
            "rule_id": rule.pk,
            "snapshot_id": page.page.snapshot,
            "key": (record.key or "")[:MAX_KEY_CHARS],
            "index": record.index or 0,
            "details_url": record.details_url,
            "values": record.values,
            "raw": record.raw,
            "normalized": record.normalized,
            "problems": record.problems,
            "missing": record.missing,
            "failed": record.failed,
            "confidence": record.confidence,
            "nodes": record.nodes,
            "record_confidence": confidence_in_record(record.confidence.values()),
        }


def _extraction(
    page: ExtractedPage, site_id: int, published: PublishedRules, now: datetime
) -> Extraction:
    """Return the row that says what came of a page.

    Of a page with several records each has a line; all of them name the same cluster and reason.
    """
    first = page.lines[0]
    rule = published.rule_serving(first.cluster) if first.cluster else None
    return Extraction(
        page_id=page.page.pk,
        site_id=site_id,
        snapshot_seen=page.page.snapshot,
        cluster_id=published.cluster_pk(first.cluster) if first.cluster else None,
        rule=rule,
        rules_seen=published.ruleset_version,
        reason=first.reason[:MAX_REASON_CHARS],
        why=first.why[:MAX_WHY_CHARS],
        agrees=page.agrees,
        n_records=sum(line.record is not None for line in page.lines),
        extracted_at=now,
    )


def retire_pages(pages: Sequence[int], *, now: datetime) -> int:
    """Mark the records of pages as gone that are not there any more; return how many records."""
    with transaction.atomic():
        return upsert_records((), pages=pages, now=now)["gone"]
