"""The stream of a site: how fresh its records are, the goals of its clusters, and the chain."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from clustering.models import Cluster
from monitoring.forms import GoalForm
from monitoring.services.stream.chain import STEP_BY_KEY, pause_step
from monitoring.services.stream.goals import choose_goal
from monitoring.services.stream.stream_figures import goals_of, step_states, streams_of
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell


@needs_role(Role.VIEWER)
@require_GET
def site_stream(request: HttpRequest, name: str) -> HttpResponse:
    return _show(request, get_object_or_404(Site, name=name))


@needs_role(Role.OPERATOR)
@require_POST
def save_goal(request: HttpRequest, name: str) -> HttpResponse:
    """Save the goal and the budget of one cluster."""
    site = get_object_or_404(Site, name=name)
    cluster = get_object_or_404(
        Cluster, site=site, name=request.POST.get("cluster", "").replace("\0", "")[:61]
    )
    form = GoalForm(request.POST)
    if form.is_valid():
        try:
            goal = choose_goal(cluster=cluster, actor=user_of(request), **form.cleaned_data)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return redirect("site_stream", name=name)
        tell(request, f"Records of {cluster.title} are to be fresh within {goal.goal_hours} hours.")
        return redirect("site_stream", name=name)
    return _show(request, site, refused={cluster.pk: form})


@needs_role(Role.OPERATOR)
@require_POST
def switch_step(request: HttpRequest, name: str) -> HttpResponse:
    """Pause a step of the chain, or let it go on."""
    site = get_object_or_404(Site, name=name)
    key = request.POST.get("step", "")
    is_paused = request.POST.get("paused") == "yes"
    try:
        pause_step(site=site, step=key, is_paused=is_paused, actor=user_of(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        title = STEP_BY_KEY[key].title
        tell(request, f"“{title}” is paused." if is_paused else f"“{title}” goes on.")
    return redirect("site_stream", name=name)


def _show(
    request: HttpRequest, site: Site, *, refused: dict[int, GoalForm] | None = None
) -> HttpResponse:
    refused = refused or {}
    rows = []
    for goal in goals_of(site):
        entered = {"goal_hours": goal.goal_hours, "requests_per_day": goal.requests_per_day}
        prefix = f"goal{goal.pk}_%s"
        form = refused.get(goal.cluster_id) or GoalForm(initial=entered, auto_id=prefix)
        rows.append((goal, form))
    context = {
        "site": site,
        "stream": streams_of([site.pk]).get(site.pk),
        "rows": rows,
        "states": step_states(site),
        "can_operate": user_of(request).has_role(Role.OPERATOR, site),
    }
    status = 400 if refused else 200
    return render(request, "monitoring/stream/site_stream.html", context, status=status)
