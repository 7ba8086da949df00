"""Review: the proposed rules that wait, and one of them: pages to judge, what it would change."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Comment, ReviewPolicy, SecondAnnotation
from annotation.services.verticals.policies import policy_of
from rules.algorithms.review.impact import KINDS, SAME
from rules.models import Impact, JudgedPage, Review, Rule
from rules.services.learning.place_pictures import pictured_attributes
from rules.services.review.impacts import (
    changed_constant_fields,
    is_outdated,
    latest_impact,
    start_impact,
)
from rules.services.review.judging import judge
from rules.services.review.reviewing import author_of, why_not
from rules.services.review.rolling_back import rule_before
from rules.views.learning.rules import allowed
from rules.views.review.review_rows import changed_rules, examples_of, impact_rows, judging
from vertex.core.models import Role, Site, User
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part
from vertex.core.views.page_reading import reads_pages
from vertex.core.views.toasts import tell

ENDED_SHOWN = 10
MAX_NUMBER_DIGITS = 4


@needs_role(Role.VIEWER)
@require_GET
def review(request: HttpRequest) -> HttpResponse:
    """Show what waits for a reviewer at the sites that one may see."""
    user = user_of(request)
    visible = Review.objects.visible_to(user).select_related(
        "rule__cluster__site", "rule__vertical", "proposed_by", "decided_by"
    )
    judged = Count("pages", filter=~Q(pages__verdict=""))
    waiting = visible.open().annotate(n_pages=Count("pages"), n_judged=judged)
    page = list_part(request, waiting, order=["proposed_at", "id"])
    rules = [review_row.rule_id for review_row in page.rows]
    impacts: dict[int, Impact] = {}
    for impact in (
        Impact.objects.filter(rule__in=rules).select_related("job", "rule").order_by("pk")
    ):
        impacts[impact.rule_id] = impact
    sites = Site.objects.visible_to(user)
    context = {
        "page": page,
        "lines": [
            (
                review_row,
                _line_of_impact(impacts.get(review_row.rule_id)),
                why_not(review_row.rule, user),
            )
            for review_row in page.rows
        ],
        "ended": visible.exclude(outcome="").order_by("-decided_at")[:ENDED_SHOWN],
        "n_disagreements": SecondAnnotation.objects.disagreeing()
        .filter(page__site__in=sites)
        .count(),
        "n_comments": Comment.objects.open().filter(page__site__in=sites).count(),
        "sites": _sites_with_second_annotations(user),
    }
    return render(request, "rules/review/review.html", context)


def _line_of_impact(impact: Impact | None) -> dict[str, Any] | None:
    """Return the records that a rule would gain, lose and change."""
    if impact is None:
        return None
    rows = impact_rows(impact)
    return {"impact": impact, "records": rows[0], "is_done": impact.finished_at is not None}


def _sites_with_second_annotations(user: User) -> list[Site]:
    """Return the sites where something was annotated twice, or differs."""
    return list(
        Site.objects.visible_to(user)
        .annotate(
            n_second=Count("pages__second_annotations", distinct=True),
            n_differ=Count(
                "pages__second_annotations",
                filter=~Q(pages__second_annotations__agreement__in=["", "same"])
                & Q(pages__second_annotations__resolution=""),
                distinct=True,
            ),
        )
        .filter(n_second__gt=0)
        .order_by("name")[:20]
    )


@reads_pages
@needs_role(Role.VIEWER)
@require_GET
def review_rule(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Show a version with the pages to judge, what it would change, and what can be decided."""
    rule = rule_at(name, cluster_name, version)
    last = (
        Review.objects.filter(rule=rule).select_related("proposed_by", "decided_by", "rule").first()
    )
    context = decision_of(request, rule, last)
    if last is not None:
        context |= judging(last, _number(request.GET.get("at", "")))
    if request.headers.get("HX-Request") == "true" and last is not None and "at" in request.GET:
        return render(request, "rules/review/judging.html", context)
    return render(request, "rules/review/review_rule.html", context)


def decision_of(request: HttpRequest, rule: Rule, last: Review | None) -> dict[str, Any]:
    """Return what can be decided about a version, by whom, and what it would change."""
    user, site = user_of(request), rule.cluster.site
    in_use = Rule.objects.published().filter(cluster=rule.cluster_id).exclude(pk=rule.pk).first()
    impact = latest_impact(rule)
    is_open = last is not None and not last.outcome
    return allowed(request, site) | {
        "cluster": rule.cluster,
        "rule": rule,
        "review": last,
        "is_open": is_open,
        "in_use": in_use,
        "changed_rules": changed_rules(in_use, rule),
        "pictured": pictured_attributes(rule),
        "old_pictured": pictured_attributes(in_use),
        "impact": impact,
        "impact_rows": impact_rows(impact) if impact else [],
        "is_outdated": impact is not None and is_outdated(impact),
        "is_comparing": impact is not None
        and impact.job is not None
        and not impact.job.is_finished,
        "constants": changed_constant_fields(rule),
        "must_force": "force" in request.GET,
        "why_not": why_not(rule, user) if rule.state != Rule.State.PUBLISHED else "",
        "author": author_of(rule),
        "policy": ReviewPolicy.Publishing(policy_of(site).publishing).label,
        "can_judge": is_open and user.has_role(Role.REVIEWER, site),
        "can_send_back": is_open
        and (user.has_role(Role.REVIEWER, site) or (last is not None and last.proposed_by == user)),
        "is_own": last is not None and last.proposed_by == user,
        "before": rule_before(rule) if rule.state == Rule.State.PUBLISHED else None,
    }


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def judge_page(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Take what a person says of one page, and show the next one."""
    rule = rule_at(name, cluster_name, version)
    rank = _number(request.POST.get("rank", ""))
    pages = JudgedPage.objects.filter(review__rule=rule, rank=rank or 0)
    page = pages.select_related("review__rule", "snapshot__page__site").order_by("-review").first()
    if page is None:
        raise Http404(f"{rule} has no page of that rank to judge.")
    verdict = request.POST.get("verdict", "")
    try:
        judge(
            page=page,
            verdict=verdict,
            marked=request.POST.getlist("marked"),
            actor=user_of(request),
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    at = page.rank if not verdict else _next_open(page)
    if request.headers.get("HX-Request") != "true":
        return redirect(f"{address_of(rule)}?at={at or ''}#judging")
    context = (
        decision_of(request, rule, page.review) | judging(page.review, at) | {"is_swapped": True}
    )
    return render(request, "rules/review/judging.html", context)


def _next_open(page: JudgedPage) -> int | None:
    """Return the rank of the next page to be judged; the one after the last is the first."""
    ranks = list(page.review.pages.filter(verdict="").values_list("rank", flat=True))
    return next((rank for rank in ranks if rank > page.rank), ranks[0] if ranks else page.rank)


@reads_pages
@needs_role(Role.VIEWER)
@require_GET
def impact(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Show examples of what publishing a version would change."""
    rule = rule_at(name, cluster_name, version)
    comparison = latest_impact(rule)
    if comparison is None:
        raise Http404(f"{rule} was not compared yet.")
    rows = impact_rows(comparison)
    attribute, kind = request.GET.get("attribute", ""), request.GET.get("kind", "changed")
    row = next((row for row in rows if row.name == attribute), rows[0])
    kind = kind if kind in KINDS and kind != SAME else "changed"
    context = allowed(request, rule.cluster.site) | {
        "cluster": rule.cluster,
        "rule": rule,
        "impact": comparison,
        "rows": rows,
        "row": row,
        "kind": kind,
        "n_in_all": getattr(row, kind),
        "examples": examples_of(comparison, row.name, kind),
        "is_outdated": is_outdated(comparison),
    }
    return render(request, "rules/review/impact.html", context)


@reads_pages
@needs_role(Role.EDITOR)
@require_POST
def compare_rule(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Start a job that compares a version with the one in use."""
    rule = rule_at(name, cluster_name, version)
    try:
        started = start_impact(rule=rule, actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
    else:
        undo = reverse("cancel_job", args=[started.job_id])
        tell(request, f"{rule} is being compared on all stored pages.", undo_url=undo)
    return redirect(f"{address_of(rule)}#impact")


def rule_at(name: str, cluster_name: str, version: int) -> Rule:
    """Return a version of a cluster's rule; 404 where there is none."""
    rules = Rule.objects.select_related("cluster__site", "made_by")
    return get_object_or_404(
        rules, cluster__site__name=name, cluster__name=cluster_name, version=version
    )


def address_of(rule: Rule) -> str:
    """Return where a version is reviewed."""
    return reverse("review_rule", args=[rule.cluster.site.name, rule.cluster.name, rule.version])


def _number(written: str) -> int | None:
    return (
        int(written)
        if written.isascii() and written.isdecimal() and len(written) <= MAX_NUMBER_DIGITS
        else None
    )
