"""Send other services word that records changed: signed messages, retried until they arrive, each in a log.

A message names the changes and carries no records: whoever gets it pulls them with a token of their own. The
form and the signature are those of Standard Webhooks. A delivery whose worker dies in the middle is sent
again under the same id.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import orjson
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone
from django.utils.crypto import salted_hmac

from clustering.dom.addresses import BadAddress, normalise_url
from clustering.fetching.client import Fetched, Fetcher, open_fetcher
from clustering.fetching.refusals import FetchRefused
from rules.models import Delivery, Record, Webhook
from vertex.core.models import Site, User
from vertex.core.services.people import audit
from vertex.core.texts import storable

SALT: Final = "rules.webhook"
MAX_WEBHOOKS: Final = 20  # of a site
MAX_URL_CHARS: Final = 2048
MAX_TRIES: Final = 9  # over about a day
FIRST_WAIT: Final = timedelta(seconds=30)  # tripled with each failure
MAX_WAIT: Final = timedelta(hours=8)
LEASE: Final = timedelta(minutes=2)  # how long a worker that sends may take before another one does
ANSWER_SECONDS: Final = 15.0  # that an answer may take
TICK_SECONDS: Final = 40.0  # that one tick sends for
MAX_ANSWER_BYTES: Final = 4096
GOOD, GONE = range(200, 300), 410


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
        if rows.update(
            state=Delivery.State.DUE, n_tries=0, next_try_at=timezone.now(), finished_at=None
        ):
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
    """Return the secret that the receiver checks signatures with.

    It follows from the installation's secret key and is in no table, so that no export holds it.
    """
    return "whsec_" + base64.b64encode(_key_of(webhook)).decode()


def signature(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message as Standard Webhooks have it.

    >>> signature(b"key", "msg_1", 1700000000, b"{}")
    'v1,XaXLFEFQ69Q4+demDWPEv5ydXczDW2mM5crCUEFcFBA='
    """
    signed = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, "sha256")
    return "v1," + base64.b64encode(signed).decode()


def plan_deliveries() -> int:
    """Write a delivery for each webhook whose site has changes that it was not told of; return how many."""
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
    until = monotonic() + TICK_SECONDS
    n_arrived = 0
    with fetcher or open_fetcher() as client:
        due = Delivery.objects.filter(state=Delivery.State.DUE, next_try_at__lte=timezone.now())
        for delivery in due.select_related("webhook__site").order_by("next_try_at", "pk")[:100]:
            if monotonic() > until:
                break
            if _claim(delivery):
                n_arrived += _send(delivery, client)
    return n_arrived


def _claim(delivery: Delivery) -> bool:
    """Claim a delivery for the time that sending may last, and return whether nobody else did."""
    as_seen = Delivery.objects.filter(
        pk=delivery.pk, state=Delivery.State.DUE, next_try_at=delivery.next_try_at
    )
    claimed = as_seen.update(next_try_at=timezone.now() + LEASE, n_tries=F("n_tries") + 1)
    delivery.n_tries += claimed
    return bool(claimed)


def _send(delivery: Delivery, client: Fetcher) -> bool:
    """Send one message, record the outcome, and return whether it arrived."""
    webhook, now = delivery.webhook, timezone.now()
    message_id, body = f"msg_{delivery.pk}", _body_of(delivery)
    try:
        answer = post_signed(
            client, url=webhook.url, key=_key_of(webhook), message_id=message_id, at=now, body=body
        )
    except FetchRefused as error:
        _record_failure(delivery, None, str(error))
        return False
    if answer.status not in GOOD:
        _record_failure(delivery, answer.status, f"It answered with status {answer.status}.")
        return False
    _end(delivery, Delivery.State.DELIVERED, status=answer.status, error="")
    return True


def post_signed(
    client: Fetcher, *, url: str, key: bytes, message_id: str, at: datetime, body: bytes
) -> Fetched:
    """Post a message as Standard Webhooks have it; redirects are not followed. Raises FetchRefused."""
    timestamp = int(at.timestamp())
    return client.fetch(
        url,
        method="POST",
        headers={
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(key, message_id, timestamp, body),
        },
        content=body,
        max_redirects=0,
        max_bytes=MAX_ANSWER_BYTES,
        is_cut=True,
        seconds=ANSWER_SECONDS,
    )


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


def _record_failure(delivery: Delivery, status: int | None, error: str) -> None:
    """Postpone a delivery to its next try, or give it and its webhook up."""
    error = storable(error, 300)
    is_hopeless = status == GONE or delivery.n_tries >= MAX_TRIES
    if is_hopeless:
        with transaction.atomic():
            _end(delivery, Delivery.State.FAILED, status=status, error=error)
            Webhook.objects.filter(pk=delivery.webhook_id).update(is_active=False)
        return
    Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE).update(
        status=status, error=error, next_try_at=timezone.now() + wait_after(delivery.n_tries)
    )


def wait_after(n_tries: int) -> timedelta:
    """Return how long a delivery waits after so many tries.

    >>> [str(wait_after(n)) for n in (1, 2, 9)]
    ['0:00:30', '0:01:30', '8:00:00']
    """
    wait: timedelta = min(FIRST_WAIT * 3 ** (n_tries - 1), MAX_WAIT)
    return wait


def _end(delivery: Delivery, state: Delivery.State, *, status: int | None, error: str) -> None:
    now: datetime = timezone.now()
    rows = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE)
    rows.update(state=state, status=status, error=error, finished_at=now)


def _key_of(webhook: Webhook) -> bytes:
    return salted_hmac(SALT, webhook.secret, algorithm="sha256").digest()


def _last_change(site: Site) -> int:
    records = Record.objects.filter(site=site)
    last: int | None = records.aggregate(last=Max("change_number"))["last"]
    return last or 0
