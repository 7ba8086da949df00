"""A site's clusters: the list, the map, one cluster with its pages, and what people changed."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from clustering.models import (
    Cluster,
    ClusterAnswer,
    ClusterChange,
    Clustering,
    ClusterKind,
    PageMembership,
    Snapshot,
)
from clustering.models.clusterings import ClusterFiguresQuerySet
from clustering.services.clusters.kinds import is_worth_annotating
from clustering.services.clusters.layouts import layouts_by_cluster
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
from clustering.views.clusters.doubt_rows import answer_rows, doubt_card
from vertex.core.models import Job, Role, Site, User
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import both_ways, choice_of, list_part, words

ORDERS = both_ways(
    {
        "size": ["n_pages", "id"],
        "cohesion": ["cohesion", "id"],
        "importance": ["importance", "id"],
    }
)
PAGE_ORDERS = both_ways({"distance": ["distance", "id"], "found": ["page", "id"]})
N_EXAMPLES = 5
MAX_ID_CHARS = 18
N_CHANGES = 10
N_ANSWERS = 100
MAX_TARGETS = 500  # clusters that pages can be moved to
MAX_PEOPLE = 500  # whom a cluster can be given to
POINT_LENGTH = 3  # page, x, y
PICTURE_SECONDS = 7 * 24 * 3600  # that a browser keeps it
OUTLINE_SECONDS = 15  # that an outline may stand in for a picture


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
        **doubt_card(request, site, current),
    }
    if current is not None:
        context |= _listed(request, current, context["query"])
    return render(request, "clustering/clusters/clusters.html", context)


def _listed(request: HttpRequest, current: Clustering, query: str) -> dict[str, Any]:
    sort = choice_of(request, "sort", ORDERS, "-size")
    cluster_figures = current.figures.with_pages().select_related("cluster")
    n_clusters = cluster_figures.count()
    kind_counts = _kind_counts(cluster_figures)
    kind = choice_of(request, "kind", {value: value for value, _, _ in kind_counts}, "")
    if kind:
        cluster_figures = cluster_figures.of_kind(kind)
    for word in query.split():
        cluster_figures = cluster_figures.filter(
            Q(cluster__title__icontains=word)
            | Q(cluster__name__icontains=word)
            | Q(url_pattern__icontains=word)
        )
    page = list_part(request, cluster_figures, order=ORDERS[sort])
    return {
        "sort": sort,
        "page": page,
        "rows": cluster_rows(current, page.rows),
        "n_clusters": n_clusters,
        "kind": kind,
        "kind_counts": kind_counts,
        "unassigned_share": current.n_unassigned / current.n_pages if current.n_pages else 0.0,
        "has_map": bool(Clustering.objects.filter(pk=current.pk).exclude(map=[]).exists()),
    }


def _kind_counts(figures: ClusterFiguresQuerySet) -> list[tuple[str, str, int]]:
    """Return the kinds that clusters have, with their number; none where all are of one kind."""
    counts = [
        (kind.value, str(kind.label), figures.of_kind(kind.value).count()) for kind in ClusterKind
    ]
    counts = [(value, label, n) for value, label, n in counts if n]
    return counts if len(counts) > 1 else []


@needs_role(Role.VIEWER)
@require_GET
def cluster_map(request: HttpRequest, name: str) -> HttpResponse:
    """Return the points of the map with their pages, as the script that draws it reads them."""
    site = get_object_or_404(Site, name=name)
    current = Clustering.objects.current().defer("model").filter(site=site).first()
    if current is None:
        raise Http404(f"{name} has no clusters yet.")
    points = [
        point for point in current.map if isinstance(point, list) and len(point) == POINT_LENGTH
    ]
    numbers = mark_numbers(current)
    memberships = PageMembership.objects.filter(
        clustering=current, page__in=[pk for pk, *_ in points]
    ).select_related("page", "cluster")
    membership_by_page = {membership.page_id: membership for membership in memberships}
    drawn = []
    clusters: dict[int, Cluster] = {}
    for pk, x, y in points:
        membership = membership_by_page.get(pk)
        if membership is None:
            continue
        number = None
        if membership.cluster is not None:
            clusters[membership.cluster.pk] = membership.cluster
            number = numbers.get(membership.cluster.pk, 0)
        drawn.append(
            {
                "x": x,
                "y": y,
                "number": number,
                "url": membership.page.url,
                "distance": membership.distance,
                "href": reverse("page", args=[name, pk]),
            }
        )
    legend = [
        {
            "number": numbers.get(cluster.pk, 0),
            "title": cluster.title,
            "href": reverse("cluster", args=[name, cluster.name]),
        }
        for cluster in sorted(clusters.values(), key=lambda cluster: numbers.get(cluster.pk, 0))
    ]
    return JsonResponse({"points": drawn, "clusters": legend, "n_pages": current.n_pages})


@needs_role(Role.VIEWER)
@require_GET
def cluster(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    shown = cluster_of(site, cluster_name)
    current = current_clustering(site)
    figures = current.figures.filter(cluster=shown).first() if current else None
    examples = examples_of([figures], N_EXAMPLES)[figures.pk] if figures else []
    changes = ClusterChange.objects.without_detail().filter(
        Q(cluster=shown) | Q(into=shown), site=site
    )
    job = work_on(site)
    n_pages = figures.n_pages if figures else 0
    context = _pages_listed(request, site, current, shown) | {
        "cluster": shown,
        "figures": figures,
        "share": n_pages / current.n_pages if figures and current and current.n_pages else None,
        "number": mark_numbers(current).get(shown.pk) if current else None,
        "examples": examples,
        "verdict": last_reviews([shown.pk]).get(shown.pk),
        "changes": change_rows(changes.select_related("cluster", "into", "made_by")[:N_CHANGES]),
        "job": job,
        "is_live": job is not None,
        "can_review": n_pages > 0,
        "kinds": ClusterKind.choices,
        "is_asked_for": figures is not None and is_worth_annotating(figures),
        "people": _who_may_annotate(user_of(request), site),
        "layouts": layouts_by_cluster(current, [shown]).get(shown.pk, []) if current else [],
        "is_mixed": job is None and n_pages > 1 and is_mixed(shown),
    }
    return render(request, "clustering/clusters/cluster.html", context)


def _who_may_annotate(viewer: User, site: Site) -> list[User]:
    """Return the people to whom the viewer may give a cluster; only operators may."""
    if not viewer.has_role(Role.OPERATOR, site):
        return []
    return list(User.objects.who_may(Role.EDITOR, site).order_by("username")[:MAX_PEOPLE])


@needs_role(Role.VIEWER)
@require_GET
def unassigned_pages(request: HttpRequest, name: str) -> HttpResponse:
    """Show the pages in no cluster, with what moves them to one."""
    site = get_object_or_404(Site, name=name)
    current = current_clustering(site)
    context = _pages_listed(request, site, current, None)
    return render(request, "clustering/clusters/unassigned_pages.html", context)


def _pages_listed(
    request: HttpRequest, site: Site, current: Clustering | None, shown: Cluster | None
) -> dict[str, Any]:
    """Return what the table of a cluster's pages needs, with the clusters that pages can go to."""
    sort = choice_of(request, "sort", PAGE_ORDERS, "-distance" if shown else "found")
    query = words(request)
    members = PageMembership.objects.filter(clustering=current, cluster=shown)
    layout = request.GET.get("layout", "")
    if layout.isascii() and layout.isdigit() and len(layout) <= MAX_ID_CHARS:
        members = members.filter(layout=int(layout))
    else:
        layout = ""
    for word in query.split():
        members = members.filter(page__url__icontains=word)
    targets = Cluster.objects.present().filter(site=site).distinct().order_by("title")
    if shown is not None:
        targets = targets.exclude(pk=shown.pk)
    user = user_of(request)
    return {
        "site": site,
        "clustering": current,
        "sort": sort,
        "query": query,
        "layout": layout,
        "page": list_part(
            request, members.select_related("page", "found"), order=PAGE_ORDERS[sort]
        ),
        "targets": targets[:MAX_TARGETS],
        "can_edit": user.has_role(Role.EDITOR, site),
        "can_operate": user.has_role(Role.OPERATOR, site),
    }


@needs_role(Role.VIEWER)
@require_GET
def cluster_changes(request: HttpRequest, name: str) -> HttpResponse:
    """Show what people changed about the site's clusters, and what they answered to doubts."""
    site = get_object_or_404(Site, name=name)
    answers = ClusterAnswer.objects.filter(site=site)
    listed = ClusterChange.objects.without_detail().filter(site=site)
    page = list_part(request, listed.select_related("cluster", "into", "made_by"), order=["-id"])
    context = {
        "site": site,
        "page": page,
        "changes": change_rows(page.rows),
        "answers": answer_rows(site, answers.select_related("given_by")[:N_ANSWERS]),
        "n_answers": answers.count(),
        "can_edit": user_of(request).has_role(Role.EDITOR, site),
    }
    return render(request, "clustering/clusters/cluster_changes.html", context)


@needs_role(Role.VIEWER)
@require_GET
def thumbnail(request: HttpRequest, name: str, body: str) -> HttpResponse:
    """Return the picture of a page of this site, in which nothing runs and nothing is fetched."""
    if not Snapshot.objects.filter(body=body, page__site__name=name).exists():
        raise Http404("No page of this site has these bytes.")
    picture = find_thumbnail(body)
    if picture is None:
        raise Http404("The bytes of this page cannot be drawn.")
    seconds = PICTURE_SECONDS if picture.content_type == "image/png" else OUTLINE_SECONDS
    return HttpResponse(
        picture.picture,
        content_type=picture.content_type,
        headers={
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Content-Disposition": "inline",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": f"private, max-age={seconds}",
        },
    )


def _failed_last(site: Site) -> Job | None:
    """Return the last clustering job of a site where it failed."""
    last = site.jobs.filter(task="clustering.cluster_site").finished().order_by("-pk").first()
    return last if last is not None and last.state == Job.State.FAILED else None
