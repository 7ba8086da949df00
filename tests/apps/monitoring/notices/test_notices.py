"""People are told of alerts: once, together, again until it arrives, and when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import orjson
import pytest
import time_machine
from django.conf import LazySettings
from django.core import mail
from django.core.exceptions import ValidationError
from django.utils import timezone

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.services.outbox import DeliveryFailure, signature
from monitoring.models import Alert, Channel, Notice
from monitoring.services.notices.alerts import acknowledge, release, settle_alert, snooze
from monitoring.services.notices.channels import (
    TARGET_CHECKS,
    add_channel,
    is_allowed,
    key_of,
    switch_channel,
)
from monitoring.services.notices.messages import SENDERS, Message
from monitoring.services.notices.notices import plan_notices, send_notices
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from vertex.core.models import Site, User

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
Kind = Alert.Kind


@pytest.fixture(autouse=True)
def mail_server(settings: LazySettings) -> None:
    settings.EMAIL_HOST = "mail.example"


@pytest.fixture
def service(settings: LazySettings) -> Iterator[FakeHost]:
    """Return a service that the administrator allows."""
    with FakeHost({"/x": Answer(), "/key/": Answer()}) as host:
        settings.APPRISE_SERVICES = [f"json://127.0.0.1:{host.server_port}"]
        yield host


def notice_of(channel: Channel) -> Notice:
    alert = Alert(site=Site(name="shop"), kind=Kind.WARNING, text="x", raised_at=timezone.now())
    return Notice(alert=alert, channel=channel, event=Notice.Event.RAISED)


class Clock:
    """A clock that a test moves on."""

    def __init__(self, traveller: time_machine.Traveller) -> None:
        self._traveller = traveller

    def tick(self, **later: float) -> int:
        """Move on, plan and send; return how many messages arrived."""
        self._traveller.shift(timedelta(**later))
        plan_notices()
        return send_notices(Fetcher(Client("Vertex", Guard(networks(["127.0.0.0/8"])))))


@pytest.fixture
def clock() -> Iterator[Clock]:
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield Clock(traveller)


def to_ada(site: Site | None = None) -> Channel:
    return add_channel(site=site, kind="email", target="ada@people.example")


def raised(
    site: Site, kind: Alert.Kind = Kind.SITE_CHANGED, text: str = "products changed"
) -> Alert:
    alert = settle_alert(site=site, kind=kind, text=text, clusters=["products"])
    assert alert is not None
    return alert


def states() -> list[tuple[str, str]]:
    return list(Notice.objects.order_by("pk").values_list("event", "state"))


class TestWhoIsTold:
    def test_one_message_tells_of_all_that_came_together(self, clock: Clock) -> None:
        to_ada()
        raised(site_of("shop"))
        raised(site_of("guide"), Kind.UNREACHABLE, "12 of 12 bellwethers cannot be reached")
        assert 0 == clock.tick(minutes=1)
        assert 1 == clock.tick(minutes=2)
        assert 0 == clock.tick(minutes=5)

        (message,) = mail.outbox
        assert ["ada@people.example"] == message.to
        assert "[Vertex] 2 notices of guide, shop" == message.subject
        assert "products changed" in message.body
        assert "cannot be reached" in message.body

    def test_the_same_alert_found_again_is_told_once(self, clock: Clock) -> None:
        to_ada()
        shop = site_of("shop")
        for _ in range(5):
            raised(shop)
            clock.tick(hours=1)

        assert 1 == len(mail.outbox)
        assert 5 == Alert.objects.get().n_seen

    def test_what_is_over_before_anybody_was_told_is_told_to_nobody(self, clock: Clock) -> None:
        to_ada()
        release(alert=raised(site_of(), Kind.COVERAGE))
        clock.tick(minutes=10)
        assert [] == mail.outbox

    def test_who_took_it_up_keeps_the_others_quiet(self, clock: Clock) -> None:
        to_ada()
        alert = raised(site_of())
        clock.tick(minutes=1)
        acknowledge(alert=alert, actor=User.objects.create(username="bob"))
        clock.tick(minutes=10)

        assert [("raised", "dropped")] == states()

    def test_recovery_is_told_to_who_was_told_of_the_alert(self, clock: Clock) -> None:
        to_ada()
        shop = site_of()
        raised(shop)
        clock.tick(minutes=3)
        clock.tick(minutes=3)
        settle_alert(site=shop, kind=Kind.SITE_CHANGED, text="")
        late = add_channel(site=shop, kind="email", target="bob@people.example")
        clock.tick(minutes=1)
        clock.tick(minutes=3)

        assert ["ada@people.example"] * 2 == [message.to[0] for message in mail.outbox]
        assert "recovered" in mail.outbox[1].subject
        assert not late.notices.exists()

    def test_a_snooze_is_quiet_and_then_reminds(self, clock: Clock) -> None:
        to_ada()
        alert = raised(site_of())
        clock.tick(minutes=3)
        clock.tick(minutes=3)
        snooze(
            alert=alert,
            until=timezone.now() + timedelta(hours=4),
            actor=User.objects.create(username="bob"),
        )
        clock.tick(hours=3)
        assert 1 == len(mail.outbox)
        clock.tick(hours=2)
        clock.tick(hours=2)

        assert 2 == len(mail.outbox)
        assert "still there" in mail.outbox[1].subject

    def test_channels_hear_of_their_site_and_kinds_only(self, clock: Clock) -> None:
        shop, guide = site_of("shop"), site_of("guide")
        to_ada(shop)
        raised(guide)
        raised(shop, Kind.WARNING, "an advertisement")
        clock.tick(minutes=10)
        assert [] == mail.outbox
        raised(shop)
        clock.tick(minutes=1)
        clock.tick(minutes=3)

        assert 1 == len(mail.outbox)


class TestWebhook:
    def test_it_is_signed_tried_again_and_given_up(self, clock: Clock) -> None:
        got: list[Asked] = []
        statuses = [500, 204]

        def answer(request: Asked) -> Answer:
            got.append(request)
            return Answer(status=statuses.pop(0) if statuses else 410)

        with FakeHost({"/hook": answer}) as host:
            channel = add_channel(site=None, kind="webhook", target=f"{host.url}/hook")
            raised(site_of("shop"))
            clock.tick(minutes=1)
            assert 0 == clock.tick(minutes=2)
            assert 0 == clock.tick(seconds=10)
            assert 1 == clock.tick(minutes=1)
            raised(site_of("guide"))
            clock.tick(minutes=1)
            clock.tick(minutes=3)

        first, second, _ = got
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert second.headers["webhook-signature"] == signature(
            key_of(channel),
            second.headers["webhook-id"],
            int(second.headers["webhook-timestamp"]),
            second.body,
        )
        (notice,) = orjson.loads(second.body)["data"]["notices"]
        assert ("raised", "shop") == (notice["event"], notice["site"])
        assert {"delivered", "failed"} == {state for _, state in states()}
        channel.refresh_from_db()
        assert not channel.is_active
        switch_channel(channel=channel, is_active=True)
        assert ("raised", "due") in states()

    def test_a_private_address_is_refused(self, clock: Clock) -> None:
        add_channel(site=None, kind="webhook", target="http://10.0.0.1/hook")
        raised(site_of())
        clock.tick(minutes=1)
        clock.tick(minutes=3)

        notice = Notice.objects.get()
        assert (Notice.State.DUE, 1) == (notice.state, notice.n_tries)
        assert "10.0.0.1" in notice.error


class TestServices:
    @pytest.mark.parametrize(
        ("target", "allowed"),
        [
            ("tgram://123456789:abcdefg_hijklmnop/12315544/", True),
            ("gotify://push.example.org/token", True),
            ("gotify://push.example.org@10.0.0.1/token", False),
            ("gotify://10.0.0.1/token", False),
            ("json://169.254.169.254/", False),
            ("slack://a/b/c", False),
            ("file:///etc/passwd", False),
            ("tgram", False),
            ("gotify://push.example.org/AAAAAAAAAAAAAAA json://127.0.0.1:1/x?method=PUT", False),
            ("gotify://push.example.org/AAAAAAAAAAAAAAA,json://127.0.0.1:1/x", False),
            ("gotify://push.example.org/AAAAAAAAAAAAAAA;json://127.0.0.1:1/x", False),
            ("gotify://push.example.org/AAAAAAAAAAAAAAA\tjson://127.0.0.1:1/x", False),
            ("mailto://u:p@example.org?smtp=127.0.0.1", False),
            ("mailto://u:p@example.org?s%6Dtp=127.0.0.1", False),
            ("mailto://u:p@example.org?format=text", True),
        ],
    )
    def test_only_what_the_administrator_allows_is_reached(
        self, target: str, *, allowed: bool, settings: LazySettings
    ) -> None:
        settings.APPRISE_SERVICES = [
            "tgram",
            "gotify://push.example.org",
            "json",
            "mailto://example.org",
        ]

        assert allowed == is_allowed(target)

    def test_an_address_is_sent_to_as_one_and_not_split_into_more(
        self, service: FakeHost, settings: LazySettings
    ) -> None:
        address = f"json://127.0.0.1:{service.server_port}/x"
        channel = Channel(kind=Channel.Kind.APPRISE, target=f"{address} {address}")
        message = Message("1", [notice_of(channel)], timezone.now())

        refused = SENDERS[Channel.Kind.APPRISE](
            channel, message, Fetcher(Client("Vertex", Guard()))
        )

        assert isinstance(refused, DeliveryFailure)
        assert [] == service.asked
        channel.target = address
        SENDERS[Channel.Kind.APPRISE](channel, message, Fetcher(Client("Vertex", Guard())))
        assert 1 == len(service.asked)

    def test_none_is_allowed_by_default_and_the_message_says_what_is(self) -> None:
        with pytest.raises(ValidationError, match="VERTEX_APPRISE_SERVICES"):
            add_channel(site=None, kind="apprise", target="tgram://1:a/2/")

    def test_a_message_goes_out_and_the_key_is_not_shown(
        self, clock: Clock, service: FakeHost
    ) -> None:
        channel = add_channel(
            site=None, kind="apprise", target=f"json://127.0.0.1:{service.server_port}/key/"
        )
        raised(site_of("shop"))
        clock.tick(minutes=1)
        assert 1 == clock.tick(minutes=3)

        (sent,) = service.asked
        assert "shop: site changed: raised" == orjson.loads(sent.body)["title"]
        assert "apprise: json://…" == str(channel)


def test_every_kind_of_channel_has_its_sender_and_the_check_of_its_target() -> None:
    assert set(Channel.Kind) == set(SENDERS) == set(TARGET_CHECKS)


def test_without_a_mail_server_no_address_is_taken(settings: LazySettings) -> None:
    settings.EMAIL_HOST = ""
    with pytest.raises(ValidationError, match="VERTEX_EMAIL_URL"):
        to_ada()


def test_an_alert_that_grows_wants_to_be_seen_again() -> None:
    shop = site_of()
    alert = raised(shop)
    acknowledge(alert=alert, actor=User.objects.create(username="bob"))
    settle_alert(site=shop, kind=Kind.SITE_CHANGED, text="both", clusters=["products", "articles"])
    alert.refresh_from_db()

    assert alert.acknowledged_at is None
    assert Alert.State.OPEN == alert.state_at(timezone.now())


def test_a_snooze_lies_in_the_future() -> None:
    with pytest.raises(ValidationError):
        snooze(
            alert=raised(site_of()), until=timezone.now(), actor=User.objects.create(username="bob")
        )
