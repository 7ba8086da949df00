"""What people say of each value that a repair proposes; once all are confirmed, the repair is accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.services.samples.sampling import request_samples
from clustering.models import Cluster, Snapshot
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from monitoring.models import Proposal
from monitoring.services.repair.repairs import accept_proposal, reject_proposal
from vertex.core.models import Job, User
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.people import audit
from vertex.core.storage import page_store

CONFIRMED: Final = "confirmed"
ELSEWHERE: Final = "elsewhere"
GONE: Final = "gone"
SAID: Final = {CONFIRMED: "confirmed", ELSEWHERE: "in another place", GONE: "not there any more"}


def decide_value(
    *, proposal: Proposal, attribute: str, said: str, actor: User | None = None
) -> Job | None:
    """Write down what a person says of a proposed value; blank takes it back.

    Returns the job that brings the repair into force, once every value is confirmed. Raises ValidationError,
    JobExists.
    """
    if said and said not in SAID:
        raise ValidationError({"said": f"Must be one of {', '.join(SAID)}, or blank."})
    with transaction.atomic():
        locked = Proposal.objects.select_for_update(of=("self",)).get(pk=proposal.pk)
        if locked.state != Proposal.State.WAITING:
            raise ValidationError(
                f"The proposal for {locked.name} is {locked.get_state_display().lower()} already."
            )
        if attribute not in locked.attributes:
            raise ValidationError(f"The proposal for {locked.name} has no attribute {attribute!r}.")
        told = {key: value for key, value in locked.attributes[attribute].items() if key != "said"}
        locked.attributes[attribute] = told | ({"said": said} if said else {})
        locked.save(update_fields=["attributes"])
        detail = {"attribute": attribute, "said": said}
        audit.record(
            actor=actor,
            action="proposal.judged",
            subject=str(locked),
            site=locked.site,
            detail=detail,
        )
    proposal.refresh_from_db()
    return accept_proposal(proposal=proposal, actor=actor) if is_confirmed(proposal) else None


def is_confirmed(proposal: Proposal) -> bool:
    """Say whether a person confirmed every value of a proposal."""
    said = [told.get("said") for told in proposal.attributes.values()]
    return bool(said) and all(one == CONFIRMED for one in said)


def annotate_instead(
    *,
    proposal: Proposal,
    cluster: Cluster,
    snapshots: Iterable[Snapshot],
    actor: User | None = None,
) -> Job | None:
    """Put a proposal aside, and let the pages as they are now be the ones that are annotated.

    Returns the job that draws the samples; None where one does so already. Raises ValidationError.
    """
    wrong = [
        f"{name} is {SAID[told['said']]}"
        for name, told in proposal.attributes.items()
        if told.get("said") in {ELSEWHERE, GONE}
    ]
    visits = [
        Visit(
            one.page.url,
            page_store().read(one.body),
            one.fetched_at,
            one.status,
            one.content_type,
            one.final_url,
        )
        for one in snapshots
    ]
    prepared = prepare_visits(visits)
    with transaction.atomic():
        reject_proposal(proposal=proposal, comment="; ".join(wrong), actor=actor)
        store_visits(site=proposal.site, prepared=prepared)
    try:
        return request_samples(site=proposal.site, cluster=cluster.name, actor=actor)
    except JobExists:
        return None
