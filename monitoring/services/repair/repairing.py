"""Repair a site after a change: reuse rules that still serve, propose new ones for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.models import Page, PageMembership
from clustering.services.crawl.errands import postpones
from clustering.services.pages.stored_pages import given_url_by_url
from monitoring.models import FetchedPage, Proposal
from monitoring.services.checks import fetched_pages
from monitoring.services.checks.fresh_pages import FreshPage, pages_of_source
from monitoring.services.repair.applying import AppliedProposal, apply_proposals, proposal_json
from monitoring.services.repair.former_addresses import (
    at_former_addresses,
    at_new_addresses,
    former_addresses,
)
from monitoring.services.repair.fresh_clusters import cluster_fresh
from monitoring.services.repair.plans import RepairPlan, old_clusters, plan_cluster
from monitoring.services.repair.saved_plans import save_proposals
from rules.models import GoldenRecord, Rule
from vertex.core.models import Job, Site
from vertex.core.services.files.files import check_exists
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest

MAX_FETCH_SECONDS: Final = 7_200.0
MAX_FETCHED_PAGES: Final = 80  # of a cluster, where there is no archive
MAX_NEWEST_PAGES: Final = 200  # of the site, that may be known ones at other addresses


def repair_request(
    *,
    site: Site,
    source: str = "",
    is_accepted: bool = False,
    is_careful: bool = False,
    is_patient: bool = True,
) -> JobRequest:
    """Describe the repair of a site. Raises ValidationError, UnreadableFile.

    Where it `is_accepted` and `is_careful`, what passes the field test is accepted and the others
    wait. A job that `is_patient` comes back later where another one fetches from the host.
    """
    if not Rule.objects.published().of_site(site).exists():
        raise ValidationError(
            f"{site.name} has no published rule to repair; learn one first: "
            f"manage.py learn_rules {site.name}"
        )
    path = Path(source).absolute() if source else None
    if path:
        check_exists(path)
    params = {
        "source": str(path or ""),
        "is_accepted": is_accepted,
        "is_careful": is_careful,
        "is_patient": is_patient,
    }
    return JobRequest(
        kind=HEAL_SITE,
        title=f"Repair {site.name}",
        site=site,
        params=params,
        key=repair_key(site),
        detail=params,
    )


def repair_key(site: Site) -> str:
    """Return the key of the jobs that repair a site or accept its proposals: one at a time."""
    return f"heal_site:{site.pk}"


@postpones
def repair_site(run: JobRun) -> dict[str, Any]:
    """Plan how each cluster of a job's site is served now, and apply the plans to be accepted.

    1. Read the pages as they are now, from the job's archive or from the site.
    2. Plan each cluster that they form: reuse a rule, learn one anew, or ask for annotations.
    3. Save the plans as proposals.
    4. Apply those to accept; the others wait.
    5. Save fetched pages as snapshots, so that old and new can be seen side by side.

    A worker that goes on after another one was killed applies what that one saved: a site that is
    repaired in part would be planned otherwise, and the rest of the first plan never be done.

    Returns how many plans have each decision, and how many were accepted. Raises JobFailed.
    """
    if run.job.params.get("only") is not None:  # a job of before plans were saved
        raise jobs.JobFailed("It was asked for by an earlier version. Accept the proposal again.")
    site = run.site
    fresh = _read_fresh_pages(run, site)
    if not fresh:
        raise jobs.JobFailed(
            f"No page of {site.name} could be read from "
            f"{run.job.params['source'] or site.root_url}. "
            "Nothing was changed. Open the site in a browser, or give an archive by --source."
        )
    proposals = _saved_proposals(run)
    if not proposals:
        plans = plan_site(run, site, fresh)
        proposals = save_proposals(run, site, plans, fresh)
    applied = _apply(run, site, proposals, fresh) if run.job.params["is_accepted"] else {}
    if not run.job.params["source"]:
        _save_fetched(run, site)

    given_urls = given_url_by_url(site, fresh) | {
        url: page.given_url for url, page in fresh.items() if page.given_url
    }
    for proposal in proposals:
        run.report(proposal_json(proposal, applied.get(proposal.pk), given_urls=given_urls))
    n_by_decision = Counter(str(proposal.decision) for proposal in proposals)
    n_accepted = sum(result.is_served for result in applied.values())
    return dict(sorted(n_by_decision.items())) | {"accepted": n_accepted}


HEAL_SITE = JobKind(
    "monitoring.heal_site", Job.Queue.LEARN, repair_site, "healing.requested", starts_over=True
)


def plan_site(run: JobRun, site: Site, fresh: Mapping[str, FreshPage]) -> list[RepairPlan]:
    """Return how each cluster of some pages is to be served; nothing is stored. Raises JobFailed.

    Pages whose address changed are read as if they stood where they stood before.
    """
    rules = list(Rule.objects.published().of_site(site).select_related("cluster"))
    with run.kept_alive():
        former_by_new = former_addresses(rules, fresh)
        known = at_former_addresses(fresh, former_by_new)
        clusters = cluster_fresh(site, known, renew=run.renew)
    old = old_clusters(site, rules)
    plans = []
    for number, cluster in enumerate(clusters):
        run.renew(n_done=number, n_total=len(clusters), message=cluster.name)
        with run.kept_alive():
            plan = plan_cluster(cluster, old, rules, known)
        plans.append(at_new_addresses(plan, former_by_new))
    return plans


def _saved_proposals(run: JobRun) -> list[Proposal]:
    """Return what an earlier worker saved for the job; nothing if people decided on it since."""
    proposals = list(Proposal.objects.filter(job=run.job).order_by("pk"))
    undecided = {Proposal.State.WAITING, Proposal.State.ACCEPTED}
    return proposals if {proposal.state for proposal in proposals} <= undecided else []


def _read_fresh_pages(run: JobRun, site: Site) -> dict[str, FreshPage]:
    """Return the pages as they are now, by URL.

    They come from an archive; without one, from the site: pages with golden records and some of
    each cluster, and where most of these are gone, what was found last and has no record.
    """
    source = run.job.params.get("source", "")
    if source:
        return pages_of_source(Path(source), site, renew=run.renew)
    wanted = pages_to_fetch(site)
    pages = Page.objects.filter(pk__in=wanted)
    fetched_pages.fetch_pages(run, pages, seconds=MAX_FETCH_SECONDS)
    fresh = fetched_pages.fresh_pages(job=run.job)
    n_there = sum(not page.is_error for page in fresh.values())
    if 2 * n_there < len(wanted):
        newest = Page.objects.filter(site=site, state=Page.State.STORED, records=None)
        newest_pks = list(newest.order_by("-pk").values_list("pk", flat=True)[:MAX_NEWEST_PAGES])
        pages = Page.objects.filter(pk__in=[*wanted, *newest_pks])
        fetched_pages.fetch_pages(run, pages, seconds=MAX_FETCH_SECONDS)
        fresh = fetched_pages.fresh_pages(job=run.job)
    return fresh


def pages_to_fetch(site: Site) -> set[int]:
    """Return the pages that a repair without an archive asks for, however many are gone."""
    wanted: set[int] = set()
    for rule in Rule.objects.published().of_site(site):
        golden = GoldenRecord.objects.filter(rule=rule)
        members = PageMembership.objects.of_cluster(rule.cluster_id)
        members = members.order_by("page__url_hash")
        wanted.update(golden.values_list("page", flat=True))
        wanted.update(members.values_list("page", flat=True)[:MAX_FETCHED_PAGES])
    return wanted


def _apply(
    run: JobRun, site: Site, proposals: Sequence[Proposal], fresh: Mapping[str, FreshPage]
) -> dict[int, AppliedProposal]:
    """Apply the proposals that the job is to accept; return what came of each, by its number.

    Where all are accepted, the pages that are in no cluster are stored as well.
    """
    is_careful = bool(run.job.params.get("is_careful"))
    accepted = [proposal for proposal in proposals if not is_careful or needs_no_person(proposal)]
    pages = fresh
    if len(accepted) < len(proposals):
        pages = {url: fresh[url] for proposal in accepted for url in proposal.plan.urls}
    applied = apply_proposals(run, site, accepted, pages)
    return {proposal.pk: result for proposal, result in zip(accepted, applied, strict=True)}


def needs_no_person(proposal: Proposal) -> bool:
    """Return whether a careful repair accepts a proposal: nothing of it is told by looks alone."""
    if any("certainty" in figures for figures in proposal.attributes.values()):
        return False
    return proposal.field_test is True or proposal.decision == Proposal.Decision.REUSED


def _save_fetched(run: JobRun, site: Site) -> None:
    """Save fetched pages as snapshots, so that old and new can be shown together and accepted."""
    rows = {row.page_id: row for row in FetchedPage.objects.filter(job=run.job).exclude(body="")}
    page_by_url = dict(Page.objects.filter(pk__in=list(rows)).values_list("url", "pk"))
    fresh = fetched_pages.fresh_pages(job=run.job)
    with run.kept_alive():
        bodies = fetched_pages.store_bodies((page_by_url[url], page) for url, page in fresh.items())
    with transaction.atomic():
        run.renew(message="keeping pages")
        for page_id, snapshot in fetched_pages.save_snapshots(site, bodies).items():
            FetchedPage.objects.filter(pk=rows[page_id].pk).update(snapshot=snapshot)
