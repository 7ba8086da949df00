"""The step after the password: codes of an app, codes on paper, and who has to have one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from vertex.core.models import AuditEntry, LogInAttempt, Role, User
from vertex.core.services.people import log_in_attempts, people, second_factors
from vertex.core.services.people.log_in_attempts import LogInOrigin, TooManyAttempts, WrongCode

pytestmark = pytest.mark.both_databases

PASSWORD = "seven quiet lanterns"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
NOON = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
PERIOD = timedelta(seconds=30)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def anna(db: None) -> User:
    anna = people.create_user(
        username="anna", role=Role.ADMINISTRATOR, password=PASSWORD, actor=None
    )
    TOTP.activate(anna, SECRET)
    RecoveryCodes.activate(anna)
    return anna


@pytest.fixture
def eddy(db: None) -> User:
    return people.create_user(username="eddy", role=Role.EDITOR, password=PASSWORD, actor=None)


def code_now() -> str:
    counter = int(datetime.now(UTC).timestamp()) // 30
    return str(format_hotp_value(hotp_value(SECRET, counter)))


def wrong_code() -> str:
    return "000000" if code_now() != "000000" else "111111"


def enter_password(client: Client, username: str = "anna", **more: str) -> Any:
    entries = {"username": username, "password": PASSWORD, **more}
    return client.post(reverse("log_in"), entries)


def enter_code(client: Client, code: str) -> Any:
    return client.post(reverse("mfa_authenticate"), {"code": code})


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def confirm(client: Client) -> None:
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


class TestLogIn:
    def test_the_password_alone_does_not_let_in(self, anna: User) -> None:
        client = Client()
        answer = enter_password(client)

        assert reverse("mfa_authenticate") == answer["Location"]
        assert not is_in(client)
        assert log_in_attempts.DEVICE_COOKIE not in client.cookies

    def test_password_and_code_let_in_and_lead_on(self, anna: User) -> None:
        client = Client()
        enter_password(client, next="/settings/tokens/")
        before = client.session.session_key
        answer = enter_code(client, code_now())

        assert "/settings/tokens/" == answer["Location"]
        assert is_in(client)
        assert before != client.session.session_key
        assert client.cookies[log_in_attempts.DEVICE_COOKIE].value

    @pytest.mark.parametrize(
        "target", ["https://evil.example/", "//evil.example", "/\\evil.example"]
    )
    def test_nobody_is_sent_to_another_host(self, anna: User, target: str) -> None:
        client = Client()
        enter_password(client, next=target)

        assert reverse("sites") == enter_code(client, code_now())["Location"]

    def test_a_code_is_taken_once(self, anna: User) -> None:
        enter_password(first := Client())
        enter_code(first, code_now())
        enter_password(second := Client())
        answer = enter_code(second, code_now())

        assert is_in(first)
        assert "used before" in answer.content.decode()
        assert not is_in(second)

    def test_a_code_of_before_is_not_taken(self, anna: User, clock: time_machine.Traveller) -> None:
        old = code_now()
        clock.shift(2 * PERIOD)
        enter_password(client := Client())
        enter_code(client, old)

        assert not is_in(client)

    def test_a_code_on_paper_works_once_and_is_recorded(self, anna: User) -> None:
        code = RecoveryCodes.activate(anna).generate_codes()[0]
        for client in (first := Client(), second := Client()):
            enter_password(client)
            enter_code(client, code)

        assert [True, False] == [is_in(first), is_in(second)]
        assert 1 == AuditEntry.objects.filter(action="second_factor.recovered").count()

    def test_the_code_page_is_for_whoever_gave_the_password(self, anna: User) -> None:
        answer = enter_code(Client(), code_now())

        assert reverse("log_in") == answer["Location"]

    def test_an_account_that_is_closed_between_the_steps_stays_out(self, anna: User) -> None:
        people.create_user(username="boss", role=Role.ADMINISTRATOR, actor=None)
        enter_password(client := Client())
        people.close_user(user=anna, actor=None)
        enter_code(client, code_now())

        assert not is_in(client)

    def test_secrets_are_sealed_in_the_database(self, anna: User) -> None:
        stored = list(Authenticator.objects.values_list("data", flat=True))

        assert SECRET not in str(stored)
        assert 2 == len(stored)


class TestGuessing:
    def test_the_sixth_wrong_code_has_to_wait_even_with_the_password_again(
        self, anna: User
    ) -> None:
        client = Client()
        for _ in range(log_in_attempts.FREE_BY_NAME):
            enter_password(client)
            assert 200 == enter_code(client, wrong_code()).status_code
        enter_password(client)
        answer = enter_code(client, code_now())

        assert 429 == answer.status_code
        assert "15" == answer["Retry-After"]
        assert "Wait 15 seconds" in answer.content.decode()
        assert not is_in(client)

    def test_after_the_wait_the_right_code_lets_in(
        self, anna: User, clock: time_machine.Traveller
    ) -> None:
        client = Client()
        enter_password(client)
        for _ in range(log_in_attempts.FREE_BY_NAME):
            enter_code(client, wrong_code())
        clock.shift(timedelta(seconds=15))
        enter_code(client, code_now())

        assert is_in(client)
        assert not LogInAttempt.objects.exists()

    def test_wrong_codes_do_not_keep_anybody_from_the_password(self, anna: User) -> None:
        client = Client()
        enter_password(client)
        for _ in range(log_in_attempts.FREE_BY_NAME):
            enter_code(client, wrong_code())

        assert reverse("mfa_authenticate") == enter_password(Client())["Location"]

    def test_wrong_passwords_at_the_question_whether_it_is_you_are_counted(
        self, eddy: User
    ) -> None:
        client = Client()
        enter_password(client, "eddy")
        for _ in range(log_in_attempts.FREE_BY_NAME):
            client.post(reverse("account_reauthenticate"), {"password": "wrong"})
        answer = client.post(reverse("account_reauthenticate"), {"password": PASSWORD})

        assert "Too many failed attempts" in answer.content.decode()

    @pytest.mark.django_db(transaction=True)
    def test_of_many_codes_at_once_no_more_than_the_free_ones_are_tried(self) -> None:
        anna = people.create_user(username="anna", password=PASSWORD, actor=None)
        tried: list[str] = []
        barrier = threading.Barrier(12)

        def attack() -> None:
            barrier.wait()
            try:
                log_in_attempts.check_code(user=anna, is_right=lambda: False, origin=LogInOrigin())
            except WrongCode:
                tried.append("tried")
            except TooManyAttempts:
                pass
            finally:
                connection.close()

        threads = [threading.Thread(target=attack) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(tried) <= log_in_attempts.FREE_BY_NAME
        assert len(tried) == LogInAttempt.objects.filter(is_second_step=True).count()

    def test_passkeys_are_begun_a_few_times_a_minute_from_one_network(self, db: None) -> None:
        statuses = [
            Client()
            .get(reverse("mfa_login_webauthn"), headers={"Accept": "application/json"})
            .status_code
            for _ in range(log_in_attempts.BEGINS_BY_ADDRESS + 2)
        ]

        assert [200] * log_in_attempts.BEGINS_BY_ADDRESS + [429, 429] == statuses

    def test_what_a_stranger_began_lasts_minutes_and_a_log_in_after_it_hours(
        self, eddy: User, settings: Settings
    ) -> None:
        client = Client()
        client.get(reverse("mfa_login_webauthn"), headers={"Accept": "application/json"})
        begun = client.session.get_expiry_age()
        enter_password(client, "eddy")

        assert log_in_attempts.BEGUN_FOR == begun
        assert settings.SESSION_COOKIE_AGE == client.session.get_expiry_age()


HEAD = '{"id": "eA", "rawId": "eA", "type": "public-key", "response": '
ODD_CREDENTIALS = [
    "",
    "null",
    "[]",
    '"x"',
    "7",
    "{}",
    '{"response": null}',
    '{"id": "x", "rawId": "x", "type": "public-key", "response": {}}',
    HEAD + '{"clientDataJSON": "eA", "authenticatorData": "eA", "signature": "eA"}}',
    HEAD + '{"clientDataJSON": "e30", "authenticatorData": "eA", "userHandle": "MQ"}}',
    HEAD + '{"clientDataJSON": "W10", "attestationObject": "oA", "userHandle": null}}',
    "[" * 5000,
]


class TestOddPasskeys:
    @pytest.mark.parametrize("credential", ODD_CREDENTIALS)
    def test_they_let_nobody_in_and_break_nothing(self, anna: User, credential: str) -> None:
        client = Client()
        client.get(reverse("mfa_login_webauthn"), headers={"Accept": "application/json"})
        answer = client.post(reverse("mfa_login_webauthn"), {"credential": credential})
        enter_password(client)
        second = client.post(reverse("mfa_authenticate"), {"credential": credential})

        assert {200, 302} >= {answer.status_code, second.status_code}
        assert not is_in(client)

    @pytest.mark.parametrize("credential", ODD_CREDENTIALS)
    def test_they_are_not_added(self, eddy: User, credential: str) -> None:
        enter_password(client := Client(), "eddy")
        confirm(client)
        client.get(reverse("mfa_add_webauthn"))
        answer = client.post(
            reverse("mfa_add_webauthn"), {"name": "x" * 1000, "credential": credential}
        )

        assert 200 == answer.status_code
        assert [] == second_factors.kinds_of(eddy)


class TestAdding:
    def test_an_app_is_added_with_the_password_and_its_first_code(
        self, eddy: User, django_capture_on_commit_callbacks: Any
    ) -> None:
        enter_password(client := Client(), "eddy")
        asked = client.get(reverse("mfa_activate_totp"))
        assert asked["Location"].startswith(reverse("account_reauthenticate"))

        confirm(client)
        secret = client.get(reverse("mfa_activate_totp")).context["form"].secret
        at = int(datetime.now(UTC).timestamp()) // 30
        code = format_hotp_value(hotp_value(secret, at))
        with django_capture_on_commit_callbacks(execute=True):
            client.post(reverse("mfa_activate_totp"), {"code": code})

        assert ["app", "recovery codes"] == second_factors.kinds_of(eddy)
        assert ["second_factor.added", "second_factor.added"] == list(
            AuditEntry.objects.filter(actor=eddy).order_by("id").values_list("action", flat=True)
        )

    def test_a_wrong_first_code_adds_nothing(self, eddy: User) -> None:
        enter_password(client := Client(), "eddy")
        confirm(client)
        client.get(reverse("mfa_activate_totp"))
        client.post(reverse("mfa_activate_totp"), {"code": "12345x"})

        assert [] == second_factors.kinds_of(eddy)

    def test_the_last_one_takes_the_recovery_codes_along(self, anna: User) -> None:
        enter_password(client := Client())
        enter_code(client, code_now())
        confirm(client)
        client.post(reverse("mfa_deactivate_totp"))

        assert [] == second_factors.kinds_of(anna)
        assert 2 == AuditEntry.objects.filter(action="second_factor.removed").count()

    def test_nobody_removes_or_sees_what_is_somebody_elses(self, anna: User, eddy: User) -> None:
        enter_password(client := Client(), "eddy")
        confirm(client)
        theirs = Authenticator.objects.get(user=anna, type=Authenticator.Type.TOTP)

        assert 404 == client.post(reverse("mfa_remove_webauthn", args=[theirs.pk])).status_code
        assert 404 == client.post(reverse("mfa_deactivate_totp")).status_code
        assert 404 == client.get(reverse("mfa_view_recovery_codes")).status_code
        assert ["app", "recovery codes"] == second_factors.kinds_of(anna)

    @pytest.mark.parametrize(
        "page",
        [
            "mfa_index",
            "mfa_activate_totp",
            "mfa_deactivate_totp",
            "mfa_view_recovery_codes",
            "mfa_generate_recovery_codes",
            "mfa_add_webauthn",
            "account_reauthenticate",
            "mfa_reauthenticate",
            "mfa_reauthenticate_webauthn",
        ],
    )
    def test_strangers_see_none_of_the_pages(self, db: None, page: str) -> None:
        for method in (Client().get, Client().post):
            assert method(reverse(page))["Location"].startswith(reverse("log_in"))


class TestReset:
    def test_an_administrator_resets_what_is_lost(self, anna: User, eddy: User) -> None:
        TOTP.activate(eddy, SECRET)
        (client := Client()).force_login(anna)
        client.post(reverse("reset_second_factor", args=["eddy"]))

        assert [] == second_factors.kinds_of(eddy)
        entry = AuditEntry.objects.get(action="second_factor.reset")
        assert (anna, "eddy", {"kinds": ["app"]}) == (entry.actor, entry.subject, entry.detail)
        assert reverse("sites") == enter_password(Client(), "eddy")["Location"]

    def test_nobody_else_does(self, anna: User, eddy: User) -> None:
        (client := Client()).force_login(eddy)

        assert 403 == client.post(reverse("reset_second_factor", args=["anna"])).status_code
        assert 2 == Authenticator.objects.filter(user=anna).count()


class TestRequired:
    def test_whoever_needs_one_adds_it_before_anything_else(
        self, eddy: User, settings: Settings
    ) -> None:
        settings.SECOND_FACTOR = "EVERYBODY"
        enter_password(client := Client(), "eddy")

        assert reverse("mfa_index") == client.get(reverse("sites"))["Location"]
        assert 403 == client.get("/api/v1/sites/").status_code
        fragment = client.get(reverse("sites"), headers={"HX-Request": "true"})
        assert reverse("mfa_index") == fragment["HX-Redirect"]
        assert 200 == client.get(reverse("mfa_index")).status_code
        TOTP.activate(eddy, SECRET)
        assert 200 == client.get(reverse("sites")).status_code

    def test_it_may_be_asked_of_administrators_only(
        self, anna: User, eddy: User, settings: Settings
    ) -> None:
        settings.SECOND_FACTOR = "ADMINISTRATORS"
        boss = people.create_user(username="boss", role=Role.ADMINISTRATOR, actor=None)

        assert [True, False, False] == [
            second_factors.is_missing(person) for person in (boss, anna, eddy)
        ]

    def test_tokens_and_services_go_on(self, eddy: User, settings: Settings) -> None:
        settings.SECOND_FACTOR = "EVERYBODY"
        feed = people.create_user(username="feed", is_service=True, role=Role.VIEWER, actor=None)

        assert not second_factors.is_missing(feed)
        assert second_factors.is_missing(eddy)


def test_the_command_line_resets_it_for_the_last_administrator(
    anna: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reset_second_factor", "ANNA")
    call_command("reset_second_factor", "anna")

    assert [] == second_factors.kinds_of(anna)
    assert 1 == AuditEntry.objects.filter(action="second_factor.reset", actor=None).count()
    with pytest.raises(CommandError, match="no account"):
        call_command("reset_second_factor", "nobody")


def test_a_secret_of_another_installation_says_what_to_do(anna: User, settings: Settings) -> None:
    enter_password(Client())
    settings.SECRET_KEY = "another key of another installation, fifty letters or more"
    enter_password(client := Client())
    answer = enter_code(client, "123456")

    assert 403 == answer.status_code
    assert "An administrator can reset it" in answer.content.decode()
