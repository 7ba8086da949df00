"""Single sign-on lets in whom an administrator knows by a verified address, and nobody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.apps.core.people.identity_provider import CLIENT, CODE, SECRET, IdentityProvider
from vertex.core.models import AuditEntry, Membership, Role, User
from vertex.core.services.people import people, single_sign_on
from vertex.core.services.people.single_sign_on import person_named_by
from vertex.running import identity_provider

pytestmark = pytest.mark.both_databases

ADDRESS = "anna@example.org"
CLAIMS = {
    "sub": "0001",
    "email": ADDRESS,
    "email_verified": True,
    "preferred_username": "Anna M.@example.org",
    "given_name": "Anna",
}


@pytest.fixture
def provider(settings: Settings) -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        provider.claims = dict(CLAIMS)
        settings.OIDC_URL = provider.url
        settings.OIDC_NAME = "the company"
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {
                "APPS": [
                    {
                        "provider_id": "company",
                        "name": "the company",
                        "client_id": CLIENT,
                        "secret": SECRET,
                        "settings": {"server_url": provider.url, "oauth_pkce_enabled": True},
                    }
                ]
            }
        }
        yield provider


@pytest.fixture
def anna(db: None) -> User:
    return people.create_user(username="anna", email=ADDRESS, role=Role.EDITOR, actor=None)


def begin(client: Client, provider: IdentityProvider, **entries: str) -> dict[str, str]:
    """Press the button and return what the provider is asked for."""
    answer = client.post(reverse("single_sign_on"), entries)
    where = urlsplit(answer["Location"])
    assert f"{where.scheme}://{where.netloc}" == provider.url
    asked = {name: values[0] for name, values in parse_qs(where.query).items()}
    provider.challenge, provider.redirect_uri = asked["code_challenge"], asked["redirect_uri"]
    return asked


def come_back(client: Client, **query: str) -> Any:
    address = reverse("openid_connect_callback", args=["company"])
    return client.get(address, query, follow=True)


def log_in(client: Client, provider: IdentityProvider, **entries: str) -> Any:
    asked = begin(client, provider, **entries)
    return come_back(client, code=CODE, state=asked["state"])


def who_is_in(client: Client) -> str:
    key = client.session.get("_auth_user_id")
    return User.objects.get(pk=key).username if key else ""


class TestKnownPeople:
    def test_a_person_with_the_verified_address_gets_in_and_is_known_from_then_on(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        log_in(client := Client(), provider)
        provider.claims["email"] = "married@example.org"
        log_in(later := Client(), provider)

        assert ["anna", "anna"] == [who_is_in(client), who_is_in(later)]
        assert 1 == AuditEntry.objects.filter(action="single_sign_on.linked", actor=anna).count()

    def test_the_page_that_was_wanted_comes_after(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        answer = log_in(Client(), provider, next="/settings/tokens/")

        assert "/settings/tokens/" == answer.redirect_chain[-1][0]

    def test_no_other_host_does(self, provider: IdentityProvider, anna: User) -> None:
        answer = log_in(Client(), provider, next="https://evil.example/")

        assert not any("evil" in address for address, _ in answer.redirect_chain)

    def test_a_second_factor_is_asked_for_as_well(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        TOTP.activate(anna, "JBSWY3DPEHPK3PXP")
        answer = log_in(client := Client(), provider)

        assert reverse("mfa_authenticate") == answer.redirect_chain[-1][0]
        assert "" == who_is_in(client)

    def test_a_password_that_others_know_is_not_in_the_way(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        people.reset_password(user=anna, actor=None)
        log_in(client := Client(), provider)

        assert 200 == client.get(reverse("account")).status_code


class TestRefusals:
    @pytest.mark.parametrize("verified", [False, None, "false", "true", 1])
    def test_an_address_that_is_not_verified(
        self, provider: IdentityProvider, anna: User, verified: object
    ) -> None:
        provider.claims["email_verified"] = verified
        answer = log_in(client := Client(), provider)

        assert "" == who_is_in(client)
        assert "no open account" in answer.content.decode()

    def test_an_address_that_somebody_entered_for_themselves(
        self, provider: IdentityProvider, db: None
    ) -> None:
        eve = people.create_user(username="eve", role=Role.VIEWER, actor=None)
        people.change_user(user=eve, actor=eve, email=ADDRESS)
        log_in(client := Client(), provider)
        assert "" == who_is_in(client)

        boss = people.create_user(username="boss", role=Role.ADMINISTRATOR, actor=None)
        people.change_user(user=eve, actor=boss, email="")
        people.change_user(user=eve, actor=boss, email=ADDRESS)
        log_in(client, provider)
        assert "eve" == who_is_in(client)

    @pytest.mark.parametrize("like_it", ["ann\u0131@example.org", "\u017fam@example.org"])
    def test_an_address_that_only_looks_like_it(
        self, provider: IdentityProvider, db: None, like_it: str
    ) -> None:
        plain = like_it.replace("\u0131", "i").replace("\u017f", "s")
        people.create_user(username="anna", email=plain, role=Role.ADMINISTRATOR, actor=None)
        provider.claims["email"] = like_it
        log_in(client := Client(), provider)
        assert "" == who_is_in(client)

        provider.claims["email"] = plain.upper()
        log_in(client, provider)
        assert "anna" == who_is_in(client)

    def test_an_address_of_two(self, provider: IdentityProvider, anna: User) -> None:
        people.create_user(username="other", email=ADDRESS.upper(), actor=None)
        log_in(client := Client(), provider)

        assert "" == who_is_in(client)

    def test_nobody_is_shut_out_by_whoever_enters_their_address(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        eve = people.create_user(username="eve", actor=None)
        people.change_user(user=eve, actor=eve, email=ADDRESS)
        assert person_named_by(provider.claims) == anna

    def test_a_closed_account_known_or_not(self, provider: IdentityProvider, anna: User) -> None:
        log_in(Client(), provider)
        people.close_user(user=anna, actor=None)
        log_in(client := Client(), provider)
        assert "" == who_is_in(client)

        SocialAccount.objects.all().delete()
        log_in(client, provider)
        assert "" == who_is_in(client)

    def test_a_service(self, provider: IdentityProvider, db: None) -> None:
        people.create_user(username="feed", email=ADDRESS, is_service=True, actor=None)
        log_in(client := Client(), provider)

        assert "" == who_is_in(client)

    def test_two_answers_that_speak_of_two_people(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        provider.sub_of_address = "0002"
        log_in(client := Client(), provider)

        assert "" == who_is_in(client)

    def test_an_answer_to_a_question_of_another_browser(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        asked = begin(Client(), provider)
        come_back(client := Client(), code=CODE, state=asked["state"])

        assert "" == who_is_in(client)

    def test_an_answer_that_comes_twice(self, provider: IdentityProvider, anna: User) -> None:
        asked = begin(client := Client(), provider)
        come_back(client, code=CODE, state=asked["state"])
        client.post(reverse("log_out"))
        come_back(client, code=CODE, state=asked["state"])

        assert "" == who_is_in(client)

    def test_whoever_is_in_ties_no_account_of_the_provider_to_their_own(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        eve = people.create_user(username="eve", role=Role.VIEWER, actor=None)
        (client := Client()).force_login(eve)
        address = f"{reverse('single_sign_on')}?process=connect"
        where = parse_qs(urlsplit(client.post(address)["Location"]).query)
        provider.challenge = where["code_challenge"][0]
        provider.redirect_uri = where["redirect_uri"][0]
        come_back(client, code=CODE, state=where["state"][0])

        assert not SocialAccount.objects.exists()

    @pytest.mark.parametrize("query", [{}, {"error": "access_denied"}, {"code": "other"}])
    def test_a_provider_that_refuses_leads_back_to_the_log_in(
        self, provider: IdentityProvider, anna: User, query: dict[str, str]
    ) -> None:
        asked = begin(client := Client(), provider)
        answer = come_back(client, state=asked["state"], **query)

        assert reverse("log_in") == answer.redirect_chain[-1][0]
        assert "did not work" in answer.content.decode()

    def test_a_provider_that_is_away_or_broken_is_told(
        self, provider: IdentityProvider, anna: User, settings: Settings
    ) -> None:
        provider.is_broken = True
        answer = Client().post(reverse("single_sign_on"), follow=True)

        assert "does not answer" in answer.content.decode()

    @pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/userinfo"])
    def test_a_provider_whose_answer_never_ends_is_told(
        self,
        provider: IdentityProvider,
        anna: User,
        monkeypatch: pytest.MonkeyPatch,
        path: str,
    ) -> None:
        asked = begin(client := Client(), provider)
        monkeypatch.setattr(identity_provider, "ANSWER_SECONDS", 0.3)
        provider.drips_at = path
        answer = come_back(client, code=CODE, state=asked["state"])

        assert "does not answer" in answer.content.decode()
        assert "" == who_is_in(client)

    def test_an_answer_of_more_than_a_megabyte_is_not_read(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        asked = begin(client := Client(), provider)
        provider.padding = 1024**2
        answer = come_back(client, code=CODE, state=asked["state"])

        assert "does not answer" in answer.content.decode()
        assert "" == who_is_in(client)

    def test_hosts_that_the_settings_do_not_name_are_not_asked(
        self, provider: IdentityProvider, settings: Settings, db: None
    ) -> None:
        settings.OIDC_URL = "https://id.example.org"
        answer = Client().post(reverse("single_sign_on"), follow=True)

        assert "does not answer" in answer.content.decode()

    @pytest.mark.parametrize(
        "claims",
        [
            {"email": f"\0{ADDRESS}"},
            {"sub": "\0"},
            {"sub": "1" * 5_000},
        ],
    )
    def test_claims_that_nobody_can_store_let_nobody_in_and_break_nothing(
        self, provider: IdentityProvider, anna: User, claims: dict[str, Any]
    ) -> None:
        provider.claims |= claims
        answer = log_in(Client(), provider)

        assert 200 == answer.status_code

    def test_an_address_that_the_provider_gave_to_somebody_else(
        self, provider: IdentityProvider, anna: User
    ) -> None:
        log_in(Client(), provider)
        provider.claims["sub"] = "0077"
        log_in(client := Client(), provider)
        assert "" == who_is_in(client)

        boss = people.create_user(username="boss", role=Role.ADMINISTRATOR, actor=None)
        people.change_user(user=anna, actor=boss, email="")
        people.change_user(user=anna, actor=boss, email=ADDRESS)
        log_in(client, provider)
        assert "anna" == who_is_in(client)

    def test_an_error_of_our_own_is_not_the_providers(
        self, provider: IdentityProvider, anna: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_claims: object) -> User:
            raise KeyError("a mistake")

        monkeypatch.setattr(single_sign_on, "person_named_by", fail)
        asked = begin(client := Client(), provider)
        with pytest.raises(KeyError, match="a mistake"):
            come_back(client, code=CODE, state=asked["state"])

    def test_a_link_does_not_begin_a_log_in(self, provider: IdentityProvider) -> None:
        assert 405 == Client().get(reverse("single_sign_on")).status_code


class TestNewPeople:
    def test_strangers_are_not_added(self, provider: IdentityProvider, db: None) -> None:
        answer = log_in(client := Client(), provider)

        assert "" == who_is_in(client)
        assert "Ask an administrator" in answer.content.decode()
        assert not User.objects.exists()

    def test_they_are_added_without_a_role_where_the_installation_says_so(
        self, provider: IdentityProvider, settings: Settings, db: None
    ) -> None:
        settings.OIDC_ADDS_PEOPLE = True
        people.create_user(username="anna-m.", actor=None)
        log_in(client := Client(), provider)

        assert "Anna-M.-2" == who_is_in(client)
        added = User.objects.get(username="Anna-M.-2")
        assert ("Anna", ADDRESS, False) == (
            added.first_name,
            added.email,
            added.has_usable_password(),
        )
        assert not Membership.objects.filter(user=added).exists()
        assert not added.is_superuser
        assert AuditEntry.objects.filter(action="person.created", actor=added).exists()


@pytest.mark.django_db(transaction=True)
def test_who_comes_twice_at_once_is_added_once(settings: Settings) -> None:
    settings.OIDC_ADDS_PEOPLE = True
    people.create_user(username="admin", actor=None)
    comes_too: list[User] = []

    def come() -> None:
        comes_too.append(person_named_by(CLAIMS))
        connection.close()

    other = threading.Thread(target=come)
    with transaction.atomic():
        added = person_named_by(CLAIMS)
        other.start()
        other.join(0.3)  # in which another account would be made
    other.join()

    assert [added] == comes_too
    assert 1 == User.objects.filter(email=ADDRESS).count()


def test_without_a_provider_there_is_neither_button_nor_address(db: None) -> None:
    assert "provider" not in Client().get(reverse("log_in")).content.decode()
    assert 404 == Client().post(reverse("single_sign_on")).status_code
    address = reverse("openid_connect_callback", args=["company"])
    assert 404 == Client().get(address).status_code
