"""Accept one proposal: a job publishes what was saved with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.services.pages.stored_pages import given_url_by_url
from monitoring.models import Proposal, SavedPlan
from monitoring.services.checks import fetched_pages
from monitoring.services.checks.fresh_pages import FreshPage, pages_of_source
from monitoring.services.repair.applying import apply_proposals, proposal_json
from monitoring.services.repair.repairing import plan_site, repair_key
from monitoring.services.repair.saved_plans import (
    changes_since,
    digest_of,
    outdated_text,
    save_plan,
    saved_plan_of,
    source_of,
)
from vertex.core.models import Job
from vertex.core.services.jobs.jobs import JobFailed, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest

DECIDED: Final = "Somebody has decided on the proposal meanwhile. Nothing was changed."


def acceptance_request(*, proposal: Proposal) -> JobRequest:
    """Describe the publishing of a proposal.

    Raises ValidationError where there is nothing to accept, the field test fails, or what it rests
    on has changed.
    """
    if proposal.decision == Proposal.Decision.NEEDS_ANNOTATION:
        raise ValidationError(
            f"{proposal.name} has no rule to accept; annotate its samples instead."
        )
    if proposal.field_test is False:
        raise ValidationError(
            f"The rule proposed for {proposal.name} fails the field test, so it is not published; "
            "annotate the samples that it fails on."
        )
    changes = changes_since(proposal)
    if changes:
        raise ValidationError(outdated_text(proposal, changes))
    return JobRequest(
        kind=ACCEPT_PROPOSAL,
        title=f"Repair {proposal.site.name}: accept {proposal.name}",
        subject=proposal,
        site=proposal.site,
        params={"proposal": proposal.pk},
        key=repair_key(proposal.site),
    )


def publish_proposal(run: JobRun) -> dict[str, Any]:
    """Publish what was saved with a proposal.

    1. Read the pages that it was made from.
    2. Plan the site anew, if it was made before plans were saved.
    3. Stop where anything changed that it rests on.
    4. Store its pages and publish its rule; a rule that may not be published leaves the one in use.

    A worker that goes on after another one was killed leaves the third step out: what has changed
    may be the other one's work. Raises JobFailed, UnreadableFile.
    """
    has_begun = run.job.params.get("is_checked", False)
    proposal = Proposal.objects.filter(pk=run.job.params["proposal"]).first()
    if proposal is None or not (has_begun or proposal.state == Proposal.State.WAITING):
        raise JobFailed(DECIDED)
    plan = saved_plan_of(proposal)
    fresh = _read_pages(run, proposal, plan)
    if plan is None:
        plan = _plan_anew(run, proposal, fresh)
    if not has_begun:
        _check(proposal, plan, fresh)
        with transaction.atomic():
            run.renew(message=proposal.name)
            _hold(proposal)
            run.held.update(params=run.job.params | {"is_checked": True})

    pages = {url: fresh[url] for url in plan.urls}
    (applied,) = apply_proposals(run, run.site, [proposal], pages)
    given_urls = given_url_by_url(run.site, plan.urls)
    run.report(proposal_json(proposal, applied, given_urls=given_urls))
    if applied.refusal:
        raise JobFailed(f"The rule in use stays. {applied.refusal}.")
    return {proposal.decision: 1, "accepted": int(applied.is_served)}


def is_being_published(proposal: Proposal) -> bool:
    """Return whether a job has begun to publish a proposal: nobody can reject it any more."""
    begun = Job.objects.unfinished().filter(
        key=repair_key(proposal.site), params__proposal=proposal.pk, params__is_checked=True
    )
    return begun.exists()


ACCEPT_PROPOSAL = JobKind(
    "monitoring.accept_proposal", Job.Queue.LEARN, publish_proposal, "proposal.accepted"
)


def _read_pages(run: JobRun, proposal: Proposal, plan: SavedPlan | None) -> dict[str, FreshPage]:
    """Return the pages of a plan, without one all pages that the proposal was made from, by URL."""
    source = source_of(proposal)
    if source:
        return pages_of_source(Path(source), run.site, plan.urls if plan else None, renew=run.renew)
    return fetched_pages.fresh_pages(job=proposal.job) if proposal.job else {}


def _plan_anew(run: JobRun, proposal: Proposal, fresh: dict[str, FreshPage]) -> SavedPlan:
    """Plan a proposal's site anew and save its plan. Raises JobFailed where it is another one."""
    for plan in plan_site(run, run.site, fresh):
        if plan.new.name == proposal.name and plan.decision == proposal.decision:
            return save_plan(proposal, plan, fresh)
    raise JobFailed(outdated_text(proposal, ["It would be planned otherwise now."]))


def _hold(proposal: Proposal) -> None:
    """Keep others from deciding on a proposal in this transaction. Raises JobFailed if one did."""
    waiting = Proposal.objects.waiting().select_for_update(of=("self",)).filter(pk=proposal.pk)
    if waiting.first() is None:
        raise JobFailed(DECIDED)


def _check(proposal: Proposal, plan: SavedPlan, fresh: dict[str, FreshPage]) -> None:
    """Raise JobFailed where anything changed that a proposal rests on."""
    changes = changes_since(proposal)
    pages = [fresh[url] for url in plan.urls if url in fresh]
    if digest_of(pages) != plan.pages_digest:
        changes.append("The pages that it was made from have changed.")
    if changes:
        raise JobFailed(outdated_text(proposal, changes))
