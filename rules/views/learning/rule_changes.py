"""What people do with rules: learn, propose, publish, send back, roll back, run them."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from rules.models import Rule
from rules.services.fields import field_drafts
from rules.services.learning import learning
from rules.services.records import extracting, file_formats, record_exports
from rules.services.review import reviewing
from rules.services.review.rolling_back import roll_back, rule_before
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import JobRequest, enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.page_reading import reads_pages
from vertex.core.views.toasts import tell, tell_of_job
from vertex.core.views.ways_back import way_back


@needs_role(Role.EDITOR)
@require_POST
def learn_rules(request: HttpRequest, name: str) -> HttpResponse:
    """Start learning the rule of a cluster as a draft, or the rules of all annotated ones."""
    site = get_object_or_404(Site, name=name)
    cluster = request.POST.get("cluster", "").replace("\0", "")
    return _started(request, site, lambda: learning.learning_request(site=site, cluster=cluster))


@needs_role(Role.EDITOR)
@require_POST
def draft_rules(request: HttpRequest, name: str) -> HttpResponse:
    """Start drafting the rule of a cluster, or of all that nobody annotated, from other sites."""
    site = get_object_or_404(Site, name=name)
    cluster = request.POST.get("cluster", "").replace("\0", "")
    return _started(
        request, site, lambda: field_drafts.drafting_request(site=site, cluster=cluster)
    )


@needs_role(Role.OPERATOR)
@require_POST
def extract_records(request: HttpRequest, name: str) -> HttpResponse:
    """Start running the published rules on the pages where something is new."""
    site = get_object_or_404(Site, name=name)
    return _started(request, site, lambda: extracting.extraction_request(site=site))


@needs_role(Role.OPERATOR)
@require_POST
def export_records(request: HttpRequest, name: str) -> HttpResponse:
    """Start writing the site's records into a file."""
    site = get_object_or_404(Site, name=name)
    form = request.POST.get("format", "")
    if form not in file_formats.Format.values:
        form = file_formats.JSON_LINES
    return _started(
        request, site, lambda: record_exports.record_export_request(site=site, form=form)
    )


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def publish_rule(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Publish a version; where constant values would change, a reason is asked for."""
    rule = _rule_of(name, cluster_name, version)
    try:
        reviewing.publish_reviewed(
            rule=rule,
            actor=user_of(request),
            is_forced=request.POST.get("force") == "yes",
            reason=request.POST.get("reason", ""),
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(
            f"{reverse('review_rule', args=[name, cluster_name, version])}?force=1#decide"
        )
    undo = reverse("roll_back_rule", args=[name, cluster_name, version])
    is_first = rule_before(rule) is None
    message = f"Version {version} serves {rule.cluster.title} now."
    tell(request, message, undo_url="" if is_first else undo)
    return redirect(way_back(request) or _address(rule))


@reads_pages
@needs_role(Role.EDITOR)
@require_POST
def propose_rule(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Propose a draft for publishing."""
    rule = _rule_of(name, cluster_name, version)
    review = reverse("review_rule", args=[name, cluster_name, version])
    try:
        reviewing.propose_rule(
            rule=rule, comment=request.POST.get("comment", ""), actor=user_of(request)
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(way_back(request) or review)
    undo = reverse("send_back_rule", args=[name, cluster_name, version])
    tell(request, f"Version {version} of {rule.cluster.title} is proposed.", undo_url=undo)
    return redirect(way_back(request) or review)


@needs_role(Role.EDITOR)
@require_POST
def send_back_rule(
    request: HttpRequest, name: str, cluster_name: str, version: int
) -> HttpResponse:
    """Make a proposed version a draft again: a reviewer with a reason, or its author."""
    rule = _rule_of(name, cluster_name, version)
    try:
        reviewing.send_back(
            rule=rule, reason=request.POST.get("reason", ""), actor=user_of(request)
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(f"{reverse('review_rule', args=[name, cluster_name, version])}#decide")
    tell(request, f"Version {version} of {rule.cluster.title} is a draft again.")
    return redirect("review")


@reads_pages
@needs_role(Role.REVIEWER)
@require_POST
def roll_back_rule(
    request: HttpRequest, name: str, cluster_name: str, version: int
) -> HttpResponse:
    """Publish the version again that served before."""
    rule = _rule_of(name, cluster_name, version)
    try:
        before = roll_back(rule=rule, actor=user_of(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(_address(rule))
    undo = reverse("publish_rule", args=[name, cluster_name, version])
    message = f"Version {before.version} serves {rule.cluster.title} again."
    undo_fields = [("force", "yes"), ("reason", "The roll back was undone.")]
    tell(request, message, undo_url=undo, undo_fields=undo_fields)
    return redirect(_address(before))


def _started(
    request: HttpRequest, site: Site, make_request: Callable[[], JobRequest]
) -> HttpResponse:
    """Start a job and report it, or why it is refused, on the page where the button was pressed."""
    try:
        job = enqueue(make_request(), actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        tell_of_job(request, job)
    return redirect(way_back(request) or reverse("rules", args=[site.name]))


def _rule_of(name: str, cluster_name: str, version: int) -> Rule:
    rules = Rule.objects.select_related("cluster__site")
    return get_object_or_404(
        rules, cluster__site__name=name, cluster__name=cluster_name, version=version
    )


def _address(rule: Rule) -> str:
    address = reverse("rule", args=[rule.cluster.site.name, rule.cluster.name])
    return f"{address}?version={rule.version}"
