"""Clusterings: start, list, open, compare, delete and choose them, and see a site model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from clustering.algorithms.clusterers import CLUSTERERS, sentence_of
from clustering.algorithms.parameters import written
from clustering.forms.clusters import ClusterSiteForm
from clustering.models import Clustering, Link, SearchClick
from clustering.services.clusters import clusterings as services
from clustering.services.looks import thumbnails
from clustering.views.clusters.cluster_rows import cluster_rows, current_clustering, work_on
from clustering.views.clusters.cluster_tables import contingency_table
from clustering.views.clusters.site_graph import draw_graph
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part
from vertex.core.views.page_reading import reads_pages, waits_for_others
from vertex.core.views.toasts import tell, tell_of_job

ALGORITHM_OF_GRAPH = "site_model"
MAX_CLUSTERS = 200
MAX_GRAPHS = 20  # to choose from
MAX_CLUSTERINGS = 50  # to choose from
EVIDENCE = {
    "pages": "pages",
    "clustered": "pages grouped",
    "links": "links between them",
    "clicks": "clicks of a search log",
    "redirected": "reached by redirects",
    "answers": "answers of people",
}


class Choice(NamedTuple):
    """An algorithm that can be chosen, or why it cannot."""

    name: str
    title: str
    sentence: str
    refusal: str
    note: str
    fields: Sequence[BoundField]  # of its parameters


class ChosenParameter(NamedTuple):
    """A parameter of a clustering's algorithm, as people read it."""

    title: str
    value: str
    default: str
    sentence: str


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def cluster_site(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = ClusterSiteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        entered = form.cleaned_data
        try:
            job = enqueue(services.clustering_request(site=site, **entered), actor=user_of(request))
        except JobExists as error:
            messages.info(request, f"{error}.")
            return redirect("job", pk=error.job.pk)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            tell_of_job(request, job)
            return redirect("clusters", name=name)
    context = {
        "site": site,
        "form": form,
        "choices": algorithm_choices(site, form),
        "algorithm": form["algorithm"].value() or "auto",
        "job": work_on(site),
    }
    status = 400 if form.errors else 200
    return render(request, "clustering/clusters/cluster_site.html", context, status=status)


def algorithm_choices(site: Site, form: ClusterSiteForm) -> list[Choice]:
    """Return all algorithms with parameters, and the reason where the site lacks something."""
    has_links = Link.objects.filter(page__site=site).exists()
    has_clicks = SearchClick.objects.filter(site=site).exists()
    choices = []
    for clusterer in CLUSTERERS.values():
        refusal = note = ""
        if "links" in clusterer.needs and not has_links:
            refusal = "No links between the site's pages are known. Crawl the site first."
        elif "clicks" in clusterer.needs and not has_clicks and not has_links:
            refusal = (
                "The site has neither a search log nor links. Import a search log or crawl the "
                "site first."
            )
        elif "clicks" in clusterer.needs and not has_clicks:
            note = "The site has no search log; one is derived from the words of its links."
        if clusterer.max_pages and site.n_pages > clusterer.max_pages:
            note = (
                f"Takes at most {clusterer.max_pages:,} pages; give a sample of that size or less."
            )
        choices.append(
            Choice(
                clusterer.name,
                clusterer.title,
                sentence_of(clusterer.name),
                refusal,
                note,
                form.fields_of(clusterer.name),
            )
        )
    return choices


@needs_role(Role.OPERATOR)
@require_POST
def draw_thumbnails(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    try:
        job = enqueue(thumbnails.thumbnails_request(site=site), actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
    else:
        tell_of_job(request, job)
    return redirect("clusters", name=name)


@needs_role(Role.VIEWER)
@require_GET
def clusterings(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    n_clusters = Count("figures", filter=Q(figures__n_pages__gt=0))
    listed = Clustering.objects.without_model().filter(site=site).annotate(n_clusters=n_clusters)
    page = list_part(request, listed.select_related("made_by"), order=["-id"])
    job = work_on(site)
    context = {
        "site": site,
        "page": page,
        "job": job,
        "is_live": job is not None,
        "can_operate": user_of(request).has_role(Role.OPERATOR, site),
    }
    return render(request, "clustering/clusters/clusterings.html", context)


@needs_role(Role.VIEWER)
@require_GET
def clustering(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    shown = _clustering_of(name, pk)
    cluster_figures = shown.figures.with_pages().select_related("cluster")
    sampled = {"sample", "seed"} & shown.params.keys()
    context = {
        "site": shown.site,
        "clustering": shown,
        "algorithm": CLUSTERERS.get(shown.algorithm),
        "sentence": sentence_of(shown.algorithm) if shown.algorithm in CLUSTERERS else "",
        "n_clusters": cluster_figures.count(),
        "rows": cluster_rows(shown, list(cluster_figures[:MAX_CLUSTERS])),
        "evidence": [
            (word, shown.evidence[key]) for key, word in EVIDENCE.items() if key in shown.evidence
        ],
        "parameters": _chosen_parameters(shown),
        "params": [(key, shown.params[key]) for key in sorted(sampled)],
        "unassigned_share": shown.n_unassigned / shown.n_pages if shown.n_pages else None,
        "current": current_clustering(shown.site),
        "has_graph": shown.algorithm == ALGORITHM_OF_GRAPH,
        "can_operate": user_of(request).has_role(Role.OPERATOR, shown.site),
    }
    return render(request, "clustering/clusters/clustering.html", context)


@reads_pages
@waits_for_others
@needs_role(Role.OPERATOR)
@require_POST
def make_current(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    new = _clustering_of(name, pk)
    old = current_clustering(new.site)
    services.make_current(clustering=new, actor=user_of(request))
    undo_url = reverse("make_current", args=[name, old.pk]) if old and old.pk != pk else ""
    tell(request, f"{name} works with the clusters of {new} now.", undo_url=undo_url)
    return redirect("clusters", name=name)


@waits_for_others
@needs_role(Role.OPERATOR)
@require_POST
def drop_clustering(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    dropped = _clustering_of(name, pk)
    try:
        services.drop_clustering(clustering=dropped, actor=user_of(request))
    except ValidationError as error:
        messages.error(request, f"Not dropped: {' '.join(error.messages)}.")
        return redirect("clustering", name=name, pk=pk)
    tell(request, f"{dropped} is dropped.")
    return redirect("clusterings", name=name)


@needs_role(Role.VIEWER)
@require_GET
def compare_clusterings(request: HttpRequest, name: str) -> HttpResponse:
    """Show how two clusterings agree: by default, the current one and the newest other one."""
    site = get_object_or_404(Site, name=name)
    listed = list(
        Clustering.objects.without_model()
        .filter(site=site)
        .order_by("-is_current", "-id")[:MAX_CLUSTERINGS]
    )
    clustering = _requested(request, listed, "one", next(iter(listed), None))
    newest_other = next((each for each in listed if each != clustering), None)
    other = _requested(request, listed, "other", newest_other)
    context: dict[str, Any] = {
        "site": site,
        "clusterings": listed,
        "clustering": clustering,
        "other": other,
    }
    if clustering is not None and other is not None:
        compared = services.compare_clusterings(clustering, other)
        titles = dict(site.clusters.values_list("name", "title"))
        context |= {
            "comparison": compared,
            "grid": contingency_table(compared.table, titles),
            "moved": [
                (moved, titles.get(moved.cluster or ""), titles.get(moved.other_cluster or ""))
                for moved in compared.moved
            ],
        }
    return render(request, "clustering/clusters/compare_clusterings.html", context)


@needs_role(Role.VIEWER)
@require_GET
def site_model(request: HttpRequest, name: str) -> HttpResponse:
    """Show the classes of pages that the site model found, and how they link to each other."""
    site = get_object_or_404(Site, name=name)
    listed = list(
        Clustering.objects.without_model().filter(site=site, algorithm=ALGORITHM_OF_GRAPH)[
            :MAX_GRAPHS
        ]
    )
    shown = _requested(request, listed, "clustering", next(iter(listed), None))
    context: dict[str, Any] = {
        "site": site,
        "clusterings": listed,
        "clustering": shown,
        "job": work_on(site),
        "can_operate": user_of(request).has_role(Role.OPERATOR, site),
    }
    if shown is not None:
        cluster_figures = shown.figures.select_related("cluster")
        figures_by_class = {figures.group: figures for figures in cluster_figures}
        context["graph"] = draw_graph(shown.model, figures_by_class)
    return render(request, "clustering/clusters/site_model.html", context)


def _chosen_parameters(clustering: Clustering) -> list[ChosenParameter]:
    """Return the parameters that a clustering was made with; none of an algorithm that is gone."""
    clusterer = CLUSTERERS.get(clustering.algorithm)
    return [
        ChosenParameter(
            parameter.title,
            written(clustering.parameters.get(parameter.name, parameter.default)) or "by the site",
            written(parameter.default) or "by the site",
            parameter.sentence,
        )
        for parameter in (clusterer.parameters if clusterer else ())
    ]


def _clustering_of(name: str, pk: int) -> Clustering:
    listed = Clustering.objects.without_model().select_related("site", "made_by", "job")
    return get_object_or_404(listed, site__name=name, pk=pk)


def _requested(
    request: HttpRequest, listed: list[Clustering], name: str, default: Clustering | None
) -> Clustering | None:
    """Return the clustering that a field of the query names, else the default."""
    pk = request.GET.get(name, "")
    return next((clustering for clustering in listed if str(clustering.pk) == pk), default)
