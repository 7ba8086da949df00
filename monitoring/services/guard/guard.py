"""Hold back values that a changed site would give, until a check or a person has confirmed them.

Extraction asks before it stores a batch (`pages_to_hold`), and after it for what follows
(`follow_up_held`): an alert and a check. A page is held back whose cluster has an open site change,
or whose constant values are other ones than those stored though no check since it was fetched found
its cluster as it was; and a page without a record before whose constant values are not like those
of the others. A page whose record is from before a redesign is held back until it is fetched again:
the repaired rule reads the new pages, and finds nothing on the old one. The stored record stays as
it is; the page stays due.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils import timezone

from clustering.models import Page, Snapshot
from monitoring.algorithms.known_values import same_value
from monitoring.models import Alert, Check, Schedule, SiteChange
from monitoring.services.checks.checking import check_request
from monitoring.services.guard.unverified_pages import doubtful_pages
from monitoring.services.notices.alerts import settle_alert
from rules.models import Record, Rule
from rules.services.records.storing import ExtractedPage
from rules.services.seams import HeldPage, HeldPages, HoldReason
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue

MIN_DOUBTFUL_PAGES: Final = 3  # of a cluster, so that a check is started
MAJORITY: Final = 0.5
MAX_CHECKS_READ: Final = 20  # for the last one that found a cluster as it was


class Suspect(NamedTuple):
    """A page whose new values are in doubt."""

    page: int
    cluster: str


def pages_to_hold(
    site: Site, pages: Sequence[ExtractedPage], rules: Mapping[str, Rule]
) -> HeldPages:
    """Return the pages of a batch that are not to be stored now, and what to check for that.

    A page is held back where its cluster has an open site change, where its cluster waits for a
    check or must now, where it was not fetched since its cluster was redesigned, and, on a site
    that is checked regularly, where its own values are in doubt.
    """
    stored = _stored_records(pages)
    cluster_by_page = {}
    for page in pages:
        records = stored.get(page.page.pk)
        name = records[0].cluster.name if records else page.lines[0].cluster
        cluster_by_page[page.page.pk] = name or ""

    changed = _changed_clusters(site, rules)
    suspects = _suspects(site, pages, rules, stored)
    # In a cluster that changed a check has looked already.
    doubtful = _doubtful_clusters(suspects, Counter(cluster_by_page.values())) - changed
    waiting = _waiting_clusters(site, rules) | doubtful
    is_checked_soon = Schedule.objects.running().filter(site=site).exists()
    suspected_pages = {suspect.page for suspect in suspects} if is_checked_soon else set()
    old_pages = _not_fetched_since_redesign(pages, stored)

    held = []
    for pk, name in cluster_by_page.items():
        if name in changed:
            held.append(HeldPage(pk, name, HoldReason.SITE_CHANGED))
        elif name in waiting:
            held.append(HeldPage(pk, name, HoldReason.AWAITS_CHECK))
        elif pk in old_pages:
            held.append(HeldPage(pk, name, HoldReason.NOT_FETCHED_SINCE))
        elif pk in suspected_pages:
            held.append(HeldPage(pk, name, HoldReason.VALUES_CHANGED))
    if not doubtful:
        return HeldPages(held)
    n_doubtful = sum(suspect.cluster in doubtful for suspect in suspects)
    return HeldPages(held, frozenset(waiting), n_doubtful)


def follow_up_held(site: Site, held: HeldPages) -> None:
    """Count pages held back by site changes; where needed, alert people and request a check."""
    if held.clusters_to_check:
        _request_check(site, held.clusters_to_check, held.n_doubtful)
    n_by_cluster = Counter(
        page.cluster for page in held.pages if page.reason is HoldReason.SITE_CHANGED
    )
    for name, n in n_by_cluster.items():
        changes = SiteChange.objects.open().filter(site=site, cluster__name=name)
        changes.update(n_held=F("n_held") + n)


def _request_check(site: Site, clusters: Collection[str], n_pages: int) -> None:
    """Alert people and start a check of the bellwethers."""
    settle_alert(
        site=site,
        kind=Alert.Kind.HELD,
        text=f"The constant values of {n_pages:,} pages changed. "
        "The new ones are held back until a check confirms them.",
        clusters=clusters,
    )
    try:
        enqueue(check_request(site=site, is_audited=False))
    except (JobExists, ValidationError):
        return  # one is under way, or the last rule went meanwhile


def _stored_records(pages: Sequence[ExtractedPage]) -> dict[int, list[Record]]:
    """Return the records of pages as they are stored."""
    stored: defaultdict[int, list[Record]] = defaultdict(list)
    records = Record.objects.there().of_pages([page.page.pk for page in pages])
    for record in records.select_related("cluster").order_by("pk"):
        stored[record.page_id].append(record)
    return dict(stored)


def _not_fetched_since_redesign(
    pages: Sequence[ExtractedPage], stored: Mapping[int, Sequence[Record]]
) -> set[int]:
    """Return the pages whose records are from before a redesign, and whose stored bytes are, too.

    A visit may store what a page shows now while its old bytes are extracted: it is due again then.
    """
    snapshot_by_page = {page.page.pk: page.page.snapshot for page in pages}
    stale_since_by_page = {
        page.page.pk: record.stale_since
        for page in pages
        for record in stored.get(page.page.pk, ())
        if record.stale_since is not None and record.snapshot_id == page.page.snapshot
    }
    if not stale_since_by_page:
        return set()
    visits = Page.objects.filter(pk__in=stale_since_by_page)
    return {
        pk
        for pk, at, latest in visits.values_list("pk", "visited_at", "latest_snapshot")
        if at is None or at < stale_since_by_page[pk] or latest != snapshot_by_page[pk]
    }


def _changed_clusters(site: Site, rules: Mapping[str, Rule]) -> set[str]:
    """Return the clusters that changed and have no newer rule."""
    changes = SiteChange.objects.open().filter(site=site).values_list("cluster__name", "found_at")
    return {name for name, at in changes if not _is_newer(rules.get(name), at)}


def _waiting_clusters(site: Site, rules: Mapping[str, Rule]) -> set[str]:
    """Return the clusters that wait for a check and have no newer rule."""
    alert = Alert.objects.open().filter(site=site, kind=Alert.Kind.HELD).first()
    if alert is None:
        return set()
    return {name for name in alert.clusters if not _is_newer(rules.get(name), alert.raised_at)}


def _is_newer(rule: Rule | None, at: datetime) -> bool:
    return rule is not None and rule.published_at is not None and rule.published_at > at


def _suspects(
    site: Site,
    pages: Sequence[ExtractedPage],
    rules: Mapping[str, Rule],
    stored: Mapping[int, Sequence[Record]],
) -> list[Suspect]:
    """Return the pages with doubtful constant values that no check or person has cleared since."""
    cluster_by_page = _pages_with_lost_constants(pages, rules, stored)
    without_record = [
        page for page in pages if not _has_counterpart(page, stored.get(page.page.pk, ()))
    ]
    cluster_by_page |= doubtful_pages(without_record, rules)
    if not cluster_by_page:
        return []
    page_by_snapshot = {
        page.page.snapshot: page.page.pk for page in pages if page.page.pk in cluster_by_page
    }
    snapshots = Snapshot.objects.filter(pk__in=page_by_snapshot).values_list("pk", "fetched_at")
    fetched_at_by_page = {page_by_snapshot[pk]: fetched_at for pk, fetched_at in snapshots}
    cleared_at_by_cluster = _cleared_at(site)

    suspects = []
    for page_id, cluster in cluster_by_page.items():
        cleared_at = cleared_at_by_cluster.get(cluster)
        fetched_at = fetched_at_by_page.get(page_id, timezone.now())
        if cleared_at is None or cleared_at < fetched_at:
            suspects.append(Suspect(page_id, cluster))
    return suspects


def _pages_with_lost_constants(
    pages: Sequence[ExtractedPage],
    rules: Mapping[str, Rule],
    stored: Mapping[int, Sequence[Record]],
) -> dict[int, str]:
    """Return pages where the same rule no longer gives the stored constant values, by cluster."""
    cluster_by_page: dict[int, str] = {}
    for page in pages:
        records = stored.get(page.page.pk)
        if records is None:
            continue
        first = records[0]
        rule = rules.get(first.cluster.name)
        if rule is None or rule.pk != first.rule_id:
            continue  # another rule may give other values
        if page.page.snapshot == first.snapshot_id:
            continue  # the same bytes
        if _lost_constants(records, page, rule):
            cluster_by_page[page.page.pk] = first.cluster.name
    return cluster_by_page


def _has_counterpart(page: ExtractedPage, records: Sequence[Record]) -> bool:
    """Return whether a stored record can be compared: the only one, or one still in its list."""
    keys = {line.key or "" for line in page.lines}
    return any(not record.key or record.key in keys for record in records)


def _lost_constants(records: Sequence[Record], page: ExtractedPage, rule: Rule) -> bool:
    """Return whether constant values are lost or others; of a list, in most records that are left.

    A list of which no record is left lost them if the page has no values at all.
    """
    values_by_key = {line.key or "": line.values for line in page.lines}
    if not records[0].key:
        return _lost_constant(records[0], next(iter(values_by_key.values())), rule)
    left = [record for record in records if record.key in values_by_key]
    if not left:
        return not any(values_by_key.values())
    n_lost = sum(_lost_constant(record, values_by_key[record.key], rule) for record in left)
    return n_lost > MAJORITY * len(left)


def _lost_constant(record: Record, values: Mapping[str, Any], rule: Rule) -> bool:
    """Return whether one of a record's constant values is another one now."""
    for attribute in rule.attributes:
        if not attribute.is_constant or attribute.name not in record.values:
            continue
        stored, extracted = record.values[attribute.name], values.get(attribute.name)
        if not same_value(attribute.type, stored, extracted):
            return True
    return False


def _cleared_at(site: Site) -> dict[str, datetime]:
    """Return when each cluster was last found as it was, by a check or by a person."""
    cleared_at: dict[str, datetime] = {}
    for check in Check.objects.done().filter(site=site).order_by("-id")[:MAX_CHECKS_READ]:
        for verdict in check.clusters:
            if not verdict["is_broken"] and verdict["n_reachable"]:
                cleared_at.setdefault(verdict["cluster"], check.made_at)
    alerts = Alert.objects.filter(site=site, kind=Alert.Kind.HELD).exclude(ended_at=None)
    for alert in alerts.order_by("-id")[:MAX_CHECKS_READ]:
        ended_at = alert.ended_at or alert.raised_at
        for name in alert.clusters:
            cleared_at[name] = max(cleared_at.get(name, ended_at), ended_at)
    return cleared_at


def _doubtful_clusters(suspects: Sequence[Suspect], n_pages: Mapping[str, int]) -> set[str]:
    """Return the clusters most of whose pages in the batch are suspect, and several of them."""
    n_suspect = Counter(suspect.cluster for suspect in suspects)
    return {
        name
        for name, n in n_suspect.items()
        if n >= MIN_DOUBTFUL_PAGES and n > MAJORITY * n_pages[name]
    }
