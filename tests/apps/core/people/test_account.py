"""Logging in and out, and changing one's own password and time zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from vertex.core.models import AuditEntry, LogInAttempt, Role, User
from vertex.core.services.people import people
from vertex.core.services.people.log_in_attempts import DEVICE_COOKIE

PASSWORD, NEW = "seven quiet lanterns", "nine loud harbours"


@pytest.fixture
def anna(db: None) -> User:
    return people.create_user(
        username="anna", role=Role.ADMINISTRATOR, password=PASSWORD, actor=None
    )


@pytest.fixture
def client(anna: User) -> Client:
    return Client()


def log_in(client: Client, username: str = "anna", password: str = PASSWORD, **more: str) -> object:
    return client.post(reverse("log_in"), {"username": username, "password": password, **more})


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


class TestLogIn:
    def test_the_right_password_opens_the_first_page(self, client: Client, anna: User) -> None:
        response = client.post(reverse("log_in"), {"username": "anna", "password": PASSWORD})

        assert reverse("sites") == response["Location"]
        assert is_in(client)
        anna.refresh_from_db()
        assert anna.last_login is not None

    def test_the_answer_is_the_same_whatever_is_wrong(self, client: Client, anna: User) -> None:
        eddy = people.create_user(username="eddy", password=PASSWORD, actor=None)
        people.close_user(user=eddy, actor=anna)
        people.create_user(username="feed", is_service=True, actor=None)
        answers = {
            page_without_entries(client, name, password)
            for name, password in [
                ("anna", "wrong"),
                ("nobody", PASSWORD),
                ("eddy", PASSWORD),
                ("feed", "x"),
            ]
        }

        assert 1 == len(answers)
        assert "wrong, or the account is closed" in answers.pop()
        assert not is_in(client)

    def test_too_many_failures_say_how_long_to_wait(self, client: Client) -> None:
        for _ in range(5):
            log_in(client, password="wrong")
        response = client.post(reverse("log_in"), {"username": "anna", "password": PASSWORD})

        assert 429 == response.status_code
        assert 1 <= int(response["Retry-After"]) <= 15
        assert "Too many failed attempts. Wait 1" in response.content.decode()
        assert not is_in(client)

    def test_a_browser_that_was_in_before_is_not_kept_out_by_strangers(
        self, client: Client
    ) -> None:
        log_in(client)
        client.post(reverse("log_out"))
        stranger = Client(REMOTE_ADDR="203.0.113.9")
        for _ in range(6):
            log_in(stranger, password="wrong")

        assert not is_in(client)
        log_in(client)
        assert is_in(client)
        log_in(stranger)
        assert not is_in(stranger)

    def test_failures_are_counted_by_address(self, client: Client) -> None:
        form = {"username": "anna", "password": "wrong"}
        client.post(reverse("log_in"), form, REMOTE_ADDR="2001:db8:1:2::7")

        assert "2001:db8:1:2::/64" == LogInAttempt.objects.get().address

    def test_the_session_of_before_is_not_taken_over(self, client: Client) -> None:
        client.get(reverse("log_in"))
        session = client.session
        session["planted"] = True
        session.save()
        planted = session.session_key
        client.cookies["sessionid"] = planted or ""
        log_in(client)

        assert planted != client.session.session_key

    def test_the_device_cookie_is_hidden_from_scripts(self, client: Client) -> None:
        log_in(client)

        cookie = client.cookies[DEVICE_COOKIE]
        assert cookie["httponly"]
        assert "Lax" == cookie["samesite"]

    def test_the_page_is_not_kept_by_caches_and_needs_its_own_token(self, client: Client) -> None:
        strict = Client(enforce_csrf_checks=True)

        assert "no-store" in client.get(reverse("log_in"))["Cache-Control"]
        assert 403 == strict.post(reverse("log_in"), {"username": "a", "password": "b"}).status_code

    @pytest.mark.parametrize("entry", ["", "a\x00b", "x" * 3000])
    def test_odd_names_are_wrong_names(self, client: Client, entry: str) -> None:
        response = client.post(reverse("log_in"), {"username": entry, "password": entry})

        assert 200 == response.status_code
        assert not is_in(client)

    def test_whoever_is_in_goes_on(self, client: Client) -> None:
        log_in(client)

        assert (
            reverse("audit")
            == client.get(reverse("log_in"), {"next": reverse("audit")})["Location"]
        )


class TestNext:
    def test_a_page_of_this_installation_is_gone_to(self, client: Client) -> None:
        page = client.get(reverse("log_in"), {"next": "/settings/tokens/?a=b&c=d"}).content.decode()
        assert 'name="next" value="/settings/tokens/?a=b&amp;c=d"' in page

        response = client.post(
            reverse("log_in"),
            {"username": "anna", "password": PASSWORD, "next": "/settings/tokens/?a=b"},
        )
        assert "/settings/tokens/?a=b" == response["Location"]

    @pytest.mark.parametrize(
        "trap",
        [
            "https://evil.example/",
            "//evil.example/",
            "///evil.example/",
            "/\\evil.example/",
            "\\\\evil.example/",
            "http:evil.example",
            "javascript:alert(1)",
            " //evil.example",
            "\t//evil.example",
            "http://testserver@evil.example/",
        ],
    )
    def test_no_other_place_is(self, client: Client, trap: str) -> None:
        form = {"username": "anna", "password": PASSWORD, "next": trap}

        assert reverse("sites") == client.post(reverse("log_in"), form)["Location"]


class TestLogOut:
    def test_ends_the_session_by_post_only(self, client: Client) -> None:
        log_in(client)
        assert 405 == client.get(reverse("log_out")).status_code
        assert is_in(client)

        client.post(reverse("log_out"))
        assert not is_in(client)

    def test_the_old_cookie_opens_nothing(self, client: Client) -> None:
        log_in(client)
        remaining = client.cookies["sessionid"].value
        client.post(reverse("log_out"))
        client.cookies["sessionid"] = remaining

        assert not is_in(client)


class TestChangePassword:
    def change(
        self, client: Client, current: str = PASSWORD, new: str = NEW, again: str = NEW
    ) -> str:
        form = {"current": current, "new": new, "again": again}
        return client.post(reverse("change_password"), form, follow=True).content.decode()

    def test_keeps_this_session_and_ends_the_others(self, client: Client) -> None:
        other = Client()
        log_in(client)
        log_in(other)
        assert is_in(other)
        self.change(client)

        assert is_in(client)
        assert not is_in(other)
        assert not User.objects.get(username="anna").check_password(PASSWORD)
        assert "anna" == AuditEntry.objects.get(action="password.changed").actor_name

    @pytest.mark.parametrize(
        ("entries", "problem"),
        [
            ({"current": "wrong"}, "not your current password"),
            ({"again": "something else"}, "differ"),
            ({"new": "short", "again": "short"}, "too short"),
            ({"new": PASSWORD, "again": PASSWORD}, "current password. Choose another"),
        ],
    )
    def test_says_what_is_wrong(
        self, client: Client, entries: dict[str, str], problem: str
    ) -> None:
        log_in(client)

        assert problem in self.change(client, **entries)
        assert User.objects.get(username="anna").check_password(PASSWORD)

    def test_guessing_the_current_one_is_slow_too(self, client: Client) -> None:
        log_in(client)
        for _ in range(5):
            self.change(client, current="wrong")

        assert "Too many failed attempts" in self.change(client)
        assert User.objects.get(username="anna").check_password(PASSWORD)


class TestFirstLogIn:
    def test_nothing_opens_before_a_new_password_is_chosen(
        self, client: Client, anna: User
    ) -> None:
        password = people.reset_password(user=anna, actor=None)
        log_in(client, password=password)
        for name in ("sites", "account", "people", "tokens"):
            assert reverse("change_password") == client.get(reverse(name))["Location"]

        form = {"current": password, "new": NEW, "again": NEW}
        assert reverse("sites") == client.post(reverse("change_password"), form)["Location"]
        assert is_in(client)


class TestAccount:
    def test_names_and_time_zone_can_be_changed(self, client: Client, anna: User) -> None:
        log_in(client)
        client.post(reverse("account"), {"first_name": "Anna", "time_zone": "Asia/Tokyo"})

        anna.refresh_from_db()
        assert ("Anna", "Asia/Tokyo") == (anna.first_name, anna.time_zone)

    def test_an_unknown_zone_is_refused(self, client: Client, anna: User) -> None:
        log_in(client)
        response = client.post(reverse("account"), {"time_zone": "Moon/Crater"})

        assert "not one of the available choices" in response.content.decode()
        anna.refresh_from_db()
        assert "" == anna.time_zone

    def test_nobody_raises_themselves(self, client: Client) -> None:
        eddy = people.create_user(username="eddy", role=Role.VIEWER, password=PASSWORD, actor=None)
        log_in(client, "eddy")
        client.post(
            reverse("account"), {"first_name": "E", "is_superuser": "1", "role": "administrator"}
        )

        eddy.refresh_from_db()
        assert ("E", False) == (eddy.first_name, eddy.is_superuser)
        assert not eddy.has_role(Role.EDITOR)

    def test_a_person_without_a_role_is_told_what_to_do(self, client: Client) -> None:
        people.create_user(username="eddy", password=PASSWORD, actor=None)
        log_in(client, "eddy")

        assert "Ask an administrator" in client.get(reverse("account")).content.decode()

    def test_the_clock_stands_in_the_chosen_zone(self, client: Client, anna: User) -> None:
        log_in(client)
        people.change_user(user=anna, actor=anna, time_zone="Asia/Tokyo")
        with time_machine.travel(datetime.now(UTC).replace(hour=1, minute=5), tick=False):
            assert "10:05 on your clock" in client.get(reverse("account")).content.decode()


def page_without_entries(client: Client, name: str, password: str) -> str:
    response = client.post(reverse("log_in"), {"username": name, "password": password})
    assert 200 == response.status_code
    lines = response.content.decode().replace(name, "NAME").splitlines()
    return "\n".join(line for line in lines if "csrf" not in line)
