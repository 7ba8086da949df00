"""The rule so far, beside the annotated page: what it finds on other samples, when to stop."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.services.samples.next_samples import keep_next_sample
from clustering.models import Cluster, Snapshot
from clustering.services.pages.stored_trees import read_tree
from clustering.views.clusters.cluster_rows import cluster_of
from rules.algorithms.rule.sentences import place_in_words
from rules.algorithms.running.explaining import explain_xpath
from rules.models import Rule
from rules.services.learning.panel import (
    Panel,
    PanelCell,
    PanelPage,
    PanelRow,
    learn_panel,
    panel_of,
)
from rules.services.learning.place_pictures import pictured_attributes
from rules.services.learning.prefilling import prefill
from rules.services.review.reviewing import why_not
from vertex.core.models import Role, Site, User
from vertex.core.services.jobs.jobs import JobFailed
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages


@reads_pages
@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def rule_panel(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Show what the newest rule makes of the samples; a POST learns it anew first."""
    cluster = cluster_of(get_object_or_404(Site, name=name), cluster_name)
    problem = ""
    panel = None
    try:
        if request.method == "POST":
            panel = learn_panel(cluster=cluster, actor=user_of(request))
        else:
            panel = panel_of(cluster)
    except JobFailed as error:
        problem = str(error)
    if panel is not None:
        keep_next_sample(cluster=cluster, rank=panel.next_page.rank if panel.next_page else None)
    context = {
        "site": cluster.site,
        "cluster": cluster,
        "panel": panel,
        "problem": problem,
        "rows": [_row(cluster, row) for row in panel.rows] if panel else [],
        "pictured": pictured_attributes(panel.rule) if panel else frozenset(),
        "next_href": _href(cluster, panel.next_page) if panel and panel.next_page else "",
        **_permissions(panel, user_of(request)),
    }
    return render(request, "rules/learning/panel.html", context)


@reads_pages
@needs_role(Role.EDITOR)
@require_GET
def rule_prefill(_request: HttpRequest, name: str, cluster_name: str, pk: int) -> JsonResponse:
    """Return what the newest rule finds on a snapshot."""
    cluster = cluster_of(get_object_or_404(Site, name=name), cluster_name)
    snapshot = get_object_or_404(
        Snapshot.objects.select_related("page"), pk=pk, page__site=cluster.site
    )
    return JsonResponse(prefill(cluster, snapshot))


@reads_pages
@needs_role(Role.VIEWER)
@require_GET
def rule_steps(
    request: HttpRequest, name: str, cluster_name: str, version: int, pk: int
) -> HttpResponse:
    """Show at which step the XPaths of an attribute come to nothing on a snapshot."""
    rules = Rule.objects.filter(cluster__site__name=name, cluster__name=cluster_name)
    rule = get_object_or_404(rules, version=version)
    snapshot = get_object_or_404(
        Snapshot.objects.select_related("page"), pk=pk, page__site__name=name
    )
    attribute_name = request.GET.get("attribute", "")
    tree = read_tree(snapshot)
    explanations = []
    if tree is not None:
        explanations = [
            explain_xpath(alternative["xpath"], tree)
            for attribute in rule.definition.get("attributes", [])
            if attribute["attribute"] == attribute_name
            for alternative in attribute.get("alternatives", [])
        ]
    context = {
        "rule": rule,
        "snapshot": snapshot,
        "attribute": attribute_name,
        "explanations": explanations,
        "has_tree": tree is not None,
    }
    return render(request, "rules/learning/panel_steps.html", context)


def _row(cluster: Cluster, row: PanelRow) -> dict[str, Any]:
    """Return an attribute with its values' places in plain words and its cells' addresses."""
    alternatives = row.rule.alternatives if row.rule else ()
    is_multi = row.rule is not None and row.rule.is_multi
    return {
        "row": row,
        "place": place_in_words(alternatives, is_multi=is_multi),
        "wrong": [_cell(cluster, row.name, cell) for cell in row.wrong],
        "right": [_cell(cluster, row.name, cell) for cell in row.others if not cell.is_wrong],
    }


def _cell(cluster: Cluster, attribute: str, cell: PanelCell) -> dict[str, Any]:
    return {"cell": cell, "href": f"{_href(cluster, cell.page)}?attribute={attribute}"}


def _href(cluster: Cluster, page: PanelPage) -> str:
    """Return where a sample is annotated."""
    site = cluster.site.name
    if page.rank is not None:
        return reverse("annotate_page", args=[site, cluster.name, page.rank])
    return reverse("annotate_page", args=[site, page.snapshot.page_id])


def _permissions(panel: Panel | None, user: User) -> dict[str, Any]:
    """Return what the viewer may do with the rule that is shown."""
    if panel is None or panel.rule is None or not panel.n_annotated:
        return {"can_propose": False}
    if panel.rule.state != Rule.State.DRAFT:
        return {"can_propose": False}
    refusal = why_not(panel.rule, user)
    return {"can_propose": True, "can_publish": not refusal, "why_not": refusal}
