"""What annotating a site costs, as a part of the site's page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.services.annotations.second_annotating import agreement_at
from rules.services.learning.annotation_cost import economics_of
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role


@needs_role(Role.VIEWER)
@require_GET
def economics(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    context = {"site": site, "economics": economics_of(site), "agreement": agreement_at(site)}
    return render(request, "rules/learning/economics.html", context)
