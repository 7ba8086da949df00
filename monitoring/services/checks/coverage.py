"""Count what the rules make of all that comes in, day by day, and alert where it falls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from monitoring.algorithms.coverage_drop import LAG, WINDOW, DayCounts, Drop, find_drops
from monitoring.models import Alert, Coverage, CoverageMark
from monitoring.services.checks.plausibility import suspicions_of_stream
from monitoring.services.checks.thresholds import thresholds_of
from monitoring.services.notices.alerts import settle_alert
from rules.models import Extraction, Record, Rule
from vertex.core.models import Site

AT_ONCE = 2_000  # pages
SETTLED = timedelta(
    seconds=30
)  # extractions that are younger may come of a transaction that is not over
MOST_TOLD = 5


def measure_coverage(now: datetime | None = None) -> int:
    """Count the new extractions of all sites; return how many there were."""
    now = now or timezone.now()
    marks = dict(CoverageMark.objects.values_list("site", "extraction_seen"))
    last = (
        Extraction.objects.filter(extracted_at__lt=now - SETTLED)
        .values("site")
        .annotate(last=Max("pk"))
    )
    behind = {row["site"] for row in last if row["last"] > marks.get(row["site"], 0)}
    return sum(measure_site(site, now) for site in Site.objects.filter(pk__in=behind))


def measure_site(site: Site, now: datetime | None = None) -> int:
    """Count the new extractions of a site and settle its alerts; return how many there were."""
    now = now or timezone.now()
    n_counted = 0
    while n := _count_batch(site, now):
        n_counted += n
    drops = drops_of(site, now.astimezone(UTC).date())
    told = "; ".join(told for _, told in drops[:MOST_TOLD])
    settle_alert(
        site=site,
        kind=Alert.Kind.COVERAGE,
        text=told,
        clusters={cluster for cluster, _ in drops if cluster},
        now=now,
    )
    found = [(name, one) for name, one in suspicions_of_stream(site, now) if one.is_alert]
    settle_alert(
        site=site,
        kind=Alert.Kind.DRIFT,
        text="; ".join(f"{name}: {one}" for name, one in found[:MOST_TOLD]),
        clusters={name for name, _ in found},
        now=now,
    )
    lines = [{"cluster": cluster, "text": told} for cluster, told in drops]
    CoverageMark.objects.filter(site=site).update(drops=lines, measured_at=now)
    return n_counted


def drops_of(site: Site, today: date) -> list[tuple[str, str]]:
    """Return what fell at a site, each with the name of its cluster; blank: over all pages."""
    at_least = thresholds_of(site).crawl_drop
    rows = Coverage.objects.filter(site=site, day__gte=today - LAG - WINDOW)
    days = [(row.rule_id, _counts(row)) for row in rows]
    pages: list[Drop] = [
        one
        for one in find_drops(_totals(counts for _, counts in days), today, at_least)
        if one.what == "pages"
    ]
    found = [("", str(one)) for one in pages]
    rules = (
        Rule.objects.published().of_site(site).select_related("cluster").order_by("cluster__name")
    )
    for rule in rules:
        own = find_drops((counts for pk, counts in days if pk == rule.pk), today, at_least)
        found += [(rule.cluster.name, f"{rule.cluster.name}: {one}") for one in own]
    return found


def coverage_by_day(site: Site, *, since: date) -> list[DayCounts]:
    """Return what came of a site's pages on each day, oldest first."""
    rows = Coverage.objects.filter(site=site, day__gte=since).order_by("day")
    return sorted(_totals(_counts(row) for row in rows), key=lambda one: one.day)


def _count_batch(site: Site, now: datetime) -> int:
    """Add the next extractions to the counts of their days; return how many they were."""
    with transaction.atomic():
        mark, _ = CoverageMark.objects.select_for_update().get_or_create(site=site)
        new = Extraction.objects.filter(
            site=site, pk__gt=mark.extraction_seen, extracted_at__lt=now - SETTLED
        )
        rows = list(new.order_by("pk")[:AT_ONCE])
        if not rows:
            return 0
        _add(site, rows)
        mark.extraction_seen = rows[-1].pk
        mark.save(update_fields=["extraction_seen"])
    return len(rows)


def _add(site: Site, rows: Iterable[Extraction]) -> None:
    counts: dict[tuple[int | None, date], Counter[str]] = {}
    key_by_page = {}
    for row in rows:
        key = key_by_page[row.page_id] = row.rule_id, row.extracted_at.astimezone(UTC).date()
        own = counts.setdefault(key, Counter())
        own["n_pages"] += 1
        own["n_served"] += row.n_records > 0
    fields: dict[tuple[int | None, date], Counter[str]] = {}
    records = Record.objects.there().of_pages(key_by_page).values_list("page", "values")
    for page, values in records.iterator(chunk_size=AT_ONCE):
        counts[key_by_page[page]]["n_records"] += 1
        fields.setdefault(key_by_page[page], Counter()).update(list(values))
    for (rule, day), own in counts.items():
        of_day: dict[str, Any] = {"site": site, "rule_id": rule, "day": day}
        kept, _ = Coverage.objects.select_for_update().get_or_create(**of_day)
        for name, n in own.items():
            setattr(kept, name, getattr(kept, name) + n)
        kept.fields = dict(
            sorted((Counter(kept.fields) + fields.get((rule, day), Counter())).items())
        )
        kept.save()


def _counts(row: Coverage) -> DayCounts:
    return DayCounts(row.day, row.n_pages, row.n_served, row.n_records, row.fields)


def _totals(days: Iterable[DayCounts]) -> list[DayCounts]:
    """Return the counts of each day over all rules; attributes of different rules are not added up."""
    totals: dict[date, DayCounts] = {}
    for one in days:
        was = totals.get(one.day, DayCounts(one.day, 0, 0, 0, {}))
        totals[one.day] = DayCounts(
            one.day,
            was.n_pages + one.n_pages,
            was.n_served + one.n_served,
            was.n_records + one.n_records,
            {},
        )
    return list(totals.values())
