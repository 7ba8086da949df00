"""Webhooks in the browser: add one and see its secret once, read the log, send again, give up."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from rules.models import Delivery, Webhook
from rules.services.records.webhooks import add_webhook, secret_of
from tests.apps.clustering.api_cast import site_of
from tests.apps.rules.review_cast import person
from vertex.core.models import AuditEntry, Role

pytestmark = pytest.mark.django_db
URL = "https://receiver.example/hook"


@pytest.fixture
def ops() -> Client:
    client = Client()
    client.force_login(person("ops", Role.OPERATOR))
    return client


@pytest.fixture
def webhook() -> Webhook:
    return add_webhook(site=site_of("shop"), url=URL)


def failed(webhook: Webhook) -> Delivery:
    Webhook.objects.update(is_active=False)
    fields = {"first_change": 1, "last_change": 4, "n_records": 4, "n_tries": 9, "status": 500}
    return Delivery.objects.create(
        webhook=webhook, state="failed", error="It answered 500.", **fields
    )


def test_the_secret_is_shown_once(ops: Client) -> None:
    site_of("shop")
    address = reverse("webhooks", args=["shop"])
    assert "Nobody is told yet" in ops.get(address).content.decode()
    answer = ops.post(address, {"url": URL}).content.decode()

    assert secret_of(Webhook.objects.get()) in answer
    assert "shown only now" in answer
    assert URL in (listed := ops.get(address).content.decode())
    assert "whsec_" not in listed


def test_an_address_that_cannot_be_is_told(ops: Client) -> None:
    site_of("shop")

    answer = ops.post(reverse("webhooks", args=["shop"]), {"url": "ftp://receiver.example"})
    assert 400 == answer.status_code
    assert not Webhook.objects.exists()


def test_the_log_tells_how_each_message_went(ops: Client, webhook: Webhook) -> None:
    address = reverse("webhook", args=["shop", webhook.pk])
    assert "No messages yet" in ops.get(address).content.decode()
    failed(webhook)

    for each in ("Given up", "It answered 500.", "Send again", "Resume"):
        assert each in ops.get(address).content.decode()


def test_a_message_is_sent_again(ops: Client, webhook: Webhook) -> None:
    delivery = failed(webhook)
    ops.post(reverse("retry_delivery", args=["shop", webhook.pk, delivery.pk]))

    delivery.refresh_from_db()
    assert ("due", 0, True) == (delivery.state, delivery.n_tries, Webhook.objects.get().is_active)
    assert "delivery.retried" == AuditEntry.objects.latest("pk").action


def test_one_that_arrived_stays(ops: Client, webhook: Webhook) -> None:
    delivery = failed(webhook)
    Delivery.objects.update(state="delivered")
    ops.post(reverse("retry_delivery", args=["shop", webhook.pk, delivery.pk]))

    assert "delivered" == Delivery.objects.get().state


def test_it_is_resumed_and_removed(ops: Client, webhook: Webhook) -> None:
    failed(webhook)
    ops.post(reverse("resume_webhook", args=["shop", webhook.pk]))
    assert Webhook.objects.get().is_active
    ops.post(reverse("remove_webhook", args=["shop", webhook.pk]))
    assert not Webhook.objects.exists()


def test_it_is_an_operators(webhook: Webhook) -> None:
    client = Client()
    client.force_login(person("rob"))

    assert 403 == client.get(reverse("webhooks", args=["shop"])).status_code
    assert 403 == client.get(reverse("webhook", args=["shop", webhook.pk])).status_code
