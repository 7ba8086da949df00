"""Messages are claimed by one worker, signed, retried after longer waits, and at last given up."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.services import outbox
from clustering.services.outbox import Arrival, DeliveryFailure
from monitoring.models import Alert, Channel, Notice
from rules.models import Delivery, Webhook
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.fake_host import Answer, FakeHost, moved
from vertex.core.models.outbox import MessageState, OutgoingMessage

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def delivery() -> tuple[Delivery, Webhook]:
    webhook = Webhook.objects.create(site=site_of("shop"), url="https://a.example/")
    row = Delivery.objects.create(webhook=webhook, first_change=1, last_change=2, next_try_at=NOW)
    return row, webhook


def notice() -> tuple[Notice, Channel]:
    channel = Channel.objects.create(kind=Channel.Kind.WEBHOOK, target="https://a.example/")
    alert = Alert.objects.create(site=site_of("shop"), kind=Alert.Kind.HELD, text="held back")
    row = Notice.objects.create(
        alert=alert, channel=channel, event=Notice.Event.RAISED, next_try_at=NOW
    )
    return row, channel


EveryModel = pytest.mark.parametrize("make", [delivery, notice])
Make = Callable[[], tuple[OutgoingMessage, Webhook | Channel]]


def send(row: OutgoingMessage, receiver: Webhook | Channel, outcome: object) -> bool:
    """Claim a message, say what came of sending it, and read again what is stored."""
    assert isinstance(outcome, Arrival | DeliveryFailure)
    assert outbox.claim(row)
    receivers = type(receiver)._default_manager.filter(pk=receiver.pk)
    has_arrived = outbox.store_outcome([row], outcome, receiver=receivers)
    row.refresh_from_db()
    receiver.refresh_from_db()
    return has_arrived


@EveryModel
class TestRows:
    def test_two_workers_do_not_send_the_same_message(self, make: Make) -> None:
        row, _ = make()
        same_row = type(row)._default_manager.get(pk=row.pk)

        assert [True, False] == [outbox.claim(row), outbox.claim(same_row)]

    def test_a_message_whose_worker_died_can_be_claimed_when_the_lease_is_over(
        self, make: Make
    ) -> None:
        row, _ = make()
        with time_machine.travel(NOW, tick=False):
            outbox.claim(row)

        row.refresh_from_db()
        assert NOW + outbox.LEASE == row.next_try_at
        assert outbox.claim(row)
        row.refresh_from_db()
        assert 2 == row.n_tries

    def test_an_arrival_is_stored_with_its_status(self, make: Make) -> None:
        row, receiver = make()

        assert send(row, receiver, Arrival(204))
        assert (MessageState.DELIVERED, 204, "") == (row.state, row.status, row.error)
        assert row.finished_at is not None
        assert receiver.is_active

    def test_a_failure_is_tried_again_after_longer_waits_for_about_a_day(self, make: Make) -> None:
        row, receiver = make()
        waits = []
        with time_machine.travel(NOW, tick=False):
            for _ in range(outbox.MAX_TRIES - 1):
                assert not send(row, receiver, DeliveryFailure("no\0answer", status=503))
                assert (MessageState.DUE, 503, "no�answer") == (row.state, row.status, row.error)
                waits.append(row.next_try_at - NOW)

            assert sorted(set(waits[:7])) == waits[:7]
            assert timedelta(hours=12) < sum(waits, timedelta()) < timedelta(hours=30)
            assert receiver.is_active

            assert not send(row, receiver, DeliveryFailure("no answer"))
        assert (MessageState.FAILED, NOW) == (row.state, row.finished_at)
        assert not receiver.is_active

    def test_what_is_hopeless_is_given_up_at_once(self, make: Make) -> None:
        row, receiver = make()

        assert not send(row, receiver, DeliveryFailure("gone", is_hopeless=True))
        assert (MessageState.FAILED, 1) == (row.state, row.n_tries)
        assert not receiver.is_active

    def test_a_row_that_ended_while_it_was_sent_stays_as_it_is(self, make: Make) -> None:
        row, receiver = make()
        type(row)._default_manager.filter(pk=row.pk).update(state=MessageState.FAILED)
        receivers = type(receiver)._default_manager.filter(pk=receiver.pk)
        outbox.store_outcome([row], Arrival(204), receiver=receivers)

        row.refresh_from_db()
        assert MessageState.FAILED == row.state

    def test_what_was_given_up_can_be_sent_again_as_if_it_were_new(self, make: Make) -> None:
        row, receiver = make()
        send(row, receiver, DeliveryFailure("gone", is_hopeless=True))
        assert 1 == outbox.send_again(type(row)._default_manager.filter(pk=row.pk))

        row.refresh_from_db()
        assert (MessageState.DUE, 0, None) == (row.state, row.n_tries, row.finished_at)
        assert row.next_try_at <= timezone.now()


class TestPost:
    KEY = b"a key of 32 bytes, or any length"

    def post(self, host: FakeHost, guard: Guard | None = None) -> Arrival | DeliveryFailure:
        with Fetcher(Client("Vertex", guard or Guard(networks(["127.0.0.0/8"])))) as client:
            return outbox.post_signed(
                client,
                url=f"{host.url}/hook",
                key=self.KEY,
                message_id="msg_7",
                at=NOW,
                body=b'{"type":"x"}',
            )

    def test_the_receiver_can_check_the_signature_with_the_key_that_people_are_shown(self) -> None:
        with FakeHost({"/hook": Answer(status=204)}) as host:
            assert Arrival(204) == self.post(host)

        (request,) = host.asked
        headers = {name.lower(): value for name, value in request.headers.items()}
        key = base64.b64decode(outbox.written_key(self.KEY).removeprefix("whsec_"))
        signed = f"msg_7.{headers['webhook-timestamp']}.".encode() + request.body
        digest = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
        assert f"v1,{digest}" == headers["webhook-signature"]
        assert ("msg_7", str(int(NOW.timestamp()))) == (
            headers["webhook-id"],
            headers["webhook-timestamp"],
        )
        assert ("POST", "application/json") == (request.method, headers["content-type"])

    @pytest.mark.parametrize(("status", "is_hopeless"), [(500, False), (404, False), (410, True)])
    def test_another_status_is_a_failure_and_410_a_hopeless_one(
        self, status: int, *, is_hopeless: bool
    ) -> None:
        with FakeHost({"/hook": Answer(status=status)}) as host:
            outcome = self.post(host)

        assert isinstance(outcome, DeliveryFailure)
        assert (status, is_hopeless) == (outcome.status, outcome.is_hopeless)
        assert str(status) in outcome.error

    def test_redirects_are_not_followed(self) -> None:
        with FakeHost({"/hook": moved("/other", 307), "/other": Answer()}) as host:
            outcome = self.post(host)

        assert ["/hook"] == host.paths
        assert isinstance(outcome, DeliveryFailure)

    def test_an_address_inside_is_refused_and_nothing_reaches_it(self) -> None:
        with FakeHost({"/hook": Answer()}) as host:
            outcome = self.post(host, Guard())

        assert [] == host.asked
        assert isinstance(outcome, DeliveryFailure)
        assert "127.0.0.1" in outcome.error


def test_sending_ends_when_its_time_is_over_and_the_rest_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = []

    def send_all_but_the_first(message: int) -> bool:
        sent.append(message)
        if message == 2:
            monkeypatch.setattr(outbox, "monotonic", lambda: float("inf"))
        return message != 0

    assert 2 == outbox.send_in_time(range(5), send_all_but_the_first, lambda _message: None)
    assert [0, 1, 2] == sent


def test_a_site_with_slow_receivers_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, sent = [0.0], []
    monkeypatch.setattr(outbox, "monotonic", lambda: clock[0])

    def send(message: tuple[int, int]) -> bool:
        sent.append(message)
        clock[0] += 14 if message[0] == 1 else 0.1
        return True

    messages = [(1, number) for number in range(20)] + [(2, number) for number in range(20)]
    assert 21 == outbox.send_in_time(messages, send, lambda message: message[0])
    assert [(1, 0), *((2, number) for number in range(20))] == sent
