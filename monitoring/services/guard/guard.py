"""Hold back values that a changed site would give, until somebody or a check has looked.

Extraction asks before it stores a batch (`pages_to_hold`), and after it for what follows (`follow_up_held`):
an alert and a check. A page is held back whose cluster has an open site change, or whose
constant values are other ones than those stored though no check since it was fetched found its cluster as it
was; and a page without a record before whose constant values are not like those of the others. The stored
record stays as it is; the page stays due.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils import timezone

from clustering.models import Snapshot
from monitoring.algorithms.known_values import same_value
from monitoring.models import Alert, Check, Schedule, SiteChange
from monitoring.services.checks.checking import request_checks
from monitoring.services.guard.unverified_pages import doubtful_newcomers
from monitoring.services.notices.alerts import settle_alert
from rules.models import Record, Rule
from rules.services.records.storing import ExtractedPage
from rules.services.seams import HeldPage, HeldPages, HoldReason
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobExists

QUORUM = 3  # pages whose constant values changed
MAJORITY = 0.5
N_CHECKS = 20  # that are looked at for the last good one


class Suspect(NamedTuple):
    """A page whose new values are not believed yet."""

    page: int
    cluster: str


def pages_to_hold(
    site: Site, served: Sequence[ExtractedPage], rule_by_cluster: Mapping[str, Rule]
) -> HeldPages:
    """Return the pages of a batch that are not to be stored now, and what to check for that."""
    before = _records(served)
    cluster_by_page = {
        one.page.pk: before[one.page.pk][0].cluster.name
        if one.page.pk in before
        else one.lines[0].cluster or ""
        for one in served
    }
    changed = _changed_clusters(site, rule_by_cluster)
    suspects = _suspects(site, served, rule_by_cluster, before)
    doubtful = _doubtful_clusters(
        suspects, Counter(name for name in cluster_by_page.values() if name)
    )
    doubtful -= changed  # there a check has looked already
    waiting = _waiting_clusters(site, rule_by_cluster) | doubtful
    is_checked_soon = Schedule.objects.running().filter(site=site).exists()
    doubtful_pages = {one.page for one in suspects} if is_checked_soon else set()
    held = []
    for page, name in cluster_by_page.items():
        if name in changed:
            held.append(HeldPage(page, name, HoldReason.SITE_CHANGED))
        elif name in waiting:
            held.append(HeldPage(page, name, HoldReason.AWAITS_CHECK))
        elif page in doubtful_pages:
            held.append(HeldPage(page, name, HoldReason.VALUES_CHANGED))
    if not doubtful:
        return HeldPages(held)
    n_doubtful = sum(one.cluster in doubtful for one in suspects)
    return HeldPages(held, frozenset(waiting), n_doubtful)


def follow_up_held(site: Site, held: HeldPages) -> None:
    """Count the pages held back by site changes; alert people and request a check where one is needed."""
    if held.clusters_to_check:
        _ask_for_a_check(site, held.clusters_to_check, held.n_doubtful)
    n_by_cluster = Counter(
        page.cluster for page in held.pages if page.reason is HoldReason.SITE_CHANGED
    )
    for name, n in n_by_cluster.items():
        changes = SiteChange.objects.open().filter(site=site, cluster__name=name)
        changes.update(n_held=F("n_held") + n)


def _records(served: Sequence[ExtractedPage]) -> dict[int, list[Record]]:
    """Return the records of pages as they are stored."""
    found: defaultdict[int, list[Record]] = defaultdict(list)
    records = Record.objects.there().of_pages([one.page.pk for one in served])
    for record in records.select_related("cluster").order_by("pk"):
        found[record.page_id].append(record)
    return dict(found)


def _changed_clusters(site: Site, rules: Mapping[str, Rule]) -> set[str]:
    """Return the clusters that changed and have no newer rule."""
    changes = SiteChange.objects.open().filter(site=site).values_list("cluster__name", "found_at")
    return {name for name, at in changes if not _is_newer(rules.get(name), at)}


def _waiting_clusters(site: Site, rules: Mapping[str, Rule]) -> set[str]:
    alert = Alert.objects.open().filter(site=site, kind=Alert.Kind.HELD).first()
    if alert is None:
        return set()
    return {name for name in alert.clusters if not _is_newer(rules.get(name), alert.raised_at)}


def _is_newer(rule: Rule | None, at: datetime) -> bool:
    return rule is not None and rule.published_at is not None and rule.published_at > at


def _suspects(
    site: Site,
    served: Sequence[ExtractedPage],
    rule_by_cluster: Mapping[str, Rule],
    before: Mapping[int, Sequence[Record]],
) -> list[Suspect]:
    """Return the pages whose constant values are not to be believed, unseen by a check."""
    lost = {
        one.page.pk: was[0].cluster.name
        for one in served
        if (was := before.get(one.page.pk)) is not None
        and (rule := rule_by_cluster.get(was[0].cluster.name)) is not None
        and rule.pk == was[0].rule_id
        and one.page.snapshot != was[0].snapshot_id
        and _lost_constants(was, one, rule)
    }
    compared = [one.page.pk for one in served if _may_be_compared(before.get(one.page.pk, []), one)]
    lost |= doubtful_newcomers(served, rule_by_cluster, compared)
    if not lost:
        return []
    snapshots = {one.page.snapshot: one.page.pk for one in served if one.page.pk in lost}
    rows = Snapshot.objects.filter(pk__in=snapshots).values_list("pk", "fetched_at")
    fetched = {snapshots[pk]: at for pk, at in rows}
    good = _good_since(site)
    return [
        Suspect(page, name)
        for page, name in lost.items()
        if name not in good or good[name] < fetched.get(page, timezone.now())
    ]


def _may_be_compared(was: Sequence[Record], served: ExtractedPage) -> bool:
    """Say whether a page has a record of before: a single one, or one of a list that is still there."""
    keys = {line.key or "" for line in served.lines}
    return any(not record.key or record.key in keys for record in was)


def _lost_constants(was: Sequence[Record], served: ExtractedPage, rule: Rule) -> bool:
    """Say whether constant values of a page are lost or others; of a list, those of most of its records."""
    lines = {line.key or "": line.values for line in served.lines}
    if not was[0].key:
        return _lost_constant(was[0], next(iter(lines.values())), rule)
    same = [record for record in was if record.key in lines]
    if not same:
        return not any(lines.values())
    return sum(_lost_constant(one, lines[one.key], rule) for one in same) > MAJORITY * len(same)


def _lost_constant(was: Record, now: Mapping[str, Any], rule: Rule) -> bool:
    return any(
        attribute.name in was.values
        and not same_value(attribute.type, was.values[attribute.name], now.get(attribute.name))
        for attribute in rule.attributes
        if attribute.is_constant
    )


def _good_since(site: Site) -> dict[str, datetime]:
    """Return when each cluster was last found as it was, by a check or by a person."""
    good: dict[str, datetime] = {}
    for check in Check.objects.done().filter(site=site).order_by("-id")[:N_CHECKS]:
        for told in check.clusters:
            if not told["is_broken"] and told["n_reachable"]:
                good.setdefault(told["cluster"], check.made_at)
    ended = (
        Alert.objects.filter(site=site, kind=Alert.Kind.HELD).exclude(ended_at=None).order_by("-id")
    )
    for alert in ended[:N_CHECKS]:
        at = alert.ended_at or alert.raised_at
        for name in alert.clusters:
            good[name] = max(good.get(name, at), at)
    return good


def _doubtful_clusters(suspects: Sequence[Suspect], n_known: Counter[str]) -> set[str]:
    """Return the clusters of which a quorum of the pages lost constant values."""
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for one in suspects:
        pages[one.cluster].add(one.page)
    return {
        name
        for name, own in pages.items()
        if len(own) >= QUORUM and len(own) > MAJORITY * n_known[name]
    }


def _ask_for_a_check(site: Site, clusters: Collection[str], n_pages: int) -> None:
    """Alert somebody and let the bellwethers be looked at."""
    settle_alert(
        site=site,
        kind=Alert.Kind.HELD,
        text=f"constant values of {n_pages:,} pages are other ones than before; "
        "new values are held back until a check has looked",
        clusters=clusters,
    )
    try:
        request_checks(site=site, is_audited=False)
    except (JobExists, ValidationError):
        return  # one is under way, or the last rule went meanwhile
