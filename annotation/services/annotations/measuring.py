"""Measure how much work annotating is, as browsers report it while it is done.

A report is trusted only so far: actions of other times, of pages or attributes that are not
the site's and of unknown kinds are left out, and a person's time on a page never exceeds the
time that passed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F

from annotation.algorithms.effort import KINDS, Action, Sums, sum_up
from annotation.models import Attribute, Effort
from clustering.models import Cluster, Page
from vertex.core.models import Role, Site, User
from vertex.core.texts import storable

MAX_ACTIONS = 200  # of one report
MAX_AGE = timedelta(hours=1)  # a report may come late
MAX_CLOCK_SKEW = timedelta(seconds=5)
MAX_PAGE_ID = 2**63
COUNTS = ("seconds", "n_keys", "n_clicks", "n_accepted", "n_corrected", "n_undone", "n_done")


class _SiteAndCluster(NamedTuple):
    """Where a page belongs."""

    site: Site
    cluster: Cluster | None


def record_effort(*, person: User, actions: Sequence[Any], now: datetime) -> int:
    """Add what a person did to the sums, and return how many of the reported actions counted."""
    reported = [
        action
        for action in actions[:MAX_ACTIONS]
        if isinstance(action, dict) and _is_credible(action, now)
    ]
    pages = _pages_of(reported, person)
    attributes = _attributes_of(reported, pages)
    counted: dict[Action, None] = {}
    for action in reported:
        page = action["page"]
        if page in pages:
            attribute = attributes.get((pages[page].site.pk, action.get("attribute") or ""))
            counted[Action(page, attribute, action["action"], action["at_ms"] / 1000)] = None
    if counted:
        _add(person, list(counted), pages)
    return len(counted)


def _is_credible(action: dict[str, Any], now: datetime) -> bool:
    """Return whether an action is well formed and happened lately."""
    page, attribute, at = action.get("page"), action.get("attribute"), action.get("at_ms")
    if type(page) is not int or not 0 < page < MAX_PAGE_ID:
        return False
    if action.get("action") not in KINDS or not isinstance(attribute, str | None):
        return False
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        return False
    first, last = (now - MAX_AGE).timestamp(), (now + MAX_CLOCK_SKEW).timestamp()
    return first <= at / 1000 <= last


def _pages_of(actions: Iterable[dict[str, Any]], person: User) -> dict[int, _SiteAndCluster]:
    """Return the pages that exist where the person may annotate, with their sites and clusters."""
    cluster_by_page = {action["page"]: str(action.get("cluster") or "") for action in actions}
    pages = Page.objects.filter(
        pk__in=cluster_by_page, site__in=Site.objects.visible_to(person)
    ).select_related("site")
    sites = {site for site in {page.site for page in pages} if person.has_role(Role.EDITOR, site)}
    names = {storable(str(action.get("cluster") or "")) for action in actions}
    clusters = {
        (cluster.site_id, cluster.name): cluster
        for cluster in Cluster.objects.filter(site__in=sites, name__in=names)
    }
    site_and_cluster_by_page = {}
    for page in pages:
        if page.site in sites:
            cluster = clusters.get((page.site_id, cluster_by_page[page.pk]))
            site_and_cluster_by_page[page.pk] = _SiteAndCluster(page.site, cluster)
    return site_and_cluster_by_page


def _attributes_of(
    actions: Iterable[dict[str, Any]], pages: dict[int, _SiteAndCluster]
) -> dict[tuple[int, str], int | None]:
    """Return the attributes of the sites' verticals by site and name."""
    names = {storable(str(action.get("attribute") or "")) for action in actions}
    sites = {page.site.pk for page in pages.values()}
    rows = Attribute.objects.filter(name__in=names, vertical__assignments__site__in=sites)
    triples = rows.values_list("vertical__assignments__site", "name", "pk")
    return {(site, name): pk for site, name, pk in triples}


def _add(person: User, actions: Sequence[Action], pages: dict[int, _SiteAndCluster]) -> None:
    """Add actions to the sums of their pages and attributes, while nobody else does."""
    ids = sorted({action.page for action in actions})
    with transaction.atomic():
        locked = Page.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True)
        list(locked.values_list("pk"))
        rows = Effort.objects.filter(page__in=ids, person=person, attribute=None)
        last_at = {page: at.timestamp() for page, at in rows.values_list("page", "last_at")}
        attributes = Attribute.objects.in_bulk(
            {action.attribute for action in actions if action.attribute}
        )
        for (page, pk), sums in sum_up(actions, last_at).items():
            if pk is None:
                _add_sums(person, page, None, sums, pages[page])
            elif pk in attributes:  # it was not deleted meanwhile
                _add_sums(person, page, attributes[pk], sums, pages[page])


def _add_sums(
    person: User, page: int, attribute: Attribute | None, sums: Sums, place: _SiteAndCluster
) -> None:
    """Add sums to the row of a person, page and attribute; create it where there is none yet."""
    at = datetime.fromtimestamp(sums.last_at, UTC)
    row, is_new = Effort.objects.get_or_create(
        page_id=page,
        attribute=attribute,
        person=person,
        defaults={"site": place.site, "cluster": place.cluster, "last_at": at},
    )
    changes: dict[str, Any] = {name: F(name) + getattr(sums, name) for name in COUNTS}
    if place.cluster is not None:
        changes["cluster"] = place.cluster
    changes["last_at"] = at if is_new else max(at, row.last_at)
    Effort.objects.filter(pk=row.pk).update(**changes)
