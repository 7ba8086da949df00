"""Send other services word that records changed: signed messages, each in a log.

A message names the changes and carries no records: whoever gets it pulls them with a token
of their own.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import Final

import orjson
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from clustering.dom.addresses import BadAddress, normalise_url
from clustering.fetching.client import Fetcher, open_fetcher
from clustering.services import outbox
from rules.models import Delivery, Record, Webhook
from vertex.core.models import Site, User
from vertex.core.services.people import audit

SALT: Final = "rules.webhook"
MAX_WEBHOOKS: Final = 20  # of a site
MAX_URL_CHARS: Final = 2048
MAX_DELIVERIES_OF_TICK: Final = 100


def add_webhook(*, site: Site, url: str, actor: User | None = None) -> Webhook:
    """Add a webhook that gets what changes from now on. Raises ValidationError."""
    if Webhook.objects.filter(site=site).count() >= MAX_WEBHOOKS:
        raise ValidationError(
            {"url": f"{site.name} has {MAX_WEBHOOKS} webhooks already; remove one first."}
        )
    try:
        normalised = normalise_url(url)
    except BadAddress as error:
        raise ValidationError({"url": str(error)}) from None
    if len(normalised) > MAX_URL_CHARS:
        raise ValidationError({"url": f"An address may have {MAX_URL_CHARS:,} characters."})
    with transaction.atomic():
        webhook = Webhook.objects.create(
            site=site,
            url=normalised,
            secret=secrets.token_urlsafe(24),
            told_up_to=_last_change(site),
            made_by=actor,
        )
        audit.record(actor=actor, action="webhook.added", subject=normalised, site=site)
    return webhook


def remove_webhook(*, webhook: Webhook, actor: User | None = None) -> None:
    """Delete a webhook with its delivery log."""
    with transaction.atomic():
        audit.record(actor=actor, action="webhook.removed", subject=webhook.url, site=webhook.site)
        webhook.delete()


def resume_webhook(*, webhook: Webhook, actor: User | None = None) -> None:
    """Resume a webhook that was given up, beginning with the first change that it missed."""
    with transaction.atomic():
        failed = webhook.deliveries.filter(state=Delivery.State.FAILED)
        first = failed.order_by("first_change").values_list("first_change", flat=True).first()
        if first is not None and not webhook.is_active:
            Webhook.objects.filter(pk=webhook.pk).update(told_up_to=first - 1)
        Webhook.objects.filter(pk=webhook.pk).update(is_active=True)
        audit.record(actor=actor, action="webhook.resumed", subject=webhook.url, site=webhook.site)
    webhook.refresh_from_db()


def retry_delivery(*, delivery: Delivery, actor: User | None = None) -> None:
    """Make a message due now that was given up or waits; one that arrived stays as it is."""
    webhook = delivery.webhook
    with transaction.atomic():
        rows = Delivery.objects.filter(pk=delivery.pk).exclude(state=Delivery.State.DELIVERED)
        if outbox.send_again(rows):
            Webhook.objects.filter(pk=webhook.pk).update(is_active=True)
            detail = {
                "delivery": delivery.pk,
                "changes": [delivery.first_change, delivery.last_change],
            }
            audit.record(
                actor=actor,
                action="delivery.retried",
                subject=webhook.url,
                site=webhook.site,
                detail=detail,
            )
    delivery.refresh_from_db()


def secret_of(webhook: Webhook) -> str:
    """Return the secret that the receiver checks signatures with."""
    return outbox.written_key(_key_of(webhook))


def plan_deliveries() -> int:
    """Write a delivery for each webhook whose site has changes it was not told; return how many."""
    waiting = Delivery.objects.filter(state=Delivery.State.DUE).values("webhook")
    n_planned = 0
    active = Webhook.objects.filter(is_active=True).exclude(pk__in=waiting)
    for webhook in active.select_related("site"):
        last = _last_change(webhook.site)
        if last > webhook.told_up_to:
            n_planned += _plan(webhook, last)
    return n_planned


def _plan(webhook: Webhook, last: int) -> bool:
    """Write one delivery, unless another process was faster."""
    missed = Record.objects.filter(site=webhook.site_id, change_number__gt=webhook.told_up_to)
    with transaction.atomic():
        as_seen = Webhook.objects.filter(pk=webhook.pk, told_up_to=webhook.told_up_to)
        if not as_seen.update(told_up_to=last):
            return False
        Delivery.objects.create(
            webhook=webhook,
            first_change=webhook.told_up_to + 1,
            last_change=last,
            n_records=missed.filter(change_number__lte=last).count(),
        )
    return True


def send_deliveries(fetcher: Fetcher | None = None) -> int:
    """Send what is due, for less than a minute; return how many messages arrived."""
    due = Delivery.objects.filter(state=Delivery.State.DUE, next_try_at__lte=timezone.now())
    due = due.select_related("webhook__site").order_by("next_try_at", "pk")
    with fetcher or open_fetcher() as client:
        return outbox.send_in_time(
            due[:MAX_DELIVERIES_OF_TICK],
            partial(_send, client=client),
            lambda delivery: delivery.webhook.site_id,
        )


def _send(delivery: Delivery, client: Fetcher) -> bool:
    """Send one message, store the outcome, and return whether it arrived."""
    if not outbox.claim(delivery):
        return False
    webhook = delivery.webhook
    outcome = outbox.post_signed(
        client,
        url=webhook.url,
        key=_key_of(webhook),
        message_id=f"msg_{delivery.pk}",
        at=timezone.now(),
        body=_body_of(delivery),
    )
    receiver = Webhook.objects.filter(pk=webhook.pk)
    return outbox.store_outcome([delivery], outcome, receiver=receiver)


def _body_of(delivery: Delivery) -> bytes:
    return orjson.dumps(
        {
            "type": "records.changed",
            "timestamp": delivery.made_at,
            "data": {
                "site": delivery.webhook.site.name,
                "changed_since": delivery.first_change - 1,
                "last_change": delivery.last_change,
                "n_records": delivery.n_records,
            },
        }
    )


def _key_of(webhook: Webhook) -> bytes:
    return outbox.signing_key(SALT, webhook.secret)


def _last_change(site: Site) -> int:
    records = Record.objects.filter(site=site)
    last: int | None = records.aggregate(last=Max("change_number"))["last"]
    return last or 0
