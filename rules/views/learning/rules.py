"""A site's rules: the list, and one rule with everything that is known about why it is as it is."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from clustering.models import Cluster
from clustering.views.clusters.cluster_rows import cluster_of
from rules.algorithms.review.reliability import reliability_of
from rules.models import GoldenRecord, PlacePicture, Record, Rule
from rules.services.fields.field_drafts import can_be_drafted
from rules.services.learning.place_pictures import pictured_attributes
from rules.services.learning.schemas import vertical_of
from rules.services.learning.trial_runs import tells_where
from rules.services.review.judging import value_judgements
from rules.services.review.reviewing import why_not
from rules.services.review.rolling_back import rule_before
from rules.views.learning.reliability_chart import draw_reliability
from rules.views.learning.rule_rows import (
    attribute_cards,
    changed_lines,
    clusters_with_rules,
    joined_unlearnt,
    last_failure,
    lit_sample,
    rule_lines,
    work_on_rules,
)
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part, words
from vertex.core.views.page_reading import reads_pages

MAX_VERSIONS = 50
MAX_VERSION_DIGITS = 9


@needs_role(Role.VIEWER)
@require_GET
def rules(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    query = words(request)
    page = list_part(request, clusters_with_rules(site, query), order=["title", "id"])
    context = allowed(request, site) | {
        "query": query,
        "page": page,
        "lines": rule_lines(site, page.rows),
        "n_published": Rule.objects.published().of_site(site).count(),
        "n_waiting": Rule.objects.of_site(site).filter(state__in=["draft", "proposed"]).count(),
        "n_records": Record.objects.there().filter(site=site).count(),
    }
    return render(request, "rules/learning/rules.html", context)


@reads_pages
@needs_role(Role.VIEWER)
@require_GET
def rule(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    of_cluster = cluster_of(site, cluster_name)
    versions = Rule.objects.filter(cluster=of_cluster).select_related(
        "made_by", "published_by", "vertical"
    )
    context = allowed(request, site) | {"cluster": of_cluster, "vertical": vertical_of(of_cluster)}
    if not versions.exists():
        return render(request, "rules/learning/rule.html", context)
    shown = _requested_version(request, of_cluster)
    other = _version(of_cluster, request.GET.get("compare", ""))
    cards, unlearnt = joined_unlearnt(attribute_cards(shown))
    context |= {
        "rule": shown,
        "refusal": why_not(shown, user_of(request)),
        "cards": cards,
        "unlearnt": unlearnt,
        "pictured": pictured_attributes(shown),
        "lit": lit_sample(shown),
        "samples": shown.samples.select_related("snapshot__page").order_by("pk"),
        "golden": GoldenRecord.objects.filter(rule=shown).count(),
        "versions": versions.defer("definition", "stylesheet").order_by("-version")[:MAX_VERSIONS],
        "before": rule_before(shown) if shown.state == Rule.State.PUBLISHED else None,
        "other": other,
        "changed": changed_lines(other.stylesheet, shown.stylesheet) if other else [],
        "n_records": Record.objects.there().filter(rule=shown).count(),
        "unreadable": Record.objects.there().filter(rule=shown).n_unreadable_by_attribute(),
        "tells_places": tells_where(shown),
        "reliability": draw_reliability(reliability_of(value_judgements(shown))),
    }
    return render(request, "rules/learning/rule.html", context)


@needs_role(Role.VIEWER)
@require_GET
def stylesheet(_request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Return the stylesheet of a version as a file."""
    rule = get_object_or_404(
        Rule, cluster__site__name=name, cluster__name=cluster_name, version=version
    )
    file = f'attachment; filename="{cluster_name}-{version}.xsl"'
    return HttpResponse(
        rule.stylesheet,
        content_type="application/xml; charset=utf-8",
        headers={"Content-Disposition": file},
    )


@needs_role(Role.VIEWER)
@require_GET
def place_picture(
    _request: HttpRequest, name: str, cluster_name: str, version: int, attribute: str
) -> HttpResponse:
    """Return the picture of where a version finds an attribute; it runs and fetches nothing."""
    picture = get_object_or_404(
        PlacePicture,
        rule__cluster__site__name=name,
        rule__cluster__name=cluster_name,
        rule__version=version,
        attribute=attribute,
    )
    return HttpResponse(
        picture.svg,
        content_type="image/svg+xml",
        headers={
            "Content-Security-Policy": "default-src 'none'; img-src data:; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "private, no-cache",
        },
    )


def allowed(request: HttpRequest, site: Site) -> dict[str, Any]:
    """Return the context of all pages of rules and records: site, job, the viewer's permissions."""
    user, job = user_of(request), work_on_rules(site)
    return {
        "site": site,
        "job": job,
        "is_live": job is not None,
        "last_failed": last_failure(site) if job is None else None,
        "can_learn": user.has_role(Role.EDITOR, site),
        "can_draft": can_be_drafted(site),
        "can_publish": user.has_role(Role.REVIEWER, site),
        "can_operate": user.has_role(Role.OPERATOR, site),
    }


def _requested_version(request: HttpRequest, cluster: Cluster) -> Rule:
    """Return the requested version, by default the published, else the newest. Raises Http404."""
    number = request.GET.get("version", "")
    if number:
        requested = _version(cluster, number)
        if requested is None:
            raise Http404(f"{cluster.name} has no version {number[:20]} of its rule.")
        return requested
    rules = Rule.objects.filter(cluster=cluster).order_by("-version")
    shown = rules.filter(state=Rule.State.PUBLISHED).first() or rules.first()
    if shown is None:
        raise Http404(f"{cluster.name} has no rule.")
    return shown


def _version(cluster: Cluster, number: str) -> Rule | None:
    is_number = number.isascii() and number.isdecimal() and len(number) <= MAX_VERSION_DIGITS
    return Rule.objects.filter(cluster=cluster, version=int(number)).first() if is_number else None
