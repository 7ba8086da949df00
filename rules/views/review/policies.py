"""A site's settings of reviews."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.services.annotations.second_annotating import agreement_at
from annotation.services.verticals.policies import change_policy, policy_of
from rules.forms import PolicyForm
from rules.services.review.reviewing import people_who_publish
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def review_policy(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    policy = policy_of(site)
    before = {"publishing": policy.publishing, "second_share": policy.second_share}
    form = PolicyForm(request.POST or None, initial=before)
    if request.method == "POST" and form.is_valid():
        try:
            change_policy(site=site, actor=user_of(request), **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            undo = [(field, str(value)) for field, value in before.items()]
            tell(request, "Settings of reviews saved.", undo_url=request.path, undo_fields=undo)
            return redirect("review_policy", name=name)
    context = {
        "site": site,
        "form": form,
        "publishers": people_who_publish(site).order_by("username"),
        "agreement": agreement_at(site),
    }
    return render(
        request, "rules/review/review_policy.html", context, status=400 if form.errors else 200
    )
