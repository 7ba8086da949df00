"""Webhooks: each change is told once it happened, signed, repeated until it arrives, and logged."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.services import outbox
from rules.models import Delivery, Record, Webhook
from rules.services.records import webhooks
from rules.tasks import tell_webhooks
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from tests.apps.rules.record_cast import shop_with_records, touched
from vertex.core.models import AuditEntry, Role

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Receiver:
    """Somebody who is told; `statuses` are answered in their order, then 204."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.got: list[Asked] = []
        self.host = FakeHost({"/hook": self._answer})

    def _answer(self, request: Asked) -> Answer:
        self.got.append(request)
        return Answer(status=self.statuses.pop(0) if self.statuses else 204)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    with one.host:
        yield one


def send() -> int:
    return webhooks.send_deliveries(Fetcher(Client("Vertex", Guard(networks(["127.0.0.0/8"])))))


def make_due() -> None:
    Delivery.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))


def told(receiver: Receiver) -> tuple[Webhook, list[Record]]:
    """Return a webhook at a shop whose first record changed since."""
    _, records = shop_with_records(2)
    webhook = webhooks.add_webhook(site=records[0].site, url=f"{receiver.host.url}/hook")
    touched(records[0], name="Changed")
    return webhook, records


def test_a_message_tells_what_to_pull_and_its_signature_holds(receiver: Receiver) -> None:
    webhook, records = told(receiver)
    assert 1 == webhooks.plan_deliveries()
    assert 1 == send()

    (requested,) = receiver.got
    headers = {name.lower(): value for name, value in requested.headers.items()}
    data = orjson.loads(requested.body)
    assert ("records.changed", "shop", 1) == (
        data["type"],
        data["data"]["site"],
        data["data"]["n_records"],
    )
    ada = caller("ada", Role.VIEWER)
    pulled = ada.get(f"records/?site=shop&changed_since={data['data']['changed_since']}").json()[
        "results"
    ]
    assert [records[0].pk] == [row["id"] for row in pulled]

    key = base64.b64decode(webhooks.secret_of(webhook).removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + requested.body
    expected = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    assert f"v1,{expected}" == headers["webhook-signature"]
    assert ("POST", str(len(requested.body))) == (requested.method, headers["content-length"])


def test_nothing_is_told_twice_and_nothing_of_before(receiver: Receiver) -> None:
    _, records = told(receiver)
    assert [1, 0] == [webhooks.plan_deliveries(), webhooks.plan_deliveries()]
    send()
    assert 0 == webhooks.plan_deliveries()

    touched(records[1], name="Changed too")
    assert 1 == webhooks.plan_deliveries()
    assert 1 == send()
    first, second = Delivery.objects.order_by("pk")
    assert first.last_change + 1 == second.first_change
    assert [Delivery.State.DELIVERED] * 2 == [first.state, second.state]


def test_a_message_that_is_not_taken_is_sent_again_under_the_same_id(receiver: Receiver) -> None:
    told(receiver)
    receiver.statuses = [500, 503]
    webhooks.plan_deliveries()
    assert 0 == send()
    assert 0 == send()
    assert 1 == len(receiver.got)

    make_due()
    assert 0 == send()
    make_due()
    assert 1 == send()
    assert 1 == len({request.headers["webhook-id"] for request in receiver.got})


@pytest.mark.parametrize("status", [410, 500])
def test_who_never_takes_it_is_given_up_and_told_all_once_resumed(
    receiver: Receiver, status: int
) -> None:
    webhook, records = told(receiver)
    receiver.statuses = [status]
    webhooks.plan_deliveries()
    if status != outbox.GONE:
        Delivery.objects.update(n_tries=outbox.MAX_TRIES - 1)
    send()
    webhook.refresh_from_db()
    assert (Delivery.State.FAILED, False) == (Delivery.objects.get().state, webhook.is_active)

    touched(records[1], name="Missed")
    assert 0 == webhooks.plan_deliveries()
    webhooks.resume_webhook(webhook=webhook)
    assert 1 == webhooks.plan_deliveries()
    assert 2 == Delivery.objects.get(state=Delivery.State.DUE).n_records


def test_addresses_inside_are_refused_and_the_log_says_so(receiver: Receiver) -> None:
    told(receiver)
    webhooks.plan_deliveries()

    assert 0 == webhooks.send_deliveries(Fetcher(Client("Vertex", Guard())))
    assert [] == receiver.got
    assert "127.0.0.1" in Delivery.objects.get().error


def test_a_message_that_was_given_up_is_sent_again_when_a_person_asks(receiver: Receiver) -> None:
    webhook, _ = told(receiver)
    receiver.statuses = [outbox.GONE]
    webhooks.plan_deliveries()
    send()
    webhooks.retry_delivery(delivery=Delivery.objects.get())

    assert 1 == send()
    webhook.refresh_from_db()
    assert webhook.is_active


def test_the_tick_plans_and_sends(receiver: Receiver, settings: Any) -> None:
    told(receiver)
    settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8"])
    tell_webhooks()

    assert 1 == len(receiver.got)


@pytest.mark.parametrize(
    "url", ["ftp://shop.example/", "nonsense", "https://", "javascript:alert(1)"]
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        webhooks.add_webhook(site=site_of("shop"), url=url)
    assert not Webhook.objects.exists()


def test_the_secret_is_shown_once_and_in_no_table() -> None:
    site_of("shop")
    ada = caller("ada", Role.ADMINISTRATOR)
    added = ada.post("sites/shop/webhooks/", {"url": "https://receiver.example/hook"})
    webhook = Webhook.objects.get()

    assert 201 == added.status_code
    assert webhooks.secret_of(webhook) == added.json()["secret"]
    assert webhook.secret not in added.json()["secret"]
    (listed,) = ada.get("sites/shop/webhooks/").json()["results"]
    assert "secret" not in listed
    assert 400 == ada.post("sites/shop/webhooks/", {"url": "nonsense"}).status_code


def test_the_log_is_read_and_a_webhook_removed(receiver: Receiver) -> None:
    webhook, _ = told(receiver)
    webhooks.plan_deliveries()
    ada = caller("ada", Role.ADMINISTRATOR)
    (row,) = ada.get(f"sites/shop/webhooks/{webhook.pk}/deliveries/").json()["results"]

    assert ("due", 1, 0) == (row["state"], row["n_records"], row["n_tries"])
    assert ada.post(f"sites/shop/webhooks/{webhook.pk}/resume/").json()["is_active"]
    assert 204 == ada.delete(f"sites/shop/webhooks/{webhook.pk}/").status_code
    assert not Webhook.objects.exists()
    assert {"webhook.added", "webhook.resumed", "webhook.removed"} <= set(
        AuditEntry.objects.values_list("action", flat=True)
    )
