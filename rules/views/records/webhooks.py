"""A site's webhooks: who is told of changed records, and how each message went."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from rules.forms import WebhookForm
from rules.models import Delivery, Webhook
from rules.services.records import webhooks as services
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part
from vertex.core.views.toasts import tell


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            added = services.add_webhook(
                site=site, url=form.cleaned_data["url"], actor=user_of(request)
            )
        except ValidationError as error:
            form.add_error(None, error)
        else:
            # The secret stands in this answer and nowhere else, not even in the session.
            context = {"site": site, "webhook": added, "secret": services.secret_of(added)}
            return render(request, "rules/records/new_webhook.html", context)
    context = {"site": site, "form": form, "rows": _rows(site), "can_add": _can_add(site)}
    return render(
        request, "rules/records/webhooks.html", context, status=400 if form.errors else 200
    )


def _rows(site: Site) -> list[Webhook]:
    """Return the site's webhooks with the numbers of their messages."""
    state = Delivery.State
    counts = {
        f"n_{value}": Count("deliveries", filter=Q(deliveries__state=value))
        for value in (state.DUE, state.DELIVERED, state.FAILED)
    }
    return list(
        Webhook.objects.filter(site=site)
        .annotate(**counts)
        .select_related("made_by")
        .order_by("pk")
    )


def _can_add(site: Site) -> bool:
    return Webhook.objects.filter(site=site).count() < services.MAX_WEBHOOKS


@needs_role(Role.OPERATOR)
@require_GET
def webhook(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show the messages to an address, the newest first."""
    shown = _webhook(name, pk)
    page = list_part(request, Delivery.objects.filter(webhook=shown), order=["-id"])
    is_live = any(delivery.state == Delivery.State.DUE for delivery in page.rows)
    context = {"site": shown.site, "webhook": shown, "page": page, "is_live": is_live}
    return render(request, "rules/records/webhook.html", context)


@needs_role(Role.OPERATOR)
@require_POST
def remove_webhook(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    gone = _webhook(name, pk)
    services.remove_webhook(webhook=gone, actor=user_of(request))
    tell(request, f"{gone.url} is told of nothing any more.")
    return redirect("webhooks", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def resume_webhook(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    resumed = _webhook(name, pk)
    services.resume_webhook(webhook=resumed, actor=user_of(request))
    tell(request, f"{resumed.url} is told again, also of what it missed.")
    return redirect("webhook", name=name, pk=pk)


@needs_role(Role.OPERATOR)
@require_POST
def retry_delivery(request: HttpRequest, name: str, pk: int, delivery_pk: int) -> HttpResponse:
    """Send a message again at the next tick."""
    of = _webhook(name, pk)
    delivery = get_object_or_404(
        Delivery.objects.select_related("webhook__site"), webhook=of, pk=delivery_pk
    )
    services.retry_delivery(delivery=delivery, actor=user_of(request))
    tell(request, f"Message {delivery.pk} is sent again within a minute.")
    return redirect("webhook", name=name, pk=pk)


def _webhook(name: str, pk: int) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("site"), site__name=name, pk=pk)
