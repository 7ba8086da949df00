"""A site's clusters: the list, the map, one cluster with its pages, and what people changed."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from clustering.models import (
    Cluster,
    ClusterChange,
    ClusterFigures,
    Clustering,
    PageMembership,
    Snapshot,
)
from clustering.services.looks.thumbnails import examples_of, find_thumbnail
from clustering.views.clusters.cluster_rows import (
    change_rows,
    cluster_of,
    cluster_rows,
    current_clustering,
    is_mixed,
    last_reviews,
    mark_numbers,
    work_on,
)
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import both_ways, chosen, list_part, words

ORDERS = both_ways(
    {
        "size": ["n_pages", "id"],
        "cohesion": ["cohesion", "id"],
        "importance": ["importance", "id"],
    }
)
PAGE_ORDERS = both_ways({"distance": ["distance", "id"], "found": ["page", "id"]})
EXAMPLES_SHOWN = 5
CHANGES_SHOWN = 10
TARGETS_SHOWN = 500  # clusters that pages can be moved to
POINT = 3  # page, x, y
WEEK = 7 * 24 * 3600
UNTIL_DRAWN = 15  # seconds that an outline may stand in for a picture


@needs_role(Role.VIEWER)
@require_GET
def clusters(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    current = current_clustering(site)
    job = work_on(site)
    user = user_of(request)
    context: dict[str, Any] = {
        "site": site,
        "clustering": current,
        "job": job,
        "is_live": job is not None,
        "query": words(request),
        "can_edit": user.has_role(Role.EDITOR, site),
        "can_operate": user.has_role(Role.OPERATOR, site),
        "last_failed": _failed_last(site) if job is None else None,
    }
    if current is not None:
        context |= _listed(request, current, context["query"])
    return render(request, "clustering/clusters/clusters.html", context)


def _listed(request: HttpRequest, current: Clustering, query: str) -> dict[str, Any]:
    sort = chosen(request, "sort", ORDERS, "-size")
    cluster_figures = ClusterFigures.objects.filter(
        clustering=current, n_pages__gt=0
    ).select_related("cluster")
    n_clusters = cluster_figures.count()
    for word in query.split():
        cluster_figures = cluster_figures.filter(
            Q(cluster__title__icontains=word)
            | Q(cluster__name__icontains=word)
            | Q(url_pattern__icontains=word)
        )
    page = list_part(request, cluster_figures, order=ORDERS[sort])
    numbers = mark_numbers(current)
    return {
        "sort": sort,
        "page": page,
        "rows": cluster_rows(current, page.rows, numbers),
        "n_clusters": n_clusters,
        "unassigned_share": current.n_unassigned / current.n_pages if current.n_pages else 0.0,
        "has_map": bool(Clustering.objects.filter(pk=current.pk).exclude(map=[]).exists()),
    }


@needs_role(Role.VIEWER)
@require_GET
def cluster_map(request: HttpRequest, name: str) -> HttpResponse:
    """Tell the places of pages on the map, as the script that draws it reads them."""
    site = get_object_or_404(Site, name=name)
    drawn = Clustering.objects.current().defer("model").filter(site=site).first()
    if drawn is None:
        raise Http404(f"{name} has no clusters yet.")
    points = [point for point in drawn.map if isinstance(point, list) and len(point) == POINT]
    numbers = mark_numbers(drawn)
    placed = PageMembership.objects.filter(clustering=drawn, page__in=[pk for pk, *_ in points])
    values = placed.values_list("page", "cluster", "page__url", "distance")
    rows: dict[int, list[Any]] = {pk: rest for pk, *rest in values}
    listed = Cluster.objects.filter(pk__in={cluster for cluster, *_ in rows.values() if cluster})
    legend = [
        {
            "number": numbers.get(one.pk, 0),
            "title": one.title,
            "href": reverse("cluster", args=[name, one.name]),
        }
        for one in sorted(listed, key=lambda one: numbers.get(one.pk, 0))
    ]
    told = [
        {
            "x": x,
            "y": y,
            "number": numbers.get(rows[pk][0], 0) if rows[pk][0] else None,
            "url": rows[pk][1],
            "distance": rows[pk][2],
            "href": reverse("page", args=[name, pk]),
        }
        for pk, x, y in points
        if pk in rows
    ]
    return JsonResponse({"points": told, "clusters": legend, "n_pages": drawn.n_pages})


@needs_role(Role.VIEWER)
@require_GET
def cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    shown = cluster_of(site, cluster_name)
    current = current_clustering(site)
    figures = (
        ClusterFigures.objects.filter(clustering=current, cluster=shown).first()
        if current
        else None
    )
    examples = examples_of([figures], EXAMPLES_SHOWN)[figures.pk] if figures else []
    changes = ClusterChange.objects.without_detail().filter(
        Q(cluster=shown) | Q(into=shown), site=site
    )
    job = work_on(site)
    context = _pages_listed(request, site, current, shown) | {
        "cluster": shown,
        "figures": figures,
        "share": figures.n_pages / current.n_pages
        if figures and current and current.n_pages
        else None,
        "number": mark_numbers(current).get(shown.pk) if current else None,
        "examples": examples,
        "verdict": last_reviews([shown.pk]).get(shown.pk),
        "changes": change_rows(
            changes.select_related("cluster", "into", "made_by")[:CHANGES_SHOWN]
        ),
        "job": job,
        "is_live": job is not None,
        "can_review": figures is not None and figures.n_pages > 0,
        "is_mixed": job is None and figures is not None and figures.n_pages > 1 and is_mixed(shown),
    }
    return render(request, "clustering/clusters/cluster.html", context)


@needs_role(Role.VIEWER)
@require_GET
def unassigned_pages(request: HttpRequest, name: str) -> HttpResponse:
    """Show the pages in no cluster, with what puts them into one."""
    site = get_object_or_404(Site, name=name)
    current = current_clustering(site)
    context = _pages_listed(request, site, current, None)
    return render(request, "clustering/clusters/unassigned_pages.html", context)


def _pages_listed(
    request: HttpRequest, site: Site, current: Clustering | None, shown: Cluster | None
) -> dict[str, Any]:
    """Return what the table of a cluster's pages needs, with the clusters that pages can go to."""
    sort = chosen(request, "sort", PAGE_ORDERS, "-distance" if shown else "found")
    query = words(request)
    placed: QuerySet[PageMembership] = PageMembership.objects.filter(
        clustering=current, cluster=shown
    )
    for word in query.split():
        placed = placed.filter(page__url__icontains=word)
    targets = Cluster.objects.present().filter(site=site).distinct().order_by("title")
    if shown is not None:
        targets = targets.exclude(pk=shown.pk)
    user = user_of(request)
    return {
        "site": site,
        "clustering": current,
        "sort": sort,
        "query": query,
        "page": list_part(request, placed.select_related("page", "found"), order=PAGE_ORDERS[sort]),
        "targets": targets[:TARGETS_SHOWN],
        "can_edit": user.has_role(Role.EDITOR, site),
        "can_operate": user.has_role(Role.OPERATOR, site),
    }


@needs_role(Role.VIEWER)
@require_GET
def cluster_changes(request: HttpRequest, name: str) -> HttpResponse:
    """Show what people changed about the site's clusters."""
    site = get_object_or_404(Site, name=name)
    listed = ClusterChange.objects.without_detail().filter(site=site)
    page = list_part(request, listed.select_related("cluster", "into", "made_by"), order=["-id"])
    context = {
        "site": site,
        "page": page,
        "changes": change_rows(page.rows),
        "can_edit": user_of(request).has_role(Role.EDITOR, site),
    }
    return render(request, "clustering/clusters/cluster_changes.html", context)


@needs_role(Role.VIEWER)
@require_GET
def thumbnail(request: HttpRequest, name: str, body: str) -> HttpResponse:
    """Hand out the picture of a page of this site, so that a browser runs and asks for nothing for it."""
    if not Snapshot.objects.filter(body=body, page__site__name=name).exists():
        raise Http404("No page of this site has these bytes.")
    found = find_thumbnail(body)
    if found is None:
        raise Http404("The bytes of this page cannot be drawn.")
    seconds = WEEK if found.content_type == "image/png" else UNTIL_DRAWN
    return HttpResponse(
        found.picture,
        content_type=found.content_type,
        headers={
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Content-Disposition": "inline",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": f"private, max-age={seconds}",
        },
    )


def _failed_last(site: Site) -> Any:
    last = site.jobs.filter(task="clustering.cluster_site").finished().order_by("-pk").first()
    return last if last is not None and last.state == "failed" else None
