"""Keys for the API: shown once, hashed, limited, revocable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from vertex.core.models import AuditEntry, Role, Scope, Token, User
from vertex.core.services.people import people, tokens

pytestmark = pytest.mark.both_databases


NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def anna(db: None) -> User:
    return people.create_user(username="anna", role=Role.ADMINISTRATOR, actor=None)


@pytest.fixture
def eddy(db: None) -> User:
    return people.create_user(username="eddy", role=Role.EDITOR, actor=None)


@pytest.fixture
def feed(db: None) -> User:
    return people.create_user(username="feed", role=Role.VIEWER, is_service=True, actor=None)


def make(user: User, name: str = "exports", days: int = 90) -> tuple[Token, str]:
    return tokens.create_token(user=user, name=name, scopes=["sites:read"], days=days, actor=user)


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


class TestKeys:
    def test_a_key_opens_and_another_does_not(self, eddy: User) -> None:
        token, key = make(eddy)

        assert token == tokens.authenticate_token(key)
        for wrong in (
            "",
            key[:-1],
            key + "x",
            key.swapcase(),
            token.prefix,
            token.key_hash,
            "\udcff",
            "ü",
        ):
            assert tokens.authenticate_token(wrong) is None

    def test_only_the_hash_of_256_random_bits_is_kept(self, eddy: User) -> None:
        token, key = make(eddy)

        assert hashlib.sha256(key.encode()).hexdigest() == token.key_hash
        assert 43 == len(key.removeprefix("vtx_"))
        assert key[:12] == token.prefix
        stored = str(list(Token.objects.values())) + str(list(AuditEntry.objects.values()))
        assert key not in stored

    def test_expires(self, eddy: User, clock: time_machine.Traveller) -> None:
        token, key = make(eddy, days=1)
        clock.shift(timedelta(days=1) - timedelta(seconds=1))
        assert token == tokens.authenticate_token(key)

        clock.shift(timedelta(seconds=1))
        assert tokens.authenticate_token(key) is None

    def test_is_revoked_once_and_for_all(self, eddy: User) -> None:
        token, key = make(eddy)
        assert tokens.authenticate_token(key)
        tokens.revoke_token(token=token, actor=eddy)
        tokens.revoke_token(token=token, actor=eddy)

        assert tokens.authenticate_token(key) is None
        assert 1 == AuditEntry.objects.filter(action="token.revoked").count()

    def test_the_last_use_is_noted_once_a_minute(
        self, eddy: User, clock: time_machine.Traveller
    ) -> None:
        token, key = make(eddy)

        def used_after(seconds: int) -> datetime | None:
            clock.shift(timedelta(seconds=seconds))
            tokens.authenticate_token(key)
            token.refresh_from_db()
            return token.last_used_at

        assert NOON == used_after(0)
        assert NOON == used_after(59)
        assert NOON + timedelta(seconds=60) == used_after(1)

    @pytest.mark.parametrize("days", [0, -1, 366])
    def test_lives_neither_too_long_nor_not_at_all(self, eddy: User, days: int) -> None:
        with pytest.raises(tokens.BadLifetime):
            make(eddy, days=days)

    @pytest.mark.parametrize("scopes", [[], ["sites:destroy"], ["sites:read", "x"]])
    def test_needs_scopes_that_exist(self, eddy: User, scopes: list[str]) -> None:
        with pytest.raises(tokens.BadScope, match="sites:read"):
            tokens.create_token(user=eddy, name="t", scopes=scopes, actor=eddy)

    def test_has_its_scopes_and_no_others(self, eddy: User) -> None:
        token, _ = make(eddy)

        assert token.has_scope(Scope.SITES_READ)
        assert not token.has_scope(Scope.PAGES_WRITE)


class TestInTheBrowser:
    def test_a_key_is_shown_once(self, eddy: User) -> None:
        client = browser_of(eddy)
        response = client.post(reverse("add_token"), form(eddy))
        key = response.context["key"]

        assert key in response.content.decode()
        assert "no-store" in response["Cache-Control"]
        assert key not in client.get(reverse("tokens")).content.decode()
        assert "eddy" == tokens.authenticate_token(key).user.username  # type: ignore[union-attr]

    def test_loading_the_page_again_makes_no_second_one(self, eddy: User) -> None:
        client = browser_of(eddy)
        client.post(reverse("add_token"), form(eddy))
        again = client.post(reverse("add_token"), form(eddy))

        assert "has a token “exports” already" in again.content.decode()
        assert 1 == eddy.tokens.count()

    def test_a_person_makes_none_for_others(self, eddy: User, anna: User, feed: User) -> None:
        for other in (anna, feed):
            response = browser_of(eddy).post(reverse("add_token"), form(other))
            assert "not one of the available choices" in response.content.decode()
        assert not Token.objects.exists()

    def test_an_administrator_makes_some_for_services_but_not_for_people(
        self, eddy: User, anna: User, feed: User
    ) -> None:
        client = browser_of(anna)
        client.post(reverse("add_token"), form(feed))
        client.post(reverse("add_token"), form(eddy))

        assert [("feed", "anna")] == list(
            Token.objects.values_list("user__username", "created_by__username")
        )

    def test_each_sees_their_own_and_administrators_those_of_services(
        self, eddy: User, anna: User, feed: User
    ) -> None:
        for user in (eddy, anna, feed):
            make(user, f"of-{user.username}")

        def seen(user: User) -> set[str]:
            page = browser_of(user).get(reverse("tokens")).content.decode()
            return {name for name in ("of-eddy", "of-anna", "of-feed") if name in page}

        assert {"of-eddy"} == seen(eddy)
        assert {"of-anna", "of-feed"} == seen(anna)

    def test_only_the_owner_or_an_administrator_revokes(self, eddy: User, anna: User) -> None:
        of_anna, _ = make(anna)
        of_eddy, _ = make(eddy)

        assert 404 == browser_of(eddy).post(reverse("revoke_token", args=[of_anna.pk])).status_code
        of_anna.refresh_from_db()
        assert of_anna.revoked_at is None
        assert 405 == browser_of(anna).get(reverse("revoke_token", args=[of_eddy.pk])).status_code
        browser_of(anna).post(reverse("revoke_token", args=[of_eddy.pk]))
        of_eddy.refresh_from_db()
        assert of_eddy.revoked_at is not None

    @pytest.mark.parametrize(
        ("entry", "problem"),
        [
            ({"days": "366"}, "less than or equal to 365"),
            ({"days": "0"}, "greater than or equal to 1"),
            ({"days": "many"}, "whole number"),
            ({"scopes": []}, "at least one scope"),
            ({"scopes": ["sites:destroy"]}, "not one of the available choices"),
            ({"name": ""}, "required"),
        ],
    )
    def test_says_what_is_wrong(self, eddy: User, entry: dict[str, object], problem: str) -> None:
        response = browser_of(eddy).post(reverse("add_token"), form(eddy) | entry)

        assert problem in response.content.decode()
        assert not Token.objects.exists()

    def test_an_empty_list_says_what_to_do(self, eddy: User) -> None:
        assert "You have no tokens" in browser_of(eddy).get(reverse("tokens")).content.decode()

    def test_people_without_a_role_have_no_use_for_keys(self, db: None) -> None:
        nobody = people.create_user(username="nobody", actor=None)

        assert 403 == browser_of(nobody).get(reverse("add_token")).status_code


@pytest.mark.django_db
class TestCreateToken:
    def test_prints_the_key_alone_on_its_line(self, eddy: User) -> None:
        out, result = run("create_token", "eddy", "--scope", "records:read")

        token = tokens.authenticate_token(out.removesuffix("\n"))
        assert token is not None
        assert (eddy, ["records:read"]) == (token.user, token.scopes)
        assert out.strip() not in result

    def test_makes_a_service_where_there_is_no_user(self) -> None:
        out, _ = run("create_token", "feed")

        token = tokens.authenticate_token(out.strip())
        assert token is not None
        assert token.user.is_service
        assert token.user.has_role(Role.VIEWER)
        assert not token.user.has_role(Role.EDITOR)
        assert all(scope.endswith(":read") for scope in token.scopes)

    def test_every_run_makes_another_and_the_service_stays_one(self) -> None:
        first, _ = run("create_token", "feed")
        second, _ = run("create_token", "Feed")

        assert first != second
        assert 1 == User.objects.count()
        assert tokens.authenticate_token(first.strip())

    @pytest.mark.parametrize("scopes", [["--scope", "a", "--scope", "b"], ["--scope", "a", "b"]])
    def test_takes_several_scopes_either_way(self, scopes: list[str]) -> None:
        names = {"a": "jobs:read", "b": "pages:write"}
        out, _ = run("create_token", "feed", *(names.get(word, word) for word in scopes))

        token = tokens.authenticate_token(out.strip())
        assert token is not None
        assert {"jobs:read", "pages:write"} == set(token.scopes)

    def test_leaves_nothing_behind_where_it_fails(self, eddy: User, anna: User) -> None:
        people.close_user(user=eddy, actor=anna)
        with pytest.raises(CommandError, match="closed"):
            run("create_token", "eddy")
        with pytest.raises(CommandError, match="400 days"):
            run("create_token", "feed", "--days", "400")
        with pytest.raises(CommandError, match="cannot be used"):
            run("create_token", "a b")

        assert not Token.objects.exists()
        assert {"anna", "eddy"} == set(User.objects.values_list("username", flat=True))


def run(*arguments: str) -> tuple[str, str]:
    out, result = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=result)
    return out.getvalue(), result.getvalue()


def form(owner: User) -> dict[str, object]:
    return {"name": "exports", "owner": owner.username, "scopes": ["sites:read"], "days": "30"}
