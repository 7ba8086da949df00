"""The stored page as it looks, in a frame: nothing of the page runs and nothing leaves it."""

from __future__ import annotations

import secrets

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_POST

from clustering.dom.frame.rendering import FrameScript
from clustering.models import Snapshot
from clustering.services.looks import assets, frames
from vertex.core.models import Role
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import waits_for_children

ASSET_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@waits_for_children
@xframe_options_sameorigin
@needs_role(Role.VIEWER)
@require_GET
def page_frame(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show a snapshot; with a script only within a page of this product, which has a token."""
    snapshot = _snapshot(name, pk)
    token = request.GET.get("token", "")
    is_framed = request.headers.get("Sec-Fetch-Dest", "iframe") == "iframe"
    nonce = secrets.token_urlsafe(16)
    script = None
    if is_framed and frames.is_token_of(snapshot, token):
        parent = f"{request.scheme}://{request.get_host()}"
        script = FrameScript(static("clustering/js/frame_inside.js"), nonce, token, parent)
    shown = frames.show_page(snapshot, script=script, now=timezone.now())
    return HttpResponse(
        shown.body,
        content_type="application/xhtml+xml; charset=utf-8",
        headers={
            "Content-Security-Policy": _policy(request, snapshot, nonce if script else ""),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "X-DNS-Prefetch-Control": "off",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "Cache-Control": "private, no-store",
        },
    )


@needs_role(Role.EDITOR)
@require_POST
def fetch_page_assets(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Start a job that fetches what a snapshot is drawn with, once more if it was done before."""
    snapshot = _snapshot(name, pk)
    assets.start_fetching_assets(snapshots=[snapshot], actor=user_of(request), again=True)
    if request.headers.get("HX-Request") == "true":
        return _line(request, snapshot)
    return redirect("snapshot_look", name, snapshot.page_id, snapshot.pk)


@needs_role(Role.VIEWER)
@require_GET
def page_frame_line(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show what a frame is drawn with; once its assets have come, the page around loads it anew."""
    snapshot = _snapshot(name, pk)
    response = _line(request, snapshot)
    if assets.unfinished_job(snapshot) is None:
        response["HX-Trigger"] = "frame-fetched"
    return response


@needs_role(Role.VIEWER)
@require_GET
def snapshot_look(request: HttpRequest, name: str, pk: int, snapshot_pk: int) -> HttpResponse:
    snapshot = get_object_or_404(_snapshots(name), page=pk, pk=snapshot_pk)
    context = {"site": snapshot.page.site, "shown": snapshot.page, "snapshot": snapshot}
    return render(request, "clustering/looks/snapshot_look.html", context)


@require_GET
def frame_asset(
    request: HttpRequest, snapshot: int, expires: int, signed: str, body: str
) -> HttpResponse:
    """Return an asset to whoever shows the signature of a frame, which has no session to show."""
    now = timezone.now()
    if not frames.is_signed(snapshot, body, expires, signed, now=now):
        raise PermissionDenied("The address of this file was not made here, or its time is over.")
    asset = frames.find_asset(snapshot, body)
    if asset is None:
        raise Http404("There is no such file any more.")
    return HttpResponse(
        asset.body,
        content_type=asset.content_type,
        headers={
            "Access-Control-Allow-Origin": "null",
            "Content-Security-Policy": ASSET_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": f"private, max-age={int(expires - now.timestamp())}, immutable",
        },
    )


def _policy(request: HttpRequest, snapshot: Snapshot, nonce: str) -> str:
    """Return what the frame may do: draw with this snapshot's files, and run one script at most."""
    files = request.build_absolute_uri(f"/frame-assets/{snapshot.pk}/")
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'nonce-{nonce}'" if nonce else "script-src 'none'",
            "style-src 'unsafe-inline'",
            f"img-src {files} data:",
            f"font-src {files} data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
            "sandbox allow-scripts" if nonce else "sandbox",
        ]
    )


def _snapshot(name: str, pk: int) -> Snapshot:
    return get_object_or_404(_snapshots(name), pk=pk)


def _snapshots(name: str) -> QuerySet[Snapshot]:
    return Snapshot.objects.filter(page__site__name=name).select_related("page__site")


def _line(request: HttpRequest, snapshot: Snapshot) -> HttpResponse:
    context = {"frame": frames.line_of(snapshot, user_of(request))}
    return render(request, "clustering/looks/_page_frame_line.html", context)
