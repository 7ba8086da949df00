"""How a site is fetched."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from clustering.forms.fetching import FetchingForm
from clustering.services.sites.site_fetching import allowed_proxies, change_fetching, fetching_of
from clustering.services.sites.sites import BadSite
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell

NAME_BY_FIELD = {
    "headers": "new_headers",
    "cookies": "new_cookies",
    "log_in_fields": "new_log_in_fields",
}


@sensitive_post_parameters()
@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def site_fetching(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    fetching = fetching_of(site)
    form = FetchingForm(request.POST or None, site=site, fetching=fetching)
    if request.method == "POST" and form.is_valid():
        try:
            change_fetching(site=site, actor=user_of(request), **form.changes)
        except BadSite as error:
            for field, problems in error.message_dict.items():
                form.add_error(NAME_BY_FIELD.get(field, field), problems)
        else:
            tell(request, "Saved. The next crawl fetches so.")
            return redirect("site_fetching", name=name)
    context = {
        "site": site,
        "fetching": fetching,
        "form": form,
        "has_proxies": bool(allowed_proxies() or fetching.proxy),
    }
    status = 400 if form.errors else 200
    return render(request, "clustering/sites/fetching.html", context, status=status)
