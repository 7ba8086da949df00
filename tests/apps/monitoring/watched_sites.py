"""Sites with a history of checks, written row by row."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from annotation.models import Vertical
from clustering.models import Cluster
from monitoring.models import Alert, Check, Coverage, Schedule, SiteChange
from rules.models import Rule
from tests.apps.clustering.api_cast import site_of
from vertex.core.models import Site


def verdict_json(
    cluster: str, *, is_broken: bool = False, n: int = 12, answered: int | None = None
) -> dict[str, Any]:
    """Return what a check saves of a cluster."""
    share = 1.0 if is_broken else 0.0
    return {
        "cluster": cluster,
        "state": "redesigned" if is_broken else "as_it_was",
        "is_broken": is_broken,
        "is_changed_for_the_paper": is_broken,
        "reason": f"{cluster}: the field test fails" if is_broken else f"{cluster}: as it was",
        "n_reachable": n if answered is None else answered,
        "n_pages": n,
        "shingle_share": share,
        "field_share": share,
        "warnings": [],
        "structure_share": 0.0,
        "coverage": None,
    }


def ruled(site: Site, name: str = "products") -> Rule:
    """Give a site a cluster with a published rule."""
    vertical, _ = Vertical.objects.get_or_create(name="product")
    cluster = Cluster.objects.create(site=site, name=name, title=name.title())
    now = timezone.now()
    return Rule.objects.create(
        cluster=cluster,
        version=1,
        state="published",
        vertical=vertical,
        stylesheet="",
        published_at=now,
    )


def checked(site: Site, days_ago: float = 0, *, cluster: str = "products", **options: Any) -> Check:
    """Create a check of a site, some days ago."""
    at = timezone.now() - timedelta(days=days_ago)
    line = verdict_json(cluster, **options)
    return Check.objects.create(
        site=site,
        made_at=at,
        started_at=at,
        site_changed=line["is_broken"],
        verdict=_verdict(line),
        paper_verdict=line["is_broken"],
        broken=[cluster] if line["is_broken"] else [],
        rules_share=float(line["is_broken"]),
        reason=line["reason"],
        clusters=[line],
        thresholds={"pages": 0.5},
        n_pages=line["n_pages"],
        n_reachable=line["n_reachable"],
    )


def _verdict(line: dict[str, Any]) -> str:
    if line["n_reachable"] * 2 <= line["n_pages"]:
        return "unreachable"
    return str(line["state"])


def watched(name: str = "shop", *, days: int = 3, rule: bool = True) -> Site:
    """Return a site with a daily schedule, a rule, checks and coverage of the last days."""
    site = site_of(name)
    Schedule.objects.create(site=site, next_at=timezone.now() + timedelta(hours=5))
    created = ruled(site) if rule else None
    for day in range(days):
        checked(site, day + 0.01)
        today = timezone.now().date() - timedelta(days=day)
        Coverage.objects.create(
            site=site, rule=created, day=today, n_pages=20, n_served=18, n_records=18
        )
    return site


def changed(site: Site, *, at: datetime | None = None) -> SiteChange:
    """Create a site change of the products that a check found, with its alert."""
    check = checked(site, is_broken=True)
    cluster = Cluster.objects.get(site=site, name="products")
    Alert.objects.create(
        site=site,
        kind=Alert.Kind.SITE_CHANGED,
        text=check.reason,
        clusters=["products"],
        check_run=check,
    )
    return SiteChange.objects.create(
        site=site,
        cluster=cluster,
        found_by=check,
        reason=check.reason,
        evidence=check.clusters[0] | {"rules_share": 1.0, "example": None},
        found_at=at or timezone.now(),
    )
