"""What people change about clusters: move pages, merge, split and rename, and undo all of it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from clustering.forms.clusters import MergeForm, MovePagesForm, RenameForm, first_error
from clustering.models import ClusterChange
from clustering.services.clusters import cluster_changes as services
from clustering.services.clusters.splitting import split_request
from clustering.views.clusters.cluster_rows import cluster_of
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages, waits_for_others
from vertex.core.views.toasts import tell, tell_of_job
from vertex.core.views.ways_back import way_back


@reads_pages
@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def move_pages(request: HttpRequest, name: str) -> HttpResponse:
    """Move the selected pages to a cluster, or to a new one where none is chosen."""
    site = get_object_or_404(Site, name=name)
    form = MovePagesForm(request.POST)
    if not form.is_valid():
        return refuse(request, site, first_error(form))
    pages, actor = form.cleaned_data["pages"], user_of(request)
    try:
        if form.cleaned_data["to"]:
            to = cluster_of(site, form.cleaned_data["to"])
            change = services.move_pages(site=site, pages=pages, to=to, actor=actor)
        else:
            title = form.cleaned_data["title"]
            change = services.move_to_new_cluster(site=site, pages=pages, title=title, actor=actor)
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    word = "page" if len(pages) == 1 else "pages"
    offer_undo(request, f"{len(pages):,} {word} moved to {change.cluster.title}.", change)
    return go_back(request, site)


@reads_pages
@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def merge_clusters(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    merged = cluster_of(site, cluster_name)
    form = MergeForm(request.POST)
    if not form.is_valid():
        return refuse(request, site, first_error(form))
    into = cluster_of(site, form.cleaned_data["into"])
    try:
        change = services.merge_clusters(cluster=merged, into=into, actor=user_of(request))
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    offer_undo(request, f"{merged.title} is merged into {into.title}.", change)
    return redirect("cluster", name=name, cluster_name=into.name)


@reads_pages
@needs_role(Role.EDITOR)
@require_POST
def split_cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Start a job that groups the cluster's pages again, at a stricter threshold."""
    site = get_object_or_404(Site, name=name)
    split = cluster_of(site, cluster_name)
    try:
        job = enqueue(split_request(cluster=split), actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
        return redirect("job", pk=error.job.pk)
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    tell_of_job(request, job)
    return redirect("cluster", name=name, cluster_name=cluster_name)


@needs_role(Role.EDITOR)
@require_POST
def rename_cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    renamed = cluster_of(site, cluster_name)
    old_title = renamed.title
    form = RenameForm(request.POST)
    if not form.is_valid():
        return refuse(request, site, first_error(form))
    try:
        services.rename_cluster(
            cluster=renamed, title=form.cleaned_data["title"], actor=user_of(request)
        )
    except ValidationError as error:
        return refuse(request, site, " ".join(error.messages))
    renamed.refresh_from_db()
    tell(
        request,
        f"{old_title} is called {renamed.title} now.",
        undo_url=request.path,
        undo_fields=[("title", old_title)],
    )
    return redirect("cluster", name=name, cluster_name=cluster_name)


@reads_pages
@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def undo_change(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    change = _change_of(name, pk)
    try:
        services.undo_change(change=change, actor=user_of(request))
    except ValidationError as error:
        return refuse(request, change.site, " ".join(error.messages))
    again = reverse("redo_change", args=[name, pk])
    tell(
        request,
        f"{_subject_of(change)} is undone.",
        undo_url=again,
        undo_fields=field_of_next(request),
    )
    return go_back(request, change.site)


@reads_pages
@waits_for_others
@needs_role(Role.EDITOR)
@require_POST
def redo_change(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    change = _change_of(name, pk)
    try:
        services.redo_change(change=change, actor=user_of(request))
    except ValidationError as error:
        return refuse(request, change.site, " ".join(error.messages))
    offer_undo(request, f"{_subject_of(change)} is in force again.", change)
    return go_back(request, change.site)


def _change_of(name: str, pk: int) -> ClusterChange:
    return get_object_or_404(
        ClusterChange.objects.select_related("site", "cluster"), site__name=name, pk=pk
    )


def _subject_of(change: ClusterChange) -> str:
    verb = {"move": "The move to", "merge": "The merging of", "split": "The split of"}[change.kind]
    return f"{verb} {change.cluster.title}"


def offer_undo(request: HttpRequest, text: str, change: ClusterChange) -> None:
    undo = reverse("undo_change", args=[change.site.name, change.pk])
    tell(request, text, undo_url=undo, undo_fields=field_of_next(request))


def refuse(request: HttpRequest, site: Site, reason: str) -> HttpResponse:
    """Show why nothing was changed, where the person was."""
    sentence = reason[:1].upper() + reason[1:]
    messages.error(request, sentence if sentence.endswith(".") else f"{sentence}.")
    return go_back(request, site)


def field_of_next(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the field that leads back here after an undo."""
    here = request.POST.get("next", "")
    return [("next", here)] if here else []


def go_back(request: HttpRequest, site: Site) -> HttpResponse:
    """Return to where the button was pressed."""
    here = way_back(request)
    return redirect(here) if here else redirect("clusters", name=site.name)
