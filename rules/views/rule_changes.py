"""What people do with rules: learn them, publish them, roll them back, run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from clustering.models import Role, Site
from clustering.services.jobs import JobExists
from clustering.views.access import needs_role, user_of
from clustering.views.toasts import tell
from rules.models import Rule
from rules.services import extracting, learning, record_exports
from rules.services.publishing import publish_rule as publish
from rules.services.rolling_back import roll_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from clustering.models import Job


@needs_role(Role.EDITOR)
@require_POST
def learn_rules(request: HttpRequest, name: str) -> HttpResponse:
    """Let a job learn the rule of a cluster as a draft, or the rules of all annotated ones."""
    site = get_object_or_404(Site, name=name)
    cluster = request.POST.get("cluster", "").replace("\0", "")
    return _started(
        request,
        site,
        lambda: learning.request_learning(site=site, cluster=cluster, actor=user_of(request)),
    )


@needs_role(Role.OPERATOR)
@require_POST
def extract_records(request: HttpRequest, name: str) -> HttpResponse:
    """Let a job run the published rules on the pages where something is new."""
    site = get_object_or_404(Site, name=name)
    return _started(request, site, lambda: extracting.request_extraction(site=site, actor=user_of(request)))


@needs_role(Role.OPERATOR)
@require_POST
def export_records(request: HttpRequest, name: str) -> HttpResponse:
    """Let a job write the site's records into a file."""
    site = get_object_or_404(Site, name=name)
    form = record_exports.CSV if request.POST.get("format") == "csv" else record_exports.JSON_LINES
    return _started(
        request,
        site,
        lambda: record_exports.request_record_export(site=site, form=form, actor=user_of(request)),
    )


@needs_role(Role.REVIEWER)
@require_POST
def publish_rule(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Let a version serve its cluster; where constant values would change, the page asks once."""
    wanted = _rule_of(name, cluster_name, version)
    try:
        publish(rule=wanted, actor=user_of(request), is_forced=request.POST.get("force") == "yes")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(_address(wanted))
    undo = reverse("roll_back_rule", args=[name, cluster_name, version])
    tell(request, f"Version {version} serves {wanted.cluster.title} now.", undo_url=undo)
    return redirect(_address(wanted))


@needs_role(Role.REVIEWER)
@require_POST
def roll_back_rule(request: HttpRequest, name: str, cluster_name: str, version: int) -> HttpResponse:
    """Let the version serve again that served before."""
    rule = _rule_of(name, cluster_name, version)
    try:
        before = roll_back(rule=rule, actor=user_of(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(_address(rule))
    undo = reverse("publish_rule", args=[name, cluster_name, version])
    told = f"Version {before.version} serves {rule.cluster.title} again."
    tell(request, told, undo_url=undo, undo_fields=[("force", "yes")])
    return redirect(_address(before))


def _started(request: HttpRequest, site: Site, start: Callable[[], Job]) -> HttpResponse:
    """Start a job and tell so on the page where the button was pressed."""
    try:
        job = start()
    except JobExists as error:
        messages.info(request, f"{error}.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        tell(request, f"{job.title}: the job is waiting.", undo_url=reverse("cancel_job", args=[job.pk]))
    here = request.POST.get("next", "")
    is_own = url_has_allowed_host_and_scheme(here, allowed_hosts={request.get_host()})
    return redirect(here if is_own else reverse("rules", args=[site.name]))


def _rule_of(name: str, cluster_name: str, version: int) -> Rule:
    rules = Rule.objects.select_related("cluster__site")
    return get_object_or_404(rules, cluster__site__name=name, cluster__name=cluster_name, version=version)


def _address(rule: Rule) -> str:
    address = reverse("rule", args=[rule.cluster.site.name, rule.cluster.name])
    return f"{address}?version={rule.version}"
