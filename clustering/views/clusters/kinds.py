"""What people say of a cluster's kind, of annotating it and by whom, and of its layouts."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from clustering.models import Annotating, ClusterKind
from clustering.services.clusters import kinds, layouts
from clustering.views.clusters.cluster_changes import (
    field_of_next,
    go_back,
    offer_undo,
    refuse,
)
from clustering.views.clusters.cluster_rows import cluster_of
from vertex.core.models import Role, Site
from vertex.core.texts import storable
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages, waits_for_others
from vertex.core.views.toasts import tell

MAX_ID_CHARS = 18
SENTENCES = {
    Annotating.DISMISSED.value: "{} is not asked for any more.",
    Annotating.WANTED.value: "{} is asked for now.",
    "": "{} is asked for as its kind has it.",
}


@needs_role(Role.EDITOR)
@require_POST
def set_cluster_kind(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Set a cluster's kind by hand; blank takes back what a person said."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    kind = request.POST.get("kind", "")
    try:
        before = kinds.set_kind(cluster=cluster, kind=kind, actor=user_of(request))
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    now = f"is of the kind {ClusterKind(kind).label} now" if kind else "has the kind found for it"
    tell(
        request,
        f"{cluster.title} {now}.",
        undo_url=request.path,
        undo_fields=[("kind", before), *field_of_next(request)],
    )
    return go_back(request, site)


@needs_role(Role.EDITOR)
@require_POST
def set_annotating(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Dismiss a cluster from the queue, or bring it back."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    annotating = request.POST.get("annotating", "")
    try:
        before = kinds.set_annotating(
            cluster=cluster, annotating=annotating, actor=user_of(request)
        )
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    tell(
        request,
        SENTENCES[annotating].format(cluster.title),
        undo_url=request.path,
        undo_fields=[("annotating", before), *field_of_next(request)],
    )
    return go_back(request, site)


@needs_role(Role.EDITOR)
@require_POST
def set_annotator(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Take a cluster, give it back or, as an operator, give it to somebody; blank is nobody."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    username = storable(request.POST.get("annotator", ""))
    try:
        annotator = kinds.annotator_named(site=site, username=username) if username else None
        before = kinds.set_annotator(cluster=cluster, annotator=annotator, actor=user_of(request))
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    who = f"is annotated by {annotator}" if annotator else "is free for everybody"
    tell(
        request,
        f"{cluster.title} {who} now.",
        undo_url=request.path,
        undo_fields=[("annotator", before.username if before else ""), *field_of_next(request)],
    )
    return go_back(request, site)


@reads_pages
@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def split_off_layout(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Split the pages of a layout off into a cluster of their own."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    layout = request.POST.get("layout", "")
    if not layout.isascii() or not layout.isdigit() or len(layout) > MAX_ID_CHARS:
        return refuse(request, site, "choose the layout to split off")
    try:
        change = layouts.split_off_layout(
            cluster=cluster, layout=int(layout), actor=user_of(request)
        )
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    offer_undo(request, f"A layout of {cluster.title} is a cluster of its own now.", change)
    return go_back(request, site)
