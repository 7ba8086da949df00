"""What a clustering is not sure of: look at it, answer, and take answers back."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from clustering.algorithms.doubts import CERTAIN
from clustering.models import ClusterAnswer, ClusterDoubt
from clustering.services.clusters import doubts as services
from clustering.views.clusters.cluster_rows import current_clustering, work_on
from clustering.views.clusters.doubt_rows import both_sides, doubt_card, has_doubts
from vertex.core.models import Job, Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import waits_for_others
from vertex.core.views.toasts import tell, tell_of_job
from vertex.core.views.ways_back import way_back

ANSWERS = {"same": True, "different": False}


@needs_role(Role.VIEWER)
@require_GET
def doubts(request: HttpRequest, name: str) -> HttpResponse:
    """Show the doubts of the current clustering, one after the other."""
    site = get_object_or_404(Site, name=name)
    current = current_clustering(site)
    job = work_on(site)
    user = user_of(request)
    context = {
        "site": site,
        "clustering": current,
        "has_doubts": current is not None and has_doubts(current),
        "certain": f"{100 * CERTAIN:.0f} %",
        "job": job,
        "is_live": job is not None,
        "can_edit": user.has_role(Role.EDITOR, site),
        "can_operate": user.has_role(Role.OPERATOR, site),
        "n_answers": ClusterAnswer.objects.not_undone().filter(site=site).count(),
        **doubt_card(request, site, current),
    }
    return render(request, "clustering/clusters/doubts.html", context)


@needs_role(Role.VIEWER)
@require_GET
def doubt(request: HttpRequest, name: str, doubt: str) -> HttpResponse:
    """Show many pages of both sides of a doubt."""
    site = get_object_or_404(Site, name=name)
    shown = ClusterDoubt.objects.current(site).unanswered().filter(doubt=doubt).first()
    if shown is None:
        raise Http404(
            f"{name} has no open doubt {doubt}; it is settled, or the site was clustered again."
        )
    context = {
        "site": site,
        "shown": both_sides(shown),
        "can_answer": user_of(request).has_role(Role.EDITOR, site),
    }
    return render(request, "clustering/clusters/doubt.html", context)


@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def settle_doubt(request: HttpRequest, name: str, doubt: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    is_same = ANSWERS.get(request.POST.get("answer", ""))
    if is_same is None:
        messages.error(request, "Choose whether the two are the same or different.")
        return _back(request, site)
    try:
        settled = services.settle_doubt(
            site=site, doubt=doubt, is_same=is_same, actor=user_of(request)
        )
    except ValidationError as error:
        return _refuse(request, site, error)
    undo = reverse("undo_answer", args=[name, settled.answer.pk])
    tell(request, _sentence_of(settled), undo_url=undo, undo_fields=_next(request))
    return _back(request, site)


@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def undo_answer(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    answer = _answer_of(name, pk)
    try:
        job = services.undo_answer(answer=answer, actor=user_of(request))
    except ValidationError as error:
        return _refuse(request, answer.site, error)
    redo = reverse("redo_answer", args=[name, pk])
    text = f"The answer “{answer.verdict}” is undone.{_clustered_again(job)}"
    tell(request, text, undo_url=redo, undo_fields=_next(request))
    return _back(request, answer.site)


@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def redo_answer(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    answer = _answer_of(name, pk)
    try:
        job = services.redo_answer(answer=answer, actor=user_of(request))
    except ValidationError as error:
        return _refuse(request, answer.site, error)
    undo = reverse("undo_answer", args=[name, pk])
    text = f"The answer “{answer.verdict}” is in force again.{_clustered_again(job)}"
    tell(request, text, undo_url=undo, undo_fields=_next(request))
    return _back(request, answer.site)


@needs_role(Role.EDITOR)
@require_POST
def follow_answers(request: HttpRequest, name: str) -> HttpResponse:
    """Start the job by which the clusters follow the answers, where the last one failed."""
    site = get_object_or_404(Site, name=name)
    try:
        job = services.follow_answers(site=site, actor=user_of(request))
    except ValidationError as error:
        return _refuse(request, site, error)
    if job is None:
        tell(request, "The clusters follow all answers.")
    else:
        tell_of_job(request, job)
    return _back(request, site)


def _answer_of(name: str, pk: int) -> ClusterAnswer:
    answers = ClusterAnswer.objects.select_related("site", "given_by")
    return get_object_or_404(answers, site__name=name, pk=pk)


def _sentence_of(settled: services.SettledDoubt) -> str:
    """Return what a toast says of an answer, and of the earlier ones that it overrules."""
    verdict = "these two are one" if settled.answer.is_same else "these two are different"
    overruled = ""
    if settled.overruled:
        n = len(settled.overruled)
        noun, verb = ("answer", "says") if n == 1 else ("answers", "say")
        overruled = f" It overrules {n} earlier {noun} that {verb} otherwise."
    return f"Kept: {verdict}.{overruled}{_clustered_again(settled.job)}"


def _clustered_again(job: Job | None) -> str:
    return " The clusters follow in a moment." if job is not None else ""


def _refuse(request: HttpRequest, site: Site, error: ValidationError) -> HttpResponse:
    """Show why nothing was changed, where the person was."""
    reason = " ".join(error.messages)
    messages.error(request, f"{reason[:1].upper()}{reason[1:]}.")
    return _back(request, site)


def _next(request: HttpRequest) -> list[tuple[str, str]]:
    here = request.POST.get("next", "")
    return [("next", here)] if here else []


def _back(request: HttpRequest, site: Site) -> HttpResponse:
    """Return to where the button was pressed."""
    here = way_back(request)
    return redirect(here) if here else redirect("doubts", name=site.name)
