"""Hold back values that a changed site would give, until somebody or a check has looked.

Extraction asks before it stores a batch. A page is held back whose cluster has an open site change, or whose
constant values are other ones than those stored though no check since it was fetched found its cluster as it
was. The stored record stays as it is; the page stays due.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils import timezone

from clustering.models import Snapshot
from clustering.services.jobs import JobExists
from monitoring.algorithms.known_values import same_value
from monitoring.models import Alert, Check, Schedule, SiteChange
from monitoring.services.alerts import settle_alert
from monitoring.services.checking import request_checks
from rules.models import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from clustering.models import Site
    from rules.models import Rule
    from rules.services.records import ServedPage

QUORUM = 3  # pages whose constant values changed
MAJORITY = 0.5
N_CHECKS = 20  # that are looked at for the last good one


class Suspect(NamedTuple):
    """A page whose new values are not believed yet."""

    page: int
    cluster: str


def pages_held_back(
    site: Site, served: Sequence[ServedPage], rule_by_cluster: Mapping[str, Rule]
) -> set[int]:
    """Return the pages of a batch that are not to be stored now, in the caller's transaction."""
    before = _records(served)
    cluster_by_page = {
        one.page.pk: before[one.page.pk].cluster.name
        if one.page.pk in before
        else str(one.lines[0].get("cluster") or "")
        for one in served
    }
    changed = _changed_clusters(site, rule_by_cluster)
    suspects = _suspects(site, served, rule_by_cluster, before)
    doubtful = _doubtful_clusters(suspects, Counter(one.cluster.name for one in before.values()))
    waiting = _waiting_clusters(site, rule_by_cluster) | doubtful
    held = {page for page, name in cluster_by_page.items() if name in changed or name in waiting}
    if doubtful:
        _ask_for_a_check(site, waiting, len([one for one in suspects if one.cluster in doubtful]))
    if Schedule.objects.running().filter(site=site).exists():  # somebody looks soon
        held |= {one.page for one in suspects}
    _count_held(site, [cluster_by_page[page] for page in held], changed)
    return held


def _records(served: Sequence[ServedPage]) -> dict[int, Record]:
    """Return the single records of pages as they are stored; those of lists come and go."""
    records = Record.objects.there().of_pages([one.page.pk for one in served]).filter(key="")
    return {record.page_id: record for record in records.select_related("cluster")}


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
    served: Sequence[ServedPage],
    rule_by_cluster: Mapping[str, Rule],
    before: Mapping[int, Record],
) -> list[Suspect]:
    """Return the pages whose constant values were lost or changed under the same rule, unseen by a check."""
    lost = [
        one
        for one in served
        if (was := before.get(one.page.pk)) is not None
        and (rule := rule_by_cluster.get(was.cluster.name)) is not None
        and rule.pk == was.rule_id
        and one.page.snapshot != was.snapshot_id
        and _lost_constant(was, one, rule)
    ]
    if not lost:
        return []
    fetched = dict(
        Snapshot.objects.filter(pk__in=[one.page.snapshot for one in lost]).values_list("pk", "fetched_at")
    )
    good = _good_since(site)
    return [
        Suspect(one.page.pk, name)
        for one in lost
        if (name := before[one.page.pk].cluster.name)
        and (name not in good or good[name] < fetched.get(one.page.snapshot, timezone.now()))
    ]


def _lost_constant(was: Record, served: ServedPage, rule: Rule) -> bool:
    now = served.lines[0].get("record") or {}
    return any(
        attribute["name"] in was.values
        and not same_value(
            attribute.get("type", "text"), was.values[attribute["name"]], now.get(attribute["name"])
        )
        for attribute in rule.schema
        if attribute.get("is_constant")
    )


def _good_since(site: Site) -> dict[str, datetime]:
    """Return when each cluster was last found as it was, by a check or by a person."""
    good: dict[str, datetime] = {}
    for check in Check.objects.done().filter(site=site).order_by("-id")[:N_CHECKS]:
        for told in check.clusters:
            if not told["is_broken"] and told["n_reachable"]:
                good.setdefault(told["cluster"], check.made_at)
    ended = Alert.objects.filter(site=site, kind=Alert.Kind.HELD).exclude(ended_at=None).order_by("-id")
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
    return {name for name, own in pages.items() if len(own) >= QUORUM and len(own) > MAJORITY * n_known[name]}


def _ask_for_a_check(site: Site, clusters: set[str], n_pages: int) -> None:
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


def _count_held(site: Site, clusters: Sequence[str], changed: set[str]) -> None:
    for name, n in Counter(name for name in clusters if name in changed).items():
        SiteChange.objects.open().filter(site=site, cluster__name=name).update(n_held=F("n_held") + n)
