"""Gather what a site's pages show: clusters and bellwethers over time, and checks at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clustering.services.clusters.clusterings import CLUSTER_SITE
from monitoring.models import Check, CheckedPage, Proposal, SiteChange
from monitoring.services.checks.check_calendar import CheckCell
from monitoring.services.checks.reports import REPAIR_TASKS
from rules.models import Rule
from vertex.core.models import Job, Site

CHECKS_IN_GRID = 16
TASKS = ("monitoring.run_checks", *REPAIR_TASKS)


class BellwetherRow(NamedTuple):
    """A cluster or a page over the last checks."""

    name: str
    title: str
    url: str
    page: int | None
    cells: Sequence[CheckCell]


class WaitingRepair(NamedTuple):
    """A proposal that waits for a decision, with the site change on whose page it is shown."""

    proposal: Proposal
    change: SiteChange | None


NOT_THERE = CheckCell(0, "none", "·", "not checked")


def grid_checks(site: Site) -> list[Check]:
    """Return the last checks of a site, the oldest first."""
    last = list(Check.objects.done().filter(site=site).order_by("-id")[:CHECKS_IN_GRID])
    return last[::-1]


def cluster_grid(site: Site, checks: Sequence[Check]) -> list[BellwetherRow]:
    """Return each watched cluster over some checks, from what the checks keep of it."""
    by_check = {
        check.pk: {verdict["cluster"]: verdict for verdict in check.clusters} for check in checks
    }
    rules = Rule.objects.published().of_site(site)
    titles = dict(rules.values_list("cluster__name", "cluster__title"))
    names = sorted(titles.keys() | {name for verdicts in by_check.values() for name in verdicts})
    return [
        BellwetherRow(
            name=name,
            title=titles.get(name, name),
            url="",
            page=None,
            cells=[_cluster_cell(check.pk, by_check[check.pk].get(name)) for check in checks],
        )
        for name in names
    ]


def page_grid(site: Site, cluster: str, checks: Sequence[Check]) -> list[BellwetherRow]:
    """Return the bellwethers of a cluster over some checks."""
    rows = CheckedPage.objects.filter(
        check_run__in=checks, cluster__site=site, cluster__name=cluster
    )
    cells: dict[tuple[int, str], dict[int, CheckCell]] = {}
    for row in rows.select_related("page").order_by("page__url"):
        cells.setdefault((row.page_id, row.page.url), {})[row.check_run_id] = _page_cell(row)
    return [
        BellwetherRow(
            name="",
            title="",
            url=url,
            page=page_id,
            cells=[cell_by_check.get(check.pk, NOT_THERE) for check in checks],
        )
        for (page_id, url), cell_by_check in cells.items()
    ]


def work_of(site: Site, tasks: Sequence[str] = TASKS) -> dict[str, Any]:
    """Return the check or repair that is at work, its clustering, and the last if it failed."""
    jobs = Job.objects.filter(site=site, task__in=tasks).order_by("-pk")
    latest = list(jobs[:6])
    running = [job for job in latest if job.state == Job.State.RUNNING]
    unfinished = [job for job in latest if not job.is_finished]
    finished = [job for job in latest if job.is_finished]
    current = next(iter([*running, *unfinished]), None)
    last_failed = None
    if current is None and finished and finished[0].state == Job.State.FAILED:
        last_failed = finished[0]
    step = None
    if running:
        clustering = Job.objects.filter(site=site, task=CLUSTER_SITE.task, state=Job.State.RUNNING)
        step = clustering.first()
    return {
        "job": current,
        "step": step,
        "last_failed": last_failed,
        "is_live": current is not None,
    }


def repairs_to_decide(site: Site) -> list[WaitingRepair]:
    """Return the repairs of a site that wait, also those of changes that are over."""
    proposals = Proposal.objects.waiting().filter(site=site, decision=Proposal.Decision.PROPOSED)
    changes = SiteChange.objects.filter(site=site).order_by("pk")
    change_by_cluster = {change.cluster_id: change for change in changes}
    return [
        WaitingRepair(proposal, change_by_cluster.get(proposal.from_cluster_id or 0))
        for proposal in proposals
    ]


def site_checks(site: Site) -> dict[str, Any]:
    """Return what a site's way through the pipeline shows of its checks."""
    last = Check.objects.latest_of(site)
    change = SiteChange.objects.filter(site=site).order_by("-id").first()
    return {"last_check": last, "last_change": change}


def _cluster_cell(check: int, verdict: Mapping[str, Any] | None) -> CheckCell:
    if verdict is None:
        return NOT_THERE
    n, of = verdict.get("n_reachable", 0), verdict.get("n_pages", 0)
    shingle, field = verdict.get("shingle_share", 0), verdict.get("field_share", 0)
    shares = f"{shingle:.0%} fail the shingle test, {field:.0%} the field test"
    state = verdict["state"]
    if verdict.get("is_broken"):
        label = Check.Verdict(state).label.lower()
        return CheckCell(check, "bad", "C", f"{label}: of {n} bellwethers {shares}")
    if state == Check.Verdict.UNREACHABLE:
        return CheckCell(check, "warning", "U", f"{n} of {of} bellwethers are there")
    if state == Check.Verdict.UNDECIDED:
        return CheckCell(check, "warning", "?", "undecided until it is seen again")
    if verdict.get("warnings") or verdict.get("is_changed_for_the_paper"):
        return CheckCell(check, "warning", "W", f"warning: of {n} bellwethers {shares}")
    return CheckCell(check, "good", "✓", f"as it was on {n} of {of} bellwethers")


def _page_cell(page: CheckedPage) -> CheckCell:
    check = page.check_run_id
    if page.outcome == CheckedPage.Outcome.UNREACHABLE:
        why = page.why.replace("_", " ") or "no answer"
        return CheckCell(check, "warning", "U", f"not reached: {why}")
    if page.outcome == CheckedPage.Outcome.OK:
        return CheckCell(check, "good", "✓", "as it was")
    if page.field_test is not False:
        return CheckCell(check, "warning", "S", "shingle test fails")
    if page.shingle_test is False:
        return CheckCell(check, "bad", "B", "shingle and field test fail")
    return CheckCell(check, "bad", "F", "field test fails")
