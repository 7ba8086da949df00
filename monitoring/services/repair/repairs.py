"""What people and policies decide about repairs: propose, accept, reject; and when a change is over."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.models import ReviewPolicy
from annotation.services.verticals.policies import policy_of
from monitoring.models import Check, Proposal, Schedule, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.repair.healing import request_healing
from rules.models import Rule
from vertex.core.models import Job, User
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.people import audit
from vertex.core.texts import storable


def accept_proposal(*, proposal: Proposal, actor: User | None = None) -> Job:
    """Let a job bring a proposal into force, with the pages that it was made from.

    Raises ValidationError where there is nothing to accept, or the field test fails; JobExists.
    """
    _refuse_decided(proposal)
    if proposal.decision == Proposal.Decision.NEEDS_ANNOTATION:
        raise ValidationError(
            f"{proposal.name} has no rule to accept; annotate its samples instead."
        )
    if proposal.field_test is False:
        raise ValidationError(
            f"The rule proposed for {proposal.name} fails the field test, so it is not published; "
            "annotate the samples that it fails on."
        )
    source = str(proposal.job.params.get("source", "")) if proposal.job else ""
    with transaction.atomic():
        job = request_healing(
            site=proposal.site,
            source=source,
            is_accepted=True,
            only=[proposal.name],
            pages_of=proposal.job_id,
            actor=actor,
        )
        audit.record(
            actor=actor, action="proposal.accepted", subject=str(proposal), site=proposal.site
        )
    return job


def reject_proposal(*, proposal: Proposal, comment: str = "", actor: User | None = None) -> None:
    """Put a proposal aside. Raises ValidationError where it was decided on before."""
    _refuse_decided(proposal)
    with transaction.atomic():
        Proposal.objects.waiting().filter(pk=proposal.pk).update(
            state=Proposal.State.REJECTED,
            rejected_at=timezone.now(),
            rejected_by=actor,
            comment=storable(comment, 500),
        )
        audit.record(
            actor=actor,
            action="proposal.rejected",
            subject=str(proposal),
            site=proposal.site,
            detail={"comment": comment},
        )
    proposal.refresh_from_db()


def propose_repairs() -> int:
    """Let jobs plan the repair of sites where a check found a change; return how many were begun.

    A site's schedule says whether, and whether what passes the field test is accepted at once; where the site
    asks for a second person, the schedule must say so for that case as well.
    """
    planned = Proposal.objects.filter(site=OuterRef("site"), made_at__gt=OuterRef("found_at"))
    changes = SiteChange.objects.open().filter(~Exists(planned), found_by__source="")
    changes = changes.filter(found_by__state=Check.State.DONE, site__schedule__is_active=True)
    sites = {}
    for change in changes.select_related("site__schedule"):
        sites[change.site.pk] = change.site
    return sum(_propose(site.schedule) for site in sites.values())


def end_repaired_changes() -> int:
    """End the changes whose cluster got a newer rule; return how many."""
    newer = Rule.objects.published().filter(
        cluster=OuterRef("cluster"), published_at__gt=OuterRef("found_at")
    )
    repaired = list(SiteChange.objects.open().filter(Exists(newer)).select_related("cluster"))
    for change in repaired:
        end_change(cluster=change.cluster, end=SiteChange.End.REPAIRED)
    return len(repaired)


def accepts_alone(schedule: Schedule) -> bool:
    """Say whether what passes the field test comes into force before a person has looked."""
    is_second_asked_for = policy_of(schedule.site).publishing == ReviewPolicy.Publishing.SECOND
    enough = Schedule.Repair.ALONE if is_second_asked_for else Schedule.Repair.ACCEPT
    return schedule.repair in {enough, Schedule.Repair.ALONE}


def _propose(schedule: Schedule) -> bool:
    if schedule.repair == Schedule.Repair.NOTHING:
        return False
    is_accepted = accepts_alone(schedule)
    try:
        request_healing(site=schedule.site, is_accepted=is_accepted, is_careful=is_accepted)
    except (JobExists, ValidationError):
        return False  # one is under way, or the last rule has gone
    return True


def _refuse_decided(proposal: Proposal) -> None:
    if proposal.state != Proposal.State.WAITING:
        told = proposal.get_state_display().lower()
        raise ValidationError(f"The proposal for {proposal.name} is {told} already.")
