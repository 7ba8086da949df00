"""Review clusters: see some pages of one, give a verdict, go on with the next."""

from __future__ import annotations

import orjson
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from clustering.forms.clusters import VerdictForm, first_error
from clustering.models import Cluster, ClusterFigures, ClusterReview
from clustering.models.clusterings import ClusterFiguresQuerySet
from clustering.services.clusters import cluster_reviews as services
from clustering.views.clusters.cluster_rows import cluster_of, current_clustering, last_reviews
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import waits_for_others
from vertex.core.views.toasts import tell


@waits_for_others
@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def review_cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    shown = cluster_of(site, cluster_name)
    if request.method == "POST":
        return _store_verdict(request, site, shown)
    current = current_clustering(site)
    figures = current.figures.filter(cluster=shown).first() if current else None
    context = {
        "site": site,
        "cluster": shown,
        "figures": figures,
        "review": _pages_to_review(shown) if figures and figures.n_pages else None,
        "verdict": last_reviews([shown.pk]).get(shown.pk),
        "next": next_to_review(site, shown),
        **_progress(site),
    }
    return render(request, "clustering/clusters/review_cluster.html", context)


def _store_verdict(request: HttpRequest, site: Site, shown: Cluster) -> HttpResponse:
    form = VerdictForm(request.POST)
    if not form.is_valid():
        messages.error(request, first_error(form))
        return redirect("review_cluster", name=site.name, cluster_name=shown.name)
    entered = form.cleaned_data
    try:
        review = services.store_review(
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
    n_strangers = len(entered["strangers"])
    word = "stranger" if n_strangers == 1 else "strangers"
    strangers = f", {n_strangers} {word} marked" if n_strangers else ""
    tell(request, f"{shown.title}: {review.get_verdict_display().lower()}{strangers}.")
    if review.verdict == ClusterReview.Verdict.MIXED:
        return redirect("cluster", name=site.name, cluster_name=shown.name)
    following = next_to_review(site, shown)
    if following is None:
        return redirect("clusters", name=site.name)
    return redirect("review_cluster", name=site.name, cluster_name=following.name)


def _pages_to_review(shown: Cluster) -> services.ReviewPages:
    """Return the pages to look at, each once."""
    pages = services.pages_to_review(shown)
    strangest = {membership.page_id for membership in pages.strangest}
    other_memberships = [
        membership for membership in pages.random if membership.page_id not in strangest
    ]
    return services.ReviewPages(other_memberships, pages.strangest)


def next_to_review(site: Site, after: Cluster | None = None) -> Cluster | None:
    """Return the largest cluster that nobody has reviewed, other than the one at hand."""
    unreviewed = _figures(site).exclude(cluster__in=_reviews(site).values("cluster"))
    if after is not None:
        unreviewed = unreviewed.exclude(cluster=after)
    largest = unreviewed.select_related("cluster").first()
    return largest.cluster if largest else None


def _progress(site: Site) -> dict[str, int]:
    """Count the clusters of the current clustering, and those that somebody has reviewed in it."""
    reviewed = _figures(site).filter(cluster__in=_reviews(site).values("cluster"))
    return {"n_clusters": _figures(site).count(), "n_judged": reviewed.count()}


def _figures(site: Site) -> ClusterFiguresQuerySet:
    return ClusterFigures.objects.current().with_pages().filter(clustering__site=site)


def _reviews(site: Site) -> QuerySet[ClusterReview]:
    return ClusterReview.objects.filter(clustering__site=site, clustering__is_current=True)


@waits_for_others
@needs_role(Role.VIEWER)
@require_GET
def truth_file(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Return the types of pages whose cluster was found to be one type, as JSON lines."""
    site = get_object_or_404(Site, name=name)
    lines = (
        orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in services.truth_lines(site)
    )
    return StreamingHttpResponse(
        lines,
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{site.name}-truth.jsonl"'},
    )
