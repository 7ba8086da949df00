"""Count what the rules make of all that comes in, day by day, and alert where it falls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from monitoring.algorithms.coverage_drop import LAG, WINDOW, DayCounts, find_drops
from monitoring.models import Alert, Coverage, CoverageMark
from monitoring.services.checks.plausibility import suspicions_of_stream
from monitoring.services.checks.thresholds import thresholds_of
from monitoring.services.notices.alerts import settle_alert
from rules.models import Extraction, Record, Rule
from vertex.core.models import Site

PAGES_PER_TRANSACTION = 2_000
# Extractions that are younger may come of a transaction that is not over.
SETTLING = timedelta(seconds=30)
MAX_REASONS = 5  # of an alert


def measure_coverage(now: datetime | None = None) -> int:
    """Count the new extractions of all sites; return how many there were."""
    now = now or timezone.now()
    marks = dict(CoverageMark.objects.values_list("site", "extraction_seen"))
    last = (
        Extraction.objects.filter(extracted_at__lt=now - SETTLING)
        .values("site")
        .annotate(last=Max("pk"))
    )
    behind = {row["site"] for row in last if row["last"] > marks.get(row["site"], 0)}
    return sum(measure_site(site, now) for site in Site.objects.filter(pk__in=behind))


def measure_site(site: Site, now: datetime | None = None) -> int:
    """Count the new extractions of a site and settle its alerts; return how many there were."""
    now = now or timezone.now()
    n_counted = 0
    while n_in_batch := _count_batch(site, now):
        n_counted += n_in_batch
    drops = drops_of(site, now.astimezone(UTC).date())
    settle_alert(
        site=site,
        kind=Alert.Kind.COVERAGE,
        text="; ".join(text for _, text in drops[:MAX_REASONS]),
        clusters={cluster for cluster, _ in drops if cluster},
        now=now,
    )
    drifts = [(name, drift) for name, drift in suspicions_of_stream(site, now) if drift.is_alert]
    settle_alert(
        site=site,
        kind=Alert.Kind.DRIFT,
        text="; ".join(f"{name}: {drift}" for name, drift in drifts[:MAX_REASONS]),
        clusters={name for name, _ in drifts},
        now=now,
    )
    lines = [{"cluster": cluster, "text": text} for cluster, text in drops]
    CoverageMark.objects.filter(site=site).update(drops=lines, measured_at=now)
    return n_counted


def drops_of(site: Site, today: date) -> list[tuple[str, str]]:
    """Return what fell at a site, each text with the name of its cluster; blank: over all pages."""
    min_drop = thresholds_of(site).crawl_drop
    rows = Coverage.objects.filter(site=site, day__gte=today - LAG - WINDOW)
    days = [(row.rule_id, _counts(row)) for row in rows]
    site_drops = find_drops(_totals(counts for _, counts in days), today, min_drop)
    # Attributes of different rules are not added up.
    texts = [("", str(drop)) for drop in site_drops if drop.what == "pages"]
    rules = Rule.objects.published().of_site(site).select_related("cluster")
    for rule in rules.order_by("cluster__name"):
        name = rule.cluster.name
        own_days = [counts for rule_id, counts in days if rule_id == rule.pk]
        texts += [(name, f"{name}: {drop}") for drop in find_drops(own_days, today, min_drop)]
    return texts


def coverage_by_day(site: Site, *, since: date) -> list[DayCounts]:
    """Return what became of a site's pages on each day, oldest first."""
    rows = Coverage.objects.filter(site=site, day__gte=since).order_by("day")
    return sorted(_totals(_counts(row) for row in rows), key=lambda counts: counts.day)


def _count_batch(site: Site, now: datetime) -> int:
    """Add the next extractions to the counts of their days; return how many they were."""
    with transaction.atomic():
        mark, _ = CoverageMark.objects.select_for_update().get_or_create(site=site)
        new = Extraction.objects.filter(
            site=site, pk__gt=mark.extraction_seen, extracted_at__lt=now - SETTLING
        )
        rows = list(new.order_by("pk")[:PAGES_PER_TRANSACTION])
        if not rows:
            return 0
        _add(site, rows)
        mark.extraction_seen = rows[-1].pk
        mark.save(update_fields=["extraction_seen"])
    return len(rows)


def _add(site: Site, rows: Iterable[Extraction]) -> None:
    """Add extractions, and the records that they left, to the counts of their days and rules."""
    key_by_page: dict[int, tuple[int | None, date]] = {}
    n_by_key: defaultdict[tuple[int | None, date], Counter[str]] = defaultdict(Counter)
    fields_by_key: defaultdict[tuple[int | None, date], Counter[str]] = defaultdict(Counter)
    for row in rows:
        key = row.rule_id, row.extracted_at.astimezone(UTC).date()
        key_by_page[row.page_id] = key
        n_by_key[key]["n_pages"] += 1
        n_by_key[key]["n_served"] += row.n_records > 0
    records = Record.objects.there().of_pages(key_by_page).values_list("page", "values")
    for page, values in records.iterator(chunk_size=PAGES_PER_TRANSACTION):
        key = key_by_page[page]
        n_by_key[key]["n_records"] += 1
        fields_by_key[key].update(list(values))
    for (rule_id, day), n_new in n_by_key.items():
        columns: dict[str, Any] = {"site": site, "rule_id": rule_id, "day": day}
        coverage, _ = Coverage.objects.select_for_update().get_or_create(**columns)
        for name, n in n_new.items():
            setattr(coverage, name, getattr(coverage, name) + n)
        fields = Counter(coverage.fields) + fields_by_key[rule_id, day]
        coverage.fields = dict(sorted(fields.items()))
        coverage.save()


def _counts(row: Coverage) -> DayCounts:
    return DayCounts(row.day, row.n_pages, row.n_served, row.n_records, row.fields)


def _totals(days: Iterable[DayCounts]) -> list[DayCounts]:
    """Return each day's counts over all rules; attributes of different rules are not summed."""
    totals: dict[date, DayCounts] = {}
    for counts in days:
        total = totals.get(counts.day, DayCounts(counts.day, 0, 0, 0, {}))
        totals[counts.day] = DayCounts(
            day=counts.day,
            n_pages=total.n_pages + counts.n_pages,
            n_served=total.n_served + counts.n_served,
            n_records=total.n_records + counts.n_records,
            fields={},
        )
    return list(totals.values())
