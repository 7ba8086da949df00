"""What people do about a site change: have it repaired, confirm values, annotate, or dismiss it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from monitoring.models import Proposal, SiteChange
from monitoring.services.checks import changes
from monitoring.services.repair import proposals, repairing
from monitoring.views.checks.change_rows import new_snapshots
from monitoring.views.checks.site_changes import context_of
from vertex.core.models import Role, Site
from vertex.core.services.files.files import UnreadableFile
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages
from vertex.core.views.toasts import tell


@needs_role(Role.OPERATOR)
@require_POST
def run_repair(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Start a repair from the source in which the change was found."""
    change = _change(name, pk)
    source = change.found_by.source if change.found_by else ""
    _start_repair(request, change.site, source)
    return redirect("site_change", name=name, pk=pk)


@needs_role(Role.OPERATOR)
@require_POST
def repair_site(request: HttpRequest, name: str) -> HttpResponse:
    """Start a repair without a site change: checks see none where all addresses changed."""
    _start_repair(request, get_object_or_404(Site, name=name))
    return redirect("site_monitoring", name=name)


def _start_repair(request: HttpRequest, site: Site, source: str = "") -> None:
    try:
        job = enqueue(repairing.repair_request(site=site, source=source), actor=user_of(request))
    except JobExists as error:
        messages.info(request, str(error))
    except (ValidationError, UnreadableFile) as error:
        messages.error(request, _error_text(error))
    else:
        tell(
            request, "The repair waits for a worker.", undo_url=reverse("cancel_job", args=[job.pk])
        )


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def decide_value(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Store the person's decision on a value; the last one confirmed publishes the rule."""
    proposal = _proposal(name, pk)
    attribute = request.POST.get("attribute", "")
    decision = request.POST.get("said", "")
    try:
        proposals.decide_value(
            proposal=proposal, attribute=attribute, decision=decision, actor=user_of(request)
        )
    except (JobExists, ValidationError) as error:
        return _answer(request, proposal, _error_text(error))
    return _answer(request, proposal)


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def accept_proposal(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Confirm all values at once."""
    proposal = _proposal(name, pk)
    try:
        proposals.accept_proposal(proposal=proposal, actor=user_of(request))
    except (JobExists, ValidationError) as error:
        return _answer(request, proposal, _error_text(error))
    return _answer(request, proposal)


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def annotate_instead(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Reject the proposal and annotate the pages as they are now."""
    proposal = _proposal(name, pk)
    change = _change_of(proposal)
    if change is None:
        messages.error(
            request, "The site change is over already; there is nothing to annotate for it."
        )
        return redirect("site_monitoring", name=name)
    try:
        proposals.annotate_instead(
            proposal=proposal,
            cluster=change.cluster,
            snapshots=new_snapshots(change),
            actor=user_of(request),
        )
    except ValidationError as error:
        messages.error(request, _error_text(error))
        return redirect("site_change", name=name, pk=change.pk)
    tell(
        request,
        f"The proposal is put aside; samples of {change.cluster.title} are drawn "
        "from the new pages.",
    )
    return redirect("annotate_site", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def dismiss_change(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """End the change because nothing changed."""
    change = _change(name, pk)
    try:
        changes.dismiss_change(change=change, actor=user_of(request))
    except ValidationError as error:
        messages.error(request, _error_text(error))
    else:
        tell(request, f"{change.cluster.title} counts as unchanged; its values are stored again.")
    return redirect("site_change", name=name, pk=pk)


def _change(name: str, pk: int) -> SiteChange:
    rows = SiteChange.objects.select_related("site", "cluster", "found_by", "ended_by")
    return get_object_or_404(rows, site__name=name, pk=pk)


def _proposal(name: str, pk: int) -> Proposal:
    return get_object_or_404(Proposal.objects.select_related("site", "job"), site__name=name, pk=pk)


def _change_of(proposal: Proposal) -> SiteChange | None:
    """Return the change that a proposal is about: the open one, else the last."""
    mine = SiteChange.objects.filter(cluster=proposal.from_cluster_id)
    mine = mine.select_related("site", "cluster", "found_by", "ended_by")
    return mine.open().first() or mine.order_by("-id").first()


def _answer(request: HttpRequest, proposal: Proposal, refused: str = "") -> HttpResponse:
    """Draw the repair anew where only that was asked for, otherwise go back to the page."""
    change = _change_of(proposal)
    if change is None:
        return redirect("site_monitoring", name=proposal.site.name)
    if request.headers.get("HX-Request") == "true":
        address = (
            f"{reverse('site_change', args=[proposal.site.name, change.pk])}?proposal={proposal.pk}"
        )
        shown = context_of(request, change, str(proposal.pk))
        context = shown | {"refused": refused, "live_from": address}
        return render(request, "monitoring/repair/repair.html", context)
    if refused:
        messages.error(request, refused)
    address = reverse("site_change", args=[proposal.site.name, change.pk])
    return redirect(f"{address}?proposal={proposal.pk}")


def _error_text(error: Exception) -> str:
    return " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
