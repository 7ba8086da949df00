"""Repair a site after a change: reuse the rules that still serve, propose new ones for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.models import Cluster, Page, PageMembership
from monitoring.models import FetchedPage, Proposal
from monitoring.services.checks import fetched_pages
from monitoring.services.checks.fresh_pages import FreshPage, pages_of_source
from monitoring.services.checks.host_leases import postpones
from monitoring.services.repair.applying import AcceptedPlan, apply_plans
from monitoring.services.repair.fresh_clusters import cluster_fresh
from monitoring.services.repair.plans import (
    RepairPlan,
    evidence_json,
    old_clusters,
    plan_cluster,
    plan_json,
)
from rules.models import GoldenRecord, Rule
from vertex.core.models import Job, Site
from vertex.core.services.files.files import check_exists
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest

MAX_FETCH_SECONDS: Final = 7_200.0
MAX_FETCHED_PAGES: Final = 80  # of a cluster, where there is no archive


def repair_request(
    *,
    site: Site,
    source: str = "",
    is_accepted: bool = False,
    only: Sequence[str] | None = None,
    pages_of: int | None = None,
    is_careful: bool = False,
    is_patient: bool = True,
) -> JobRequest:
    """Describe the repair of a site. Raises ValidationError, UnreadableFile.

    `only` names the plans to be accepted, proposed before by the job `pages_of`; where it
    `is_careful`, those that pass the field test are accepted and the others wait. A job that
    `is_patient` comes back later where another one fetches from the host.
    """
    if not Rule.objects.published().of_site(site).exists():
        raise ValidationError(
            f"{site.name} has no published rule to repair; learn one first: manage.py learn_rules {site.name}"
        )
    path = Path(source).absolute() if source else None
    if path:
        check_exists(path)
    params = {
        "source": str(path or ""),
        "is_accepted": is_accepted,
        "only": list(only) if only is not None else None,
        "pages_of": pages_of,
        "is_careful": is_careful,
        "is_patient": is_patient,
    }
    return JobRequest(
        kind=HEAL_SITE,
        title=f"Repair {site.name}",
        site=site,
        params=params,
        key=f"heal_site:{site.pk}",
        detail=params,
    )


@postpones
def repair_site(run: JobRun) -> dict[str, Any]:
    """Plan how each cluster of a job's site is served as its pages are now, and apply what is to be accepted.

    1. Read the pages as they are now, from the job's archive or from the site.
    2. Cluster them without storing anything.
    3. Plan each new cluster: reuse a rule, learn one anew, or ask for annotations.
    4. Save the plans as proposals, or find the proposals that somebody accepts.
    5. Apply the plans to accept; the others wait.
    6. Save fetched pages as snapshots, so that old and new can be seen side by side.

    Returns how many plans have each decision, and how many were accepted. Raises JobFailed.
    """
    site = run.site
    rules = list(Rule.objects.published().of_site(site).select_related("cluster"))
    fresh = _read_fresh_pages(run, site, rules)
    if not fresh:
        raise jobs.JobFailed(
            f"No page of {site.name} could be read from {run.job.params['source'] or site.root_url}. "
            "Nothing was changed. Open the site in a browser, or give an archive by --source."
        )
    with run.kept_alive():
        clusters = cluster_fresh(site, fresh, renew=run.renew)
    old = old_clusters(site, rules)
    plans = []
    for number, cluster in enumerate(clusters):
        run.renew(n_done=number, n_total=len(clusters), message=cluster.name)
        with run.kept_alive():
            plans.append(plan_cluster(cluster, old, rules, fresh))
    lines = [plan_json(plan) for plan in plans]

    if run.job.params.get("only") is None:
        proposals: Sequence[Proposal | None] = _save_proposals(run, site, plans)
    else:
        proposals = _accepted_proposals(run, site, plans)
    if run.job.params["is_accepted"]:
        _apply(run, site, plans, proposals, lines, fresh)
    if not run.job.params["source"]:
        _save_fetched(run, site)

    for line in lines:
        run.report(line)
    n_by_decision = Counter(line["decision"] for line in lines)
    n_accepted = sum(bool(line.get("accepted")) for line in lines)
    return dict(sorted(n_by_decision.items())) | {"accepted": n_accepted}


HEAL_SITE = JobKind(
    "monitoring.heal_site", Job.Queue.LEARN, repair_site, "healing.requested", starts_over=True
)


def _read_fresh_pages(run: JobRun, site: Site, rules: Sequence[Rule]) -> dict[str, FreshPage]:
    """Return the pages as they are now, by URL.

    They come from an archive; without one, from the job whose proposal is accepted, as it kept
    them; without these, from the site: pages with golden records and some of each cluster.
    """
    source = run.job.params.get("source", "")
    if source:
        return pages_of_source(Path(source), site, renew=run.renew)
    proposed_by = Job.objects.filter(pk=run.job.params.get("pages_of")).first()
    if proposed_by is not None:
        fresh = fetched_pages.fresh_pages(job=proposed_by)
        if fresh:
            return fresh
    wanted: set[int] = set()
    for rule in rules:
        golden = GoldenRecord.objects.filter(rule=rule)
        members = PageMembership.objects.of_cluster(rule.cluster_id)
        members = members.order_by("page__url_hash")
        wanted.update(golden.values_list("page", flat=True))
        wanted.update(members.values_list("page", flat=True)[:MAX_FETCHED_PAGES])
    pages = Page.objects.filter(pk__in=wanted)
    fetched_pages.fetch_pages(run, site, pages, seconds=MAX_FETCH_SECONDS)
    return fetched_pages.fresh_pages(job=run.job)


def _save_proposals(run: JobRun, site: Site, plans: Sequence[RepairPlan]) -> list[Proposal]:
    """Save the plans as proposals, which replace those of before that wait."""
    cluster_by_name = {cluster.name: cluster for cluster in Cluster.objects.filter(site=site)}
    proposals = []
    for plan in plans:
        line = plan_json(plan)
        proposals.append(
            Proposal(
                site=site,
                job=run.job,
                name=plan.new.name,
                cluster=cluster_by_name.get(plan.new.name),
                from_cluster=plan.rule.cluster if plan.rule else None,
                decision=plan.decision,
                why=plan.reason,
                url_share=line["url_share"],
                n_urls=len(plan.new.urls),
                field_test=line.get("field_test"),
                attributes=line["attributes"],
                evidence=evidence_json(plan),
            )
        )
    with transaction.atomic():
        run.renew(message="storing")
        Proposal.objects.waiting().filter(site=site).update(state=Proposal.State.REPLACED)
        return Proposal.objects.bulk_create(proposals)


def _accepted_proposals(
    run: JobRun, site: Site, plans: Sequence[RepairPlan]
) -> list[Proposal | None]:
    """Return the proposal of each plan that somebody accepted by its name, None for the other plans.

    Raises JobFailed where a plan decides otherwise now.
    """
    names = run.job.params["only"]
    decisions = {plan.new.name: plan.decision for plan in plans}
    accepted = {}
    for proposal in Proposal.objects.waiting().filter(site=site, name__in=names):
        if decisions.get(proposal.name) != proposal.decision:
            raise jobs.JobFailed(
                f"{proposal.name} would be planned otherwise now; let the repair be proposed again"
            )
        accepted[proposal.name] = proposal
    return [accepted.get(plan.new.name) for plan in plans]


def _apply(
    run: JobRun,
    site: Site,
    plans: Sequence[RepairPlan],
    proposals: Sequence[Proposal | None],
    lines: Sequence[dict[str, Any]],
    fresh: Mapping[str, FreshPage],
) -> None:
    """Apply the plans that the job is to accept, and add to their lines what came of them."""
    accepted = []
    accepted_lines = []
    for plan, proposal, line in zip(plans, proposals, lines, strict=True):
        if proposal is not None and _is_to_accept(run, plan):
            accepted.append(AcceptedPlan(plan, proposal))
            accepted_lines.append(line)
    pages = fresh
    if len(accepted) < len(plans):
        urls = [url for accepted_plan in accepted for url in sorted(accepted_plan.plan.new.urls)]
        pages = {url: fresh[url] for url in urls}
    applied = apply_plans(run, site, accepted, pages)
    for line, (cluster, is_served) in zip(accepted_lines, applied, strict=True):
        line["cluster"] = cluster.name if cluster else line["cluster"]
        line["accepted"] = is_served


def _is_to_accept(run: JobRun, plan: RepairPlan) -> bool:
    params = run.job.params
    if params.get("only") is not None:
        return plan.new.name in params["only"]
    if params.get("is_careful"):
        return plan.may_be_published or plan.reused_rule is not None
    return True


def _save_fetched(run: JobRun, site: Site) -> None:
    """Save what was fetched as snapshots, so that old and new can be seen side by side and be accepted."""
    rows = {row.page_id: row for row in FetchedPage.objects.filter(job=run.job).exclude(body="")}
    page_by_url = dict(Page.objects.filter(pk__in=list(rows)).values_list("url", "pk"))
    fresh = fetched_pages.fresh_pages(job=run.job)
    with run.kept_alive():
        bodies = fetched_pages.store_bodies((page_by_url[url], page) for url, page in fresh.items())
    with transaction.atomic():
        run.renew(message="keeping pages")
        for page_id, snapshot in fetched_pages.save_snapshots(site, bodies).items():
            FetchedPage.objects.filter(pk=rows[page_id].pk).update(snapshot=snapshot)
