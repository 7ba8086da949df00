"""Routes of webhooks: who is told of changed records, and how that went."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from rules.models import Delivery, Webhook
from rules.services.records import webhooks
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site

READ, WRITE = Scope.RECORDS_READ, Scope.SITES_WRITE


class WebhookRow(RowSerializer):
    class Meta:
        model = Webhook
        fields = ("id", "site", "url", "is_active", "told_up_to", "made_at", "made_by")

    site = serializers.CharField(source="site.name")
    is_active = serializers.BooleanField(help_text="False once it was given up.")
    told_up_to = serializers.IntegerField(help_text="A change number.")
    made_by = serializers.CharField(source="made_by.username", allow_null=True)


class NewWebhookAnswer(WebhookRow):
    """A webhook with its secret, which is shown only now."""

    class Meta(WebhookRow.Meta):
        fields = (*WebhookRow.Meta.fields, "secret")  # type: ignore[assignment]  # one more

    secret = serializers.CharField(
        help_text="What checks signatures, as Standard Webhooks have it."
    )


class DeliveryRow(RowSerializer):
    class Meta:
        model = Delivery
        fields = (
            "id",
            "first_change",
            "last_change",
            "n_records",
            "state",
            "n_tries",
            "status",
            "error",
            "made_at",
            "next_try_at",
            "finished_at",
        )

    state = serializers.CharField(help_text="due, delivered or failed.")
    status = serializers.IntegerField(allow_null=True, help_text="What was answered the last time.")


class NewWebhook(Body):
    """An address to be told."""

    url = serializers.CharField(max_length=webhooks.MAX_URL_CHARS)


class SiteWebhooks(AtSite):
    @endpoint(
        "list_webhooks",
        scope=READ,
        needs=(Role.OPERATOR, "there"),
        query=ListQuery,
        answers=listed(WebhookRow),
        tags=["webhooks"],
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List who is told of a site's changed records."""
        return page_of(
            Webhook.objects.filter(site=subject), row=WebhookRow, request=request, query=query
        )

    @endpoint(
        "add_webhook",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewWebhook,
        answers=NewWebhookAnswer,
        status=201,
        tags=["webhooks"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Add a webhook for what changes from now on; only this answer holds its secret."""
        webhook = webhooks.add_webhook(site=subject, url=body["url"], actor=caller_of(request))
        return _row_of(webhook) | {"secret": webhooks.secret_of(webhook)}


class WebhookAddress(ApiView):
    def find(self, request: Request, *, name: str, pk: int) -> Webhook:
        site = visible_site(request, name)
        webhook = Webhook.objects.select_related("site").filter(site=site, pk=pk).first()
        if webhook is None:
            raise NotFound(f"{site.name} has no webhook {pk}.")
        return webhook

    def site_of(self, subject: Webhook) -> Site:
        return subject.site


class WebhookView(WebhookAddress):
    @endpoint(
        "remove_webhook",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=None,
        status=204,
        tags=["webhooks"],
    )
    def delete(self, request: Request, *, subject: Webhook, **_: object) -> Response:
        """Delete a webhook."""
        webhooks.remove_webhook(webhook=subject, actor=caller_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ResumeWebhook(WebhookAddress):
    @endpoint(
        "resume_webhook",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=WebhookRow,
        tags=["webhooks"],
    )
    def post(self, request: Request, *, subject: Webhook, **_: object) -> dict[str, Any]:
        """Resume a webhook that was given up, also for what it missed."""
        webhooks.resume_webhook(webhook=subject, actor=caller_of(request))
        return _row_of(subject)


class Deliveries(WebhookAddress):
    @endpoint(
        "list_deliveries",
        scope=READ,
        needs=(Role.OPERATOR, "there"),
        query=ListQuery,
        answers=listed(DeliveryRow),
        tags=["webhooks"],
    )
    def get(
        self, request: Request, *, subject: Webhook, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the messages to an address and how they went, the newest first."""
        sent = Delivery.objects.filter(webhook=subject)
        return page_of(sent, row=DeliveryRow, request=request, query=query, newest_first=True)


def _row_of(webhook: Webhook) -> dict[str, Any]:
    return WebhookRow.read(Webhook.objects.filter(pk=webhook.pk))[0]
