"""Write what was extracted from pages: exactly once, with a history, nothing silently deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import F
from django.utils import timezone

from rules.models import ChangeCounter, Extraction, Record, RecordVersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from clustering.services.stored_pages import StoredPage
    from rules.algorithms.record_lines import Line
    from rules.models import Rule

COUNTER = "records"
LONGEST_KEY, LONGEST_REASON, LONGEST_WHY = 200, 40, 500
SAYS = ("values", "raw", "normalized", "missing", "failed")  # a record changed where one of these did
CARRIES = ("confidence", "nodes", "least_confidence", "index")  # beside what it says
WRITTEN = [*SAYS, *CARRIES, "cluster_id", "rule_id", "snapshot_id", "change_number", "changed_at", "gone_at"]


class ServedPage(NamedTuple):
    """A page with the lines that came of it."""

    page: StoredPage
    lines: Sequence[Line]
    agrees: bool  # whether the match is the cluster that the page is in


def store_served(
    served: Sequence[ServedPage], *, site_id: int, rule_by_cluster: Mapping[str, Rule], mark: str
) -> dict[str, int]:
    """Write the records of some pages and what came of each page, in the caller's transaction.

    Returns how many records are new, changed, gone and the same.
    """
    now = timezone.now()
    pages = [one.page.pk for one in served]
    before = {(record.page_id, record.key): record for record in Record.objects.of_pages(pages)}
    after = {
        (record.page_id, record.key): record
        for one in served
        for record in _records_of(one, site_id, rule_by_cluster, now)
    }
    new = [record for key, record in after.items() if key not in before]
    changed = [
        (before[key], record)
        for key, record in after.items()
        if key in before and _differs(before[key], record)
    ]
    gone = [record for key, record in before.items() if key not in after and record.gone_at is None]
    same = [record for key, record in after.items() if key in before and not _differs(before[key], record)]
    numbers = iter(_next_numbers(len(new) + len(changed) + len(gone)))
    _keep_history([old for old, _ in changed] + gone, now)
    for record in new:
        record.change_number = next(numbers)
    Record.objects.bulk_create(new)
    _write_changed(changed, numbers, now)
    for record in gone:
        record.gone_at, record.changed_at, record.change_number = now, now, next(numbers)
    Record.objects.bulk_update(gone, ["gone_at", "changed_at", "change_number"])
    _carry_on(same, before)
    _write_extractions(served, site_id, rule_by_cluster, mark, now)
    return {"new": len(new), "changed": len(changed), "gone": len(gone), "same": len(same)}


def _records_of(
    served: ServedPage, site_id: int, rule_by_cluster: Mapping[str, Rule], now: datetime
) -> Iterable[Record]:
    for line in served.lines:
        if line.get("rule") is None or "missing" not in line or line.get("reason"):
            continue
        rule = rule_by_cluster[line["cluster"]]
        yield Record(
            site_id=site_id,
            page_id=served.page.pk,
            cluster_id=rule.cluster_id,
            rule_id=rule.pk,
            snapshot_id=served.page.snapshot,
            key=(line.get("key") or "")[:LONGEST_KEY],
            index=line.get("index") or 0,
            values=line["record"],
            raw=line["raw"],
            normalized=line.get("normalized", {}),
            missing=line["missing"],
            failed=line.get("failed", {}),
            confidence=line.get("confidence", {}),
            nodes=line.get("nodes", {}),
            least_confidence=min(line.get("confidence", {}).values(), default=0.0),
            first_seen_at=now,
            changed_at=now,
        )


def _differs(old: Record, new: Record) -> bool:
    """Say whether a record says something else than before, or is there again."""
    return old.gone_at is not None or any(getattr(old, name) != getattr(new, name) for name in SAYS)


def _next_numbers(n: int) -> range:
    """Take so many change numbers; the counter is locked until they show, so that readers skip none."""
    if n == 0:
        return range(0)
    ChangeCounter.objects.get_or_create(name=COUNTER)
    ChangeCounter.objects.filter(name=COUNTER).update(value=F("value") + n)
    last: int = ChangeCounter.objects.values_list("value", flat=True).get(name=COUNTER)
    return range(last - n + 1, last + 1)


def _keep_history(records: Iterable[Record], now: datetime) -> None:
    """Write down what records were until now."""
    RecordVersion.objects.bulk_create(
        RecordVersion(
            record=record,
            values=record.values,
            rule_id=record.rule_id,
            was_gone=record.gone_at is not None,
            since=record.changed_at,
            until=now,
        )
        for record in records
    )


def _write_changed(changed: Sequence[tuple[Record, Record]], numbers: Any, now: datetime) -> None:  # noqa: ANN401 - an iterator shared with the caller
    for old, new in changed:
        for name in (*SAYS, *CARRIES, "cluster_id", "rule_id", "snapshot_id"):
            setattr(old, name, getattr(new, name))
        old.change_number, old.changed_at, old.gone_at = next(numbers), now, None
    Record.objects.bulk_update([old for old, _ in changed], WRITTEN)


def _carry_on(same: Sequence[Record], before: Mapping[tuple[int, str], Record]) -> None:
    """Let unchanged records name the rule and snapshot that they came from last; that is no change."""
    moved = []
    for record in same:
        old = before[record.page_id, record.key]
        names = ("snapshot_id", "rule_id", "cluster_id", *CARRIES)
        if any(getattr(old, name) != getattr(record, name) for name in names):
            for name in names:
                setattr(old, name, getattr(record, name))
            moved.append(old)
    Record.objects.bulk_update(moved, ["snapshot_id", "rule_id", "cluster_id", *CARRIES])


def _write_extractions(
    served: Sequence[ServedPage],
    site_id: int,
    rule_by_cluster: Mapping[str, Rule],
    mark: str,
    now: datetime,
) -> None:
    Extraction.objects.filter(page__in=[one.page.pk for one in served]).delete()
    Extraction.objects.bulk_create(_extraction(one, site_id, rule_by_cluster, mark, now) for one in served)


def _extraction(
    one: ServedPage, site_id: int, rule_by_cluster: Mapping[str, Rule], mark: str, now: datetime
) -> Extraction:
    first = one.lines[0]
    rule = rule_by_cluster.get(first["cluster"]) if first["cluster"] else None
    return Extraction(
        page_id=one.page.pk,
        site_id=site_id,
        snapshot_seen=one.page.snapshot,
        cluster_id=rule.cluster_id if rule else None,
        rule=rule,
        rules_seen=mark,
        reason=first.get("reason", "")[:LONGEST_REASON],
        why=first.get("why", "")[:LONGEST_WHY],
        agrees=one.agrees,
        n_records=sum("missing" in line and not line.get("reason") for line in one.lines),
        extracted_at=now,
    )
