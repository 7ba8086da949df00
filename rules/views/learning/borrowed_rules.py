"""What the page of a cluster without rule says of the rule that reads it, and its switch."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from clustering.models import Cluster
from clustering.views.clusters.cluster_rows import cluster_of
from rules.models import BorrowedRule, Rule
from rules.services.records.borrowing import refuse_borrowed_rule
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell


@needs_role(Role.VIEWER)
@require_GET
def borrowed_rule(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Return the card of a cluster's borrowed rule; blank where nothing was decided for it."""
    site = get_object_or_404(Site, name=name)
    return _card(request, site, cluster_of(site, cluster_name))


@needs_role(Role.REVIEWER)
@require_POST
def switch_borrowed_rule(request: HttpRequest, name: str, cluster_name: str) -> HttpResponse:
    """Refuse the rule that a cluster borrows, or allow it again."""
    site = get_object_or_404(Site, name=name)
    cluster = cluster_of(site, cluster_name)
    borrowed = get_object_or_404(BorrowedRule, cluster=cluster)
    is_refused = request.POST.get("refused") == "yes"
    refuse_borrowed_rule(borrowed=borrowed, is_refused=is_refused, actor=user_of(request))
    tell(
        request,
        f"The next extraction reads {cluster.title} {'no more' if is_refused else 'again'}.",
    )
    return _card(request, site, cluster)


def _card(request: HttpRequest, site: Site, cluster: Cluster) -> HttpResponse:
    has_rule = Rule.objects.published().filter(cluster=cluster).exists()
    rows = BorrowedRule.objects.filter(cluster=cluster).select_related("rule__cluster")
    context = {
        "site": site,
        "cluster": cluster,
        "borrowed": None if has_rule else rows.first(),
        "can_publish": user_of(request).has_role(Role.REVIEWER, site),
    }
    return render(request, "rules/learning/borrowed_rule.html", context)
