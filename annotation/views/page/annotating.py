"""One page to annotate: as it looks, with its attributes beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Concatenate, NamedTuple, ParamSpec

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.defaultfilters import truncatechars
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET

from annotation.models import Assignment, Sample, Vertical
from annotation.services.page.page_readers import read_node, read_outline
from annotation.services.page.page_states import (
    neighbours_of,
    rows_of,
    share_covered,
)
from annotation.services.page.proposals import proposals_for
from annotation.services.page.stored_pages import (
    PageUnfit,
    check_fit,
    read_page,
    snapshot_to_annotate,
)
from annotation.services.page.suggesting import CANNOT_BE_READ
from annotation.services.verticals.keys import keys_chosen
from annotation.services.verticals.verticals import ready_made_verticals
from annotation.views.verticals.origins import snapshot_of
from clustering.models import Cluster, Page, PageMembership, Snapshot
from clustering.services.children.stored import call_on_page
from clustering.views.clusters.cluster_rows import cluster_of
from vertex.core.models import Job, Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages, waits_for_children

P = ParamSpec("P")

MAX_NUMBER_DIGITS = 9
MAX_AGE = 3600  # seconds that a browser may keep what never changes
COMMANDS = (
    ("accept", "Enter", "Accept all that is shown and go on"),
    ("take", "Space", "Take the outlined node"),
    ("absent", "x", "Not on this page"),
    ("absent_rest", "X", "None of the open ones is on this page"),
    ("clear", "Backspace", "Clear the attribute"),
    ("like", "=", "Take all like these"),
    ("begin", "(", "A value begins here"),
    ("finish", ")", "A value ends here"),
    ("values", ".", "What the node holds"),
    ("find", "/", "Find a text on the page"),
    ("first", "1", "Take the first suggestion"),
    ("second", "2", "Take the second suggestion"),
    ("third", "3", "Take the third suggestion"),
    ("before", "<", "Sample before"),
    ("after", ">", "Next sample"),
    ("undo", "u", "Undo"),
    ("redo", "U", "Redo"),
)


class AnnotateRequest(NamedTuple):
    """A page that somebody wants to annotate, and where it belongs."""

    site: Site
    cluster: Cluster | None
    page: Page
    sample: Sample | None
    snapshot: Snapshot


@reads_pages
@needs_role(Role.EDITOR)
@require_GET
def annotate_page(
    request: HttpRequest, name: str, cluster_name: str = "", rank: int = 0, pk: int = 0
) -> HttpResponse:
    """Show a sample of a cluster, or any page.

    Where the page itself asks for it, only what changes from one to the next is answered.
    """
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name) if cluster_name else None
    if cluster is not None and not Sample.objects.filter(cluster=cluster).exists():
        return _blocked(request, site, cluster, "samples")
    try:
        target = _sample_asked(site, cluster, rank) if cluster else _page_asked(site, pk)
        context = _context(target)
    except PageUnfit as error:
        return _blocked(request, site, cluster, "unfit", str(error), rank=rank, pk=pk)
    if context["vertical"] is None:
        return _blocked(request, site, target.cluster, "vertical", rank=rank, pk=pk)
    if request.headers.get("X-Part") != "sample":
        context["own_keys"] = json.dumps(keys_chosen(user_of(request)))
        return render(request, "annotation/page/annotate_page.html", context)
    answer = render(request, "annotation/page/sample.html", context)
    answer["Cache-Control"] = "no-store"  # going back in the history must not find the part
    return answer


def _sample_asked(site: Site, cluster: Cluster, rank: int) -> AnnotateRequest:
    sample = (
        Sample.objects.filter(cluster=cluster, rank=rank)
        .select_related("page__site", "snapshot")
        .first()
    )
    if sample is None:
        raise Http404(f"{cluster.title} has no sample {rank}.")
    check_fit(sample.snapshot)
    return AnnotateRequest(site, cluster, sample.page, sample, sample.snapshot)


def _page_asked(site: Site, pk: int) -> AnnotateRequest:
    page = get_object_or_404(
        Page.objects.select_related("site", "latest_snapshot"), site=site, pk=pk
    )
    cluster = PageMembership.objects.current().cluster_of(page.pk)
    sample = Sample.objects.filter(page=page, cluster=cluster).select_related("snapshot").first()
    return AnnotateRequest(
        site, cluster, page, sample, sample.snapshot if sample else snapshot_to_annotate(page)
    )


def _context(target: AnnotateRequest) -> dict[str, Any]:
    vertical = Assignment.objects.vertical_of(target.site, target.cluster)
    shown = read_page(target.snapshot)
    attributes = vertical.attributes.live() if vertical else []
    around = neighbours_of(target.cluster, target.page) if target.cluster else None
    return {
        "site": target.site,
        "cluster": target.cluster,
        "page": target.page,
        "sample": target.sample,
        "snapshot": target.snapshot,
        "vertical": vertical,
        "rows": rows_of(shown, target.snapshot, attributes),
        "around": around,
        "covered": share_covered(target.sample) if target.sample else None,
        "commands": COMMANDS,
        "verticals": Vertical.objects.all(),
        **_addresses(target),
    }


def _addresses(target: AnnotateRequest) -> dict[str, str]:
    """Return the addresses of other apps' parts; blank for those that this installation lacks."""
    site = target.site.name
    cluster = target.cluster.name if target.cluster else ""
    return {
        "rule_panel": _address("rule_panel", site, cluster) if cluster else "",
        "rule_prefill": _address("rule_prefill", site, cluster, target.snapshot.pk)
        if cluster
        else "",
        "page_comments": _address("page_comments", site, target.page.pk),
        "effort": _address("effort"),
    }


def _address(name: str, *args: object) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def _blocked(
    request: HttpRequest,
    site: Site,
    cluster: Cluster | None,
    why: str,
    text: str = "",
    *,
    rank: int = 0,
    pk: int = 0,
) -> HttpResponse:
    """Show what has to be done before anything can be annotated, and offer it."""
    job = (
        Job.objects.unfinished()
        .filter(site=site, task="annotation.draw_samples")
        .order_by("pk")
        .first()
    )
    loaded = set(Vertical.objects.values_list("name", flat=True))
    other_samples = Sample.objects.none()
    has_pages = False
    if cluster is not None:
        samples = Sample.objects.filter(cluster=cluster).exclude(rank=rank)
        other_samples = samples.order_by("rank")[:5]
        has_pages = Cluster.objects.present().filter(pk=cluster.pk).exists()
    context = {
        "ready_made": [plan for plan in ready_made_verticals() if plan.name not in loaded],
        "snapshot": snapshot_of(cluster, rank) if cluster and why == "vertical" else None,
        "site": site,
        "cluster": cluster,
        "why": why,
        "text": text,
        "job": job,
        "is_live": job is not None,
        "rank": rank,
        "pk": pk,
        "other_samples": other_samples,
        "verticals": Vertical.objects.all(),
        "has_pages": has_pages,
    }
    return render(request, "annotation/page/annotate_blocked.html", context, status=200)


@waits_for_children
@needs_role(Role.EDITOR)
@require_GET
def page_outline(_request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> JsonResponse:
    """Return each element's name, parent and text, by which people go through the page."""
    answer = JsonResponse(read_of_page(_snapshot(name, pk, snapshot_pk), read_outline))
    answer["Cache-Control"] = f"private, max-age={MAX_AGE}"  # a snapshot never changes
    return answer


@waits_for_children
@needs_role(Role.EDITOR)
@require_GET
def page_node(request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> HttpResponse:
    """Show what an element holds; without a number what the head of the page says."""
    wanted = request.GET.get("number", "")
    is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) <= MAX_NUMBER_DIGITS
    if wanted and not is_number:
        raise Http404(f"The page has no element {wanted[:20]!r}.")
    snapshot = _snapshot(name, pk, snapshot_pk)
    node = read_of_page(snapshot, read_node, int(wanted) if wanted else None)
    if not node:
        raise Http404(f"The page has no element {wanted}.")
    if not wanted:
        context = {"values": node["values"], "is_head": True}
        return render(request, "annotation/page/node.html", context)
    texts = [value["text"] for value in node["values"] if value["label"] == "text"]
    context = {
        "values": node["values"],
        "text": truncatechars(texts[0] if texts else "", 5_000),
        "number": wanted,
        "path": node["path"],
    }
    return render(request, "annotation/page/node.html", context)


@waits_for_children
@needs_role(Role.EDITOR)
@require_GET
def page_suggestions(_request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> JsonResponse:
    """Return what is proposed for each attribute of a page, best first."""
    snapshot = _snapshot(name, pk, snapshot_pk)
    cluster = PageMembership.objects.current().cluster_of(snapshot.page_id)
    vertical = Assignment.objects.vertical_of(snapshot.page.site, cluster)
    attributes = list(vertical.attributes.live()) if vertical else []
    return JsonResponse(proposals_for(snapshot, cluster, attributes))


def _snapshot(name: str, pk: int, snapshot_pk: int) -> Snapshot:
    """Return a snapshot that can be annotated. Raises Http404."""
    snapshots = Snapshot.objects.select_related("page__site")
    snapshot = get_object_or_404(snapshots, page__site__name=name, page=pk, pk=snapshot_pk)
    try:
        check_fit(snapshot)
    except PageUnfit as error:
        raise Http404(str(error)) from None
    return snapshot


def read_of_page(
    snapshot: Snapshot,
    read: Callable[Concatenate[bytes, str, P], dict[str, Any]],
    *args: P.args,
    **named: P.kwargs,
) -> dict[str, Any]:
    """Return what a limited child reads of a page. Raises Http404, ChildrenBusy."""
    try:
        return call_on_page(snapshot, read, *args, **named)
    except CANNOT_BE_READ as error:
        raise Http404(f"The page cannot be read: {error}.") from None
