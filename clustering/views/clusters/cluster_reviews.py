"""Look at some pages of a cluster and say whether they are of one type."""

from __future__ import annotations

import orjson
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from clustering.forms.clusters import VerdictForm, first_error
from clustering.models import Cluster, ClusterFigures, ClusterReview
from clustering.services.clusters import cluster_reviews as services
from clustering.views.clusters.cluster_rows import cluster_of, current_clustering, last_reviews
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell


@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def review_cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    shown = cluster_of(site, cluster_name)
    if request.method == "POST":
        return _take_verdict(request, site, shown)
    current = current_clustering(site)
    figures = (
        ClusterFigures.objects.filter(clustering=current, cluster=shown).first()
        if current
        else None
    )
    context = {
        "site": site,
        "cluster": shown,
        "figures": figures,
        "review": _review(shown) if figures and figures.n_pages else None,
        "verdict": last_reviews([shown.pk]).get(shown.pk),
        "next": next_to_review(site, shown),
        **_progress(site),
    }
    return render(request, "clustering/clusters/review_cluster.html", context)


def _take_verdict(request: HttpRequest, site: Site, shown: Cluster) -> HttpResponse:
    form = VerdictForm(request.POST)
    if not form.is_valid():
        messages.error(request, first_error(form))
        return redirect("review_cluster", name=site.name, cluster_name=shown.name)
    entered = form.cleaned_data
    try:
        given = services.store_review(
            cluster=shown,
            verdict=entered["verdict"],
            pages=entered["pages"],
            strangers=entered["strangers"],
            comment=entered["comment"],
            actor=user_of(request),
        )
    except ValidationError as error:
        reason = " ".join(error.messages)
        messages.error(request, f"{reason[:1].upper()}{reason[1:]}.")
        return redirect("review_cluster", name=site.name, cluster_name=shown.name)
    n = len(entered["strangers"])
    strangers = f", {n} {'stranger' if n == 1 else 'strangers'} marked" if n else ""
    tell(request, f"{shown.title}: {given.get_verdict_display().lower()}{strangers}.")
    if given.verdict == ClusterReview.Verdict.MIXED:
        return redirect("cluster", name=site.name, cluster_name=shown.name)
    following = next_to_review(site, shown)
    if following is None:
        return redirect("clusters", name=site.name)
    return redirect("review_cluster", name=site.name, cluster_name=following.name)


def _review(shown: Cluster) -> services.ReviewPages:
    """Return the pages to look at, each once."""
    found = services.pages_to_review(shown)
    strangest = {row.page_id for row in found.strangest}
    others = [row for row in found.random if row.page_id not in strangest]
    return services.ReviewPages(others, found.strangest)


def next_to_review(site: Site, after: Cluster | None = None) -> Cluster | None:
    """Return the largest cluster that nobody has given a verdict on, other than the one at hand."""
    open_ones = ClusterFigures.objects.filter(
        clustering__site=site, clustering__is_current=True, n_pages__gt=0
    )
    judged = ClusterReview.objects.filter(clustering__site=site, clustering__is_current=True)
    open_ones = open_ones.exclude(cluster__in=judged.values("cluster"))
    if after is not None:
        open_ones = open_ones.exclude(cluster=after)
    first = open_ones.select_related("cluster").first()
    return first.cluster if first else None


def _progress(site: Site) -> dict[str, int]:
    """Count the clusters of the current clustering, and those that somebody has judged in it."""
    cluster_figures = ClusterFigures.objects.filter(
        clustering__site=site, clustering__is_current=True, n_pages__gt=0
    )
    judged = ClusterReview.objects.filter(clustering__site=site, clustering__is_current=True)
    return {
        "n_clusters": cluster_figures.count(),
        "n_judged": cluster_figures.filter(cluster__in=judged.values("cluster")).count(),
    }


@needs_role(Role.VIEWER)
@require_GET
def truth_file(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Hand out the type of each page whose cluster somebody found to be of one type, as JSON lines."""
    site = get_object_or_404(Site, name=name)
    return StreamingHttpResponse(
        (
            orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
            for line in services.truth_lines(site)
        ),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{site.name}-truth.jsonl"'},
    )
