"""What the pages of a site show: its clusters and bellwethers over time, and where its checks stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from monitoring.models import Check, CheckedPage, SiteChange
from monitoring.services.checks.check_calendar import CheckCell
from rules.models import Rule
from vertex.core.models import Job, Site

CHECKS_IN_GRID = 16
REPAIR = "monitoring.heal_site"
TASKS = ("monitoring.run_checks", REPAIR)


class GridRow(NamedTuple):
    """A cluster or a page over the last checks."""

    name: str
    title: str
    url: str
    page: int | None
    cells: Sequence[CheckCell]


NOT_THERE = CheckCell(0, "none", "·", "not checked")


def grid_checks(site: Site) -> list[Check]:
    """Return the last checks of a site, the oldest first."""
    last = list(Check.objects.done().filter(site=site).order_by("-id")[:CHECKS_IN_GRID])
    return last[::-1]


def cluster_grid(site: Site, checks: Sequence[Check]) -> list[GridRow]:
    """Return each watched cluster over some checks, from what the checks keep of it."""
    by_check = {check.pk: {told["cluster"]: told for told in check.clusters} for check in checks}
    titles = dict(
        Rule.objects.published().of_site(site).values_list("cluster__name", "cluster__title")
    )
    names = sorted(titles.keys() | {name for told in by_check.values() for name in told})
    return [
        GridRow(
            name,
            titles.get(name, name),
            "",
            None,
            [_cluster_cell(check.pk, by_check[check.pk].get(name)) for check in checks],
        )
        for name in names
    ]


def page_grid(site: Site, cluster: str, checks: Sequence[Check]) -> list[GridRow]:
    """Return the bellwethers of a cluster over some checks."""
    rows = CheckedPage.objects.filter(
        check_run__in=checks, cluster__site=site, cluster__name=cluster
    )
    cells: dict[tuple[int, str], dict[int, CheckCell]] = {}
    columns = ("page", "page__url", "check_run", "outcome", "why", "shingle_test", "field_test")
    for page, url, check, outcome, why, shingle, field in rows.order_by("page__url").values_list(
        *columns
    ):
        cells.setdefault((page, url), {})[check] = _page_cell(check, outcome, why, shingle, field)
    return [
        GridRow("", "", url, page, [known.get(check.pk, NOT_THERE) for check in checks])
        for (page, url), known in cells.items()
    ]


def work_of(site: Site, tasks: Sequence[str] = TASKS) -> dict[str, Any]:
    """Return the check or repair that is at work, and the last one if it failed."""
    jobs = Job.objects.filter(site=site, task__in=tasks).order_by("-pk")
    latest = list(jobs[:6])
    job = next((one for one in latest if one.state == Job.State.RUNNING), None)
    job = job or next((one for one in latest if not one.is_finished), None)
    last = next((one for one in latest if one.is_finished), None)
    is_failed = last is not None and last.state == Job.State.FAILED and job is None
    return {"job": job, "last_failed": last if is_failed else None, "is_live": job is not None}


def site_checks(site: Site) -> dict[str, Any]:
    """Return what a site's way through the pipeline tells of its checks."""
    last = Check.objects.latest_of(site)
    change = SiteChange.objects.filter(site=site).order_by("-id").first()
    return {"last_check": last, "last_change": change}


def _cluster_cell(check: int, told: Mapping[str, Any] | None) -> CheckCell:
    if told is None:
        return NOT_THERE
    n, of = told.get("n_reachable", 0), told.get("n_pages", 0)
    shingle, field = told.get("shingle_share", 0), told.get("field_share", 0)
    shares = f"{shingle:.0%} fail the shingle test, {field:.0%} the field test"
    if told.get("is_broken"):
        return CheckCell(check, "bad", "C", f"changed: of {n} bellwethers {shares}")
    if of and n * 2 <= of:
        return CheckCell(check, "warning", "U", f"{n} of {of} bellwethers answer")
    if told.get("warnings") or told.get("is_changed_for_the_paper"):
        return CheckCell(check, "warning", "W", f"warning: of {n} bellwethers {shares}")
    return CheckCell(check, "good", "✓", f"as it was on {n} of {of} bellwethers")


def _page_cell(
    check: int,
    outcome: str,
    why: str,
    shingle: bool | None,  # noqa: FBT001 - the columns of a row
    field: bool | None,  # noqa: FBT001
) -> CheckCell:
    if outcome == CheckedPage.Outcome.UNREACHABLE:
        return CheckCell(
            check, "warning", "U", f"not reached: {why.replace('_', ' ') or 'no answer'}"
        )
    if outcome == CheckedPage.Outcome.OK:
        return CheckCell(check, "good", "✓", "as it was")
    if field is False and shingle is False:
        return CheckCell(check, "bad", "B", "shingle and field test fail")
    return (
        CheckCell(check, "bad", "F", "field test fails")
        if field is False
        else CheckCell(check, "warning", "S", "shingle test fails")
    )
