"""What people and policies decide about repairs: propose, judge each value, accept, reject."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.models import ReviewPolicy
from annotation.services.samples.sampling import samples_request
from annotation.services.verticals.policies import policy_of
from clustering.models import Cluster, Snapshot
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from monitoring.models import Check, Proposal, Schedule, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.repair.accepting import acceptance_request, is_being_published
from monitoring.services.repair.repairing import repair_request
from rules.models import Rule
from vertex.core.models import Job, User
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.services.people import audit
from vertex.core.storage import page_store
from vertex.core.texts import storable

CONFIRMED: Final = "confirmed"
ELSEWHERE: Final = "elsewhere"
GONE: Final = "gone"
DECISION_LABELS: Final = {
    CONFIRMED: "confirmed",
    ELSEWHERE: "in another place",
    GONE: "not there any more",
}
MAX_COMMENT_CHARS: Final = 500


def propose_repairs(*, paused: Collection[int] = ()) -> int:
    """Start jobs that plan the repair of sites where a check found a change; return how many.

    A site's schedule decides whether, and whether what passes the field test is accepted at once;
    where the site asks for a second person, the schedule must name that case as well.
    """
    planned = Proposal.objects.filter(site=OuterRef("site"), made_at__gt=OuterRef("found_at"))
    changes = SiteChange.objects.open().filter(~Exists(planned), found_by__source="")
    changes = changes.exclude(site__in=paused)
    changes = changes.filter(found_by__state=Check.State.DONE, site__schedule__is_active=True)
    site_by_pk = {
        change.site_id: change.site for change in changes.select_related("site__schedule")
    }
    return sum(_request_repair(site.schedule) for site in site_by_pk.values())


def _request_repair(schedule: Schedule) -> bool:
    """Request a repair if the schedule asks for one; return whether a job was created."""
    if schedule.repair == Schedule.Repair.NOTHING:
        return False
    is_accepted = accepts_alone(schedule)
    try:
        enqueue(repair_request(site=schedule.site, is_accepted=is_accepted, is_careful=is_accepted))
    except (JobExists, ValidationError):
        return False  # one is under way, or the last rule has gone
    return True


def accepts_alone(schedule: Schedule) -> bool:
    """Return whether what passes the field test is published before a person has looked."""
    if schedule.repair == Schedule.Repair.ALONE:
        return True
    needs_second = policy_of(schedule.site).publishing == ReviewPolicy.Publishing.SECOND
    return schedule.repair == Schedule.Repair.ACCEPT and not needs_second


def end_repaired_changes() -> int:
    """End the changes whose cluster got a newer rule; return how many.

    A proposal whose rule was refused is accepted where a person published that rule all the same.
    """
    _accept_published()
    newer = Rule.objects.published().filter(
        cluster=OuterRef("cluster"), published_at__gt=OuterRef("found_at")
    )
    repaired = list(SiteChange.objects.open().filter(Exists(newer)).select_related("cluster"))
    for change in repaired:
        end_change(cluster=change.cluster, end=SiteChange.End.REPAIRED)
    return len(repaired)


def _accept_published() -> None:
    """Accept the proposals that wait though the draft that was kept of them is published."""
    with_draft = Proposal.objects.waiting().exclude(rule=None)
    for rule in Rule.objects.published().filter(pk__in=with_draft.values("rule")):
        Proposal.objects.waiting().filter(rule=rule).update(
            state=Proposal.State.ACCEPTED,
            cluster=rule.cluster,
            accepted_at=rule.published_at,
            accepted_by=rule.published_by,
        )


def accept_proposal(*, proposal: Proposal, actor: User | None = None) -> Job:
    """Start a job that publishes a proposal, with the pages that it was made from.

    Raises ValidationError where there is nothing to accept, the field test fails, or what the
    proposal rests on has changed; JobExists.
    """
    _check_waiting(proposal)
    return enqueue(acceptance_request(proposal=proposal), actor=actor)


def reject_proposal(*, proposal: Proposal, comment: str = "", actor: User | None = None) -> None:
    """Reject a proposal. Raises ValidationError if it was decided on or is being published."""
    with transaction.atomic():
        _check_waiting(Proposal.objects.select_for_update(of=("self",)).get(pk=proposal.pk))
        if is_being_published(proposal):
            raise ValidationError(
                f"The rule proposed for {proposal.name} is being published this moment; "
                "when that is done,"
                " it can be rolled back."
            )
        Proposal.objects.waiting().filter(pk=proposal.pk).update(
            state=Proposal.State.REJECTED,
            rejected_at=timezone.now(),
            rejected_by=actor,
            comment=storable(comment, MAX_COMMENT_CHARS),
        )
        audit.record(
            actor=actor,
            action="proposal.rejected",
            subject=str(proposal),
            site=proposal.site,
            detail={"comment": comment},
        )
    proposal.refresh_from_db()


def decide_value(
    *, proposal: Proposal, attribute: str, decision: str, actor: User | None = None
) -> Job | None:
    """Store a person's decision on a proposed value; blank removes it.

    Returns the job that publishes the repair, once every value is confirmed. Raises
    ValidationError, JobExists.
    """
    if decision and decision not in DECISION_LABELS:
        raise ValidationError({"said": f"Must be one of {', '.join(DECISION_LABELS)}, or blank."})
    with transaction.atomic():
        locked = Proposal.objects.select_for_update(of=("self",)).get(pk=proposal.pk)
        _check_waiting(locked)
        figures = locked.attributes.get(attribute)
        if figures is None:
            raise ValidationError(f"The proposal for {locked.name} has no attribute {attribute!r}.")
        figures.pop("said", None)
        if decision:
            figures["said"] = decision
        locked.save(update_fields=["attributes"])
        audit.record(
            actor=actor,
            action="proposal.judged",
            subject=str(locked),
            site=locked.site,
            detail={"attribute": attribute, "said": decision},
        )
    proposal.refresh_from_db()
    return accept_proposal(proposal=proposal, actor=actor) if _is_confirmed(proposal) else None


def _is_confirmed(proposal: Proposal) -> bool:
    """Return whether a person confirmed every value of a proposal."""
    decisions = [figures.get("said") for figures in proposal.attributes.values()]
    return bool(decisions) and all(decision == CONFIRMED for decision in decisions)


def annotate_instead(
    *,
    proposal: Proposal,
    cluster: Cluster,
    snapshots: Iterable[Snapshot],
    actor: User | None = None,
) -> Job | None:
    """Reject a proposal and store the pages as they are now, so that they are annotated.

    Returns the job that draws the samples; None where one does so already. Raises ValidationError.
    """
    wrong = []
    for name, figures in proposal.attributes.items():
        decision = figures.get("said")
        if decision in {ELSEWHERE, GONE}:
            wrong.append(f"{name} is {DECISION_LABELS[decision]}")
    visits = [
        Visit(
            url=snapshot.page.url,
            body=page_store().read(snapshot.body),
            fetched_at=snapshot.fetched_at,
            status=snapshot.status,
            content_type=snapshot.content_type,
            final_url=snapshot.final_url,
        )
        for snapshot in snapshots
    ]
    prepared = prepare_visits(visits)
    with transaction.atomic():
        reject_proposal(proposal=proposal, comment="; ".join(wrong), actor=actor)
        store_visits(site=proposal.site, prepared=prepared)
    try:
        return enqueue(samples_request(site=proposal.site, cluster=cluster.name), actor=actor)
    except JobExists:
        return None


def _check_waiting(proposal: Proposal) -> None:
    """Raise ValidationError where a proposal was decided on before."""
    if proposal.state != Proposal.State.WAITING:
        state = proposal.get_state_display().lower()
        raise ValidationError(f"The proposal for {proposal.name} is {state} already.")
