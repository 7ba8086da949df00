"""What is worth annotating next, over all sites or at one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Vertical
from annotation.services.samples import sampling
from annotation.services.samples.queue import QueueRow, queue_of
from annotation.services.verticals.verticals import (
    assign_vertical,
    ready_made_verticals,
    save_vertical,
)
from annotation.views.verticals.origins import MAX_DIGITS
from clustering.models import Page
from clustering.views.clusters.cluster_rows import cluster_of, pictures_of
from vertex.core.models import Role, Site, User
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of, words
from vertex.core.views.toasts import tell

TO_DO, MINE, DONE, ALL = "", "mine", "done", "all"
FILTERS = {TO_DO: "To annotate", MINE: "Mine", DONE: "Annotated", ALL: "All"}
ORDERS: dict[str, Callable[[QueueRow], Any]] = {
    "worth": lambda row: row.worth,
    "title": lambda row: (row.cluster.title.lower(), row.cluster.pk),
    "pages": lambda row: row.n_pages,
    "missing": lambda row: len(row.missing),
    "annotated": lambda row: row.n_annotated,
}
ORDERS |= {f"-{name}": order for name, order in ORDERS.items()}


class PicturedRow(NamedTuple):
    """A cluster of the queue with its most typical page, where one is stored."""

    row: QueueRow
    page: Page | None


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
    shown = choice_of(request, "show", FILTERS)
    sort = choice_of(request, "sort", ORDERS, "-worth")
    matching = [row for row in rows if all(_fits(row, word) for word in query.split())]
    rows_by_filter: dict[str, list[QueueRow]] = {ALL: [], TO_DO: [], MINE: [], DONE: []}
    for row in matching:
        if not row.left_out:
            rows_by_filter[DONE if row.step == "done" else TO_DO].append(row)
            rows_by_filter[ALL].append(row)
            if row.cluster.annotator_id == request.user.pk:
                rows_by_filter[MINE].append(row)
    listed = rows_by_filter[shown]
    if sort != "-worth":  # in which they come
        listed.sort(key=ORDERS[sort.removeprefix("-")], reverse=sort.startswith("-"))
    pictures = pictures_of([row.cluster for row in listed])
    rows_asked_for = [row for row in rows if not row.left_out]
    context = {
        "site": site,
        "rows": [PicturedRow(row, pictures.get(row.cluster.pk)) for row in listed],
        "left_out": [row for row in matching if row.left_out],
        "n_rows": len(rows),
        "n_asked_for": len(rows_asked_for),
        "query": query,
        "shown": shown,
        "sort": sort,
        "filters": [(key, word, len(rows_by_filter[key])) for key, word in FILTERS.items()],
        "n_open": sum(row.step != "done" for row in rows_asked_for),
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
    vertical = _vertical_named(request.POST.get("vertical", ""), user_of(request))
    if vertical is None:
        messages.error(request, "Choose a vertical: it says which attributes the pages have.")
    else:
        assign_vertical(site=site, cluster=cluster, vertical=vertical, actor=user_of(request))
        tell(request, f"{cluster.title} describes {vertical.name} now.")
    rank = request.POST.get("rank", "")
    is_rank = rank.isascii() and rank.isdecimal() and len(rank) <= MAX_DIGITS and int(rank) > 0
    return redirect("annotate_page", name, cluster_name, int(rank) if is_rank else 1)


def _vertical_named(name: str, actor: User) -> Vertical | None:
    """Return the vertical of that name, which is made where it is a ready-made one."""
    vertical = Vertical.objects.filter(name=name).first()
    plan = next((plan for plan in ready_made_verticals() if plan.name == name), None)
    if vertical is not None or plan is None:
        return vertical
    return save_vertical(
        name=plan.name, attributes=plan.attributes, description=plan.description, actor=actor
    )
