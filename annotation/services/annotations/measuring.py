"""Take down how much work annotating is, as browsers report it while it is done.

What a browser says is not believed far: actions of other times, of pages or attributes that are not the
site's and of unknown kinds are left out, and a person's time on a page never exceeds the time that passed.
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

MOST_ACTIONS = 200  # of one report
LATEST, OLDEST = (
    timedelta(seconds=5),
    timedelta(hours=1),
)  # a report may come late, and clocks differ a little


class _Place(NamedTuple):
    site: Site
    cluster: Cluster | None


def record_effort(*, person: User, actions: Sequence[Any], now: datetime) -> int:
    """Add what a person did to the sums, and return how many of the reported actions were taken."""
    told = [
        one for one in actions[:MOST_ACTIONS] if isinstance(one, dict) and _is_credible(one, now)
    ]
    places = _places(told, person)
    attributes = _attributes(told, places)
    taken: dict[Action, None] = {}
    for one in told:
        page = one["page"]
        if page in places:
            attribute = attributes.get((places[page].site.pk, one.get("attribute") or ""))
            taken[Action(page, attribute, one["action"], one["at_ms"] / 1000)] = None
    if taken:
        _add(person, list(taken), places)
    return len(taken)


def _is_credible(told: dict[str, Any], now: datetime) -> bool:
    """Say whether an action is well formed and happened lately."""
    at, page, attribute = told.get("at_ms"), told.get("page"), told.get("attribute")
    is_number = isinstance(at, int | float) and not isinstance(at, bool) and math.isfinite(at)
    if (
        not is_number
        or type(page) is not int
        or not 0 < page < 2**63
        or told.get("action") not in KINDS
    ):
        return False
    first, last = (now - OLDEST).timestamp(), (now + LATEST).timestamp()
    is_lately = first <= at / 1000 <= last  # type: ignore[operator]  # a number, see above
    return is_lately and (attribute is None or isinstance(attribute, str))


def _places(told: Iterable[dict[str, Any]], person: User) -> dict[int, _Place]:
    """Return the pages that exist where the person may annotate, with their sites and clusters."""
    ids = {one["page"] for one in told}
    pages = Page.objects.filter(
        pk__in=ids, site__in=Site.objects.visible_to(person)
    ).select_related("site")
    allowed = {page.site for page in pages}
    allowed = {site for site in allowed if person.has_role(Role.EDITOR, site)}
    names = {storable(str(one.get("cluster") or "")) for one in told}
    clusters = {
        (c.site_id, c.name): c for c in Cluster.objects.filter(site__in=allowed, name__in=names)
    }
    named = {one["page"]: str(one.get("cluster") or "") for one in told}
    return {
        page.pk: _Place(page.site, clusters.get((page.site_id, named[page.pk])))
        for page in pages
        if page.site in allowed
    }


def _attributes(
    told: Iterable[dict[str, Any]], places: dict[int, _Place]
) -> dict[tuple[int, str], int | None]:
    """Return the attributes of the sites' verticals by site and name."""
    names = {storable(str(one.get("attribute") or "")) for one in told}
    sites = {place.site.pk for place in places.values()}
    found = Attribute.objects.filter(name__in=names, vertical__assignments__site__in=sites)
    rows = found.values_list("vertical__assignments__site", "name", "pk")
    return {(site, name): pk for site, name, pk in rows}


def _add(person: User, actions: Sequence[Action], places: dict[int, _Place]) -> None:
    pages = sorted({action.page for action in actions})
    with transaction.atomic():
        list(
            Page.objects.filter(pk__in=pages)
            .order_by("pk")
            .select_for_update(no_key=True)
            .values_list("pk")
        )
        rows = Effort.objects.filter(page__in=pages, person=person, attribute=None)
        left = {page: at.timestamp() for page, at in rows.values_list("page", "last_at")}
        found = Attribute.objects.in_bulk(
            {action.attribute for action in actions if action.attribute}
        )
        for (page, attribute), sums in sum_up(actions, left).items():
            if attribute is None or attribute in found:
                _add_sums(person, page, found.get(attribute or 0), sums, places[page])


def _add_sums(
    person: User, page: int, attribute: Attribute | None, sums: Sums, place: _Place
) -> None:
    """Add sums to the row of a person, page and attribute, which is made where it is not there yet."""
    at = datetime.fromtimestamp(sums.last_at, UTC)
    row, is_new = Effort.objects.get_or_create(
        page_id=page,
        attribute=attribute,
        person=person,
        defaults={"site": place.site, "cluster": place.cluster, "last_at": at},
    )
    counts = ("seconds", "n_keys", "n_clicks", "n_accepted", "n_corrected", "n_undone", "n_done")
    changes: dict[str, Any] = {name: F(name) + getattr(sums, name) for name in counts}
    if place.cluster is not None:
        changes["cluster"] = place.cluster
    Effort.objects.filter(pk=row.pk).update(
        last_at=at if is_new else max(at, row.last_at), **changes
    )
