"""What annotating a site costs, as a part of the site's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.services.second_annotating import agreement_at
from clustering.models import Role, Site
from clustering.views.access import needs_role
from rules.services.economics import economics_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@needs_role(Role.VIEWER)
@require_GET
def economics(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    context = {"site": site, "economics": economics_of(site), "agreement": agreement_at(site)}
    return render(request, "rules/economics.html", context)
