"""What is worth annotating next, over all sites or at one."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Vertical
from annotation.services.samples import sampling
from annotation.services.samples.queue import QueueRow, queue_of
from annotation.services.verticals.verticals import assign_vertical
from clustering.views.clusters.cluster_rows import cluster_of
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import words
from vertex.core.views.toasts import tell


@needs_role(Role.EDITOR)
@require_GET
def annotate(request: HttpRequest) -> HttpResponse:
    return _queue_page(request, None)


@needs_role(Role.EDITOR)
@require_GET
def annotate_site(request: HttpRequest, name: str) -> HttpResponse:
    return _queue_page(request, get_object_or_404(Site, name=name))


def _queue_page(request: HttpRequest, site: Site | None) -> HttpResponse:
    rows = queue_of(user_of(request), site)
    query = words(request)
    rows_asked_for = [row for row in rows if not row.left_out]
    matching = [row for row in rows if all(_fits(row, word) for word in query.split())]
    context = {
        "site": site,
        "rows": [row for row in matching if not row.left_out],
        "left_out": [row for row in matching if row.left_out],
        "n_rows": len(rows),
        "n_asked_for": len(rows_asked_for),
        "query": query,
        "n_open": sum(row.step != "done" for row in rows_asked_for),
        "verticals": Vertical.objects.all(),
    }
    return render(request, "annotation/samples/annotate.html", context)


def _fits(row: QueueRow, word: str) -> bool:
    texts = [row.cluster.site.name, row.cluster.name, row.cluster.title]
    if row.vertical:
        texts.append(row.vertical.name)
    return any(word.lower() in text.lower() for text in texts)


@needs_role(Role.EDITOR)
@require_POST
def draw_cluster_samples(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Start drawing the samples of a cluster and lead to the first of them."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    try:
        enqueue(sampling.samples_request(site=site, cluster=cluster.name), actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
    except ValidationError as error:
        messages.error(request, f"The samples cannot be drawn: {' '.join(error.messages)}.")
    return redirect("annotate_page", name, cluster_name, 1)


@needs_role(Role.EDITOR)
@require_POST
def describe_cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Assign a vertical to a cluster."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    vertical = Vertical.objects.filter(name=request.POST.get("vertical", "")).first()
    if vertical is None:
        messages.error(request, "Choose a vertical: it says which attributes the pages have.")
    else:
        assign_vertical(site=site, cluster=cluster, vertical=vertical, actor=user_of(request))
        tell(request, f"{cluster.title} describes {vertical.name} now.")
    return redirect("annotate_page", name, cluster_name, 1)
