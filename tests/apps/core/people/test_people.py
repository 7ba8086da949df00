"""Accounts, roles and passwords: in the services, in the browser and on the command line."""

from __future__ import annotations

import re
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client
from django.urls import reverse

from vertex.core.models import AuditEntry, Membership, Role, Site, User
from vertex.core.services.people import people, tokens
from vertex.core.services.people.log_in_attempts import LogInOrigin, check_log_in

pytestmark = pytest.mark.both_databases


PASSWORD = "seven quiet lanterns"


@pytest.fixture
def anna(db: None) -> User:
    return person("anna", Role.ADMINISTRATOR)


@pytest.fixture
def eddy(db: None) -> User:
    return person("eddy", Role.EDITOR)


@pytest.fixture
def alpine(db: None) -> Site:
    return Site.objects.create(name="alpine-shop", root_url="https://alpine.example/")


@pytest.fixture
def browser(anna: User) -> Client:
    return logged_in(anna)


def person(name: str, role: Role | None = None, site: Site | None = None) -> User:
    return people.create_user(username=name, role=role, site=site, password=PASSWORD, actor=None)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def actions(**filters: object) -> list[str]:
    return list(
        AuditEntry.objects.filter(**filters).order_by("pk").values_list("action", flat=True)
    )


class TestAccounts:
    def test_names_differ_in_more_than_letter_case(self, anna: User) -> None:
        with pytest.raises(people.NameTaken, match="Anna"):
            person("Anna")
        with pytest.raises(IntegrityError):
            User.objects.create(username="ANNA")

    @pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 151, "<script>", "a\x00b"])
    def test_a_name_that_cannot_stand_in_an_address_is_refused(self, db: None, name: str) -> None:
        with pytest.raises(people.BadUsername):
            person(name)

    def test_a_change_is_written_down_with_what_it_was(self, anna: User, eddy: User) -> None:
        people.change_user(user=eddy, actor=anna, first_name="Edda", email="")

        entry = AuditEntry.objects.get(action="person.changed")
        assert {"first_name": {"was": "", "now": "Edda"}} == entry.detail
        assert ("anna", "eddy") == (entry.actor_name, entry.subject)

    def test_a_change_to_the_same_is_none(self, anna: User, eddy: User) -> None:
        people.change_user(user=eddy, actor=anna, first_name="")

        assert [] == actions(action="person.changed")

    def test_what_is_not_listed_cannot_be_changed(self, anna: User, eddy: User) -> None:
        people.change_user(user=eddy, actor=anna, username="boss", is_superuser="yes")

        eddy.refresh_from_db()
        assert ("eddy", False) == (eddy.username, eddy.is_superuser)


class TestRoles:
    def test_each_role_includes_those_before_it(self, db: None) -> None:
        otto = person("otto", Role.OPERATOR)

        held = [role for role in Role if otto.has_role(role)]
        assert [Role.VIEWER, Role.EDITOR, Role.REVIEWER, Role.OPERATOR] == held

    def test_a_role_at_a_site_counts_there_alone(self, alpine: Site) -> None:
        other = Site.objects.create(name="other", root_url="https://other.example/")
        vera = person("vera", Role.EDITOR, alpine)

        assert vera.has_role(Role.EDITOR, alpine)
        assert not vera.has_role(Role.VIEWER, other)
        assert not vera.has_role(Role.VIEWER)
        assert vera.has_role_anywhere(Role.EDITOR)
        assert not vera.has_role_anywhere(Role.REVIEWER)

    def test_a_new_role_takes_the_place_of_the_one_held_there(
        self, eddy: User, alpine: Site
    ) -> None:
        people.set_role(user=eddy, role=Role.VIEWER, actor=None)
        people.set_role(user=eddy, role=Role.OPERATOR, site=alpine, actor=None)

        held = set(eddy.memberships.values_list("site__name", "role"))
        assert {(None, "viewer"), ("alpine-shop", "operator")} == held

    def test_the_same_role_again_writes_nothing(self, eddy: User) -> None:
        people.set_role(user=eddy, role=Role.EDITOR, actor=None)

        assert ["person.created", "role.changed"] == actions(subject="eddy")

    def test_a_closed_account_gets_no_role(self, anna: User, eddy: User) -> None:
        people.close_user(user=eddy, actor=anna)

        with pytest.raises(tokens.AccountClosed, match="Reopen"):
            people.set_role(user=eddy, role=Role.OPERATOR, actor=anna)

    def test_a_superuser_has_every_role_until_closed(self, anna: User) -> None:
        root = person("root")
        people.set_superuser(user=root, is_superuser=True, actor=anna)
        assert root.has_role(Role.ADMINISTRATOR)

        people.close_user(user=root, actor=anna)
        assert not root.has_role(Role.VIEWER)


class TestLastAdministrator:
    def test_cannot_be_demoted_removed_or_closed(self, anna: User) -> None:
        with pytest.raises(people.LastAdministrator):
            people.set_role(user=anna, role=Role.OPERATOR, actor=anna)
        with pytest.raises(people.LastAdministrator):
            people.remove_role(user=anna, actor=anna)
        with pytest.raises(people.LastAdministrator):
            people.close_user(user=anna, actor=anna)

        assert anna.is_active
        assert anna.has_role(Role.ADMINISTRATOR)
        assert ["person.created", "role.changed"] == actions()

    def test_can_go_when_there_is_another(self, anna: User) -> None:
        otto = person("otto", Role.ADMINISTRATOR)
        people.close_user(user=anna, actor=otto)

        assert not anna.is_active

    @pytest.mark.parametrize("kind", ["closed", "service", "site"])
    def test_who_cannot_let_others_in_is_no_other(
        self, anna: User, alpine: Site, kind: str
    ) -> None:
        if kind == "service":
            people.create_user(
                username="feed", role=Role.ADMINISTRATOR, is_service=True, actor=None
            )
        else:
            other = person("otto", Role.ADMINISTRATOR, alpine if kind == "site" else None)
            if kind == "closed":
                people.close_user(user=other, actor=anna)

        with pytest.raises(people.LastAdministrator):
            people.remove_role(user=anna, actor=anna)

    def test_a_superuser_is_one(self, anna: User) -> None:
        root = person("root")
        people.set_superuser(user=root, is_superuser=True, actor=anna)
        people.remove_role(user=anna, actor=anna)

        with pytest.raises(people.LastAdministrator):
            people.set_superuser(user=root, is_superuser=False, actor=anna)
        assert root.is_superuser

    @pytest.mark.django_db(transaction=True)
    def test_two_cannot_demote_each_other_at_the_same_time(self) -> None:
        pair = [person("anna", Role.ADMINISTRATOR), person("otto", Role.ADMINISTRATOR)]
        refused: list[str] = []
        barrier = threading.Barrier(2)

        def demote(user: User) -> None:
            barrier.wait()
            try:
                people.remove_role(user=user, actor=None)
            except people.LastAdministrator:
                refused.append(user.username)
            finally:
                connection.close()

        threads = [threading.Thread(target=demote, args=[user]) for user in pair]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert 1 == len(refused)
        assert 1 == User.objects.administrators().count()


class TestClosing:
    def test_ends_sessions_and_tokens_at_once_and_keeps_what_was_done(
        self, anna: User, eddy: User
    ) -> None:
        client = logged_in(eddy)
        token, key = tokens.create_token(user=eddy, name="t", scopes=["sites:read"], actor=eddy)
        assert is_in(client)
        assert token == tokens.authenticate_token(key)

        people.close_user(user=eddy, actor=anna)

        assert not is_in(client)
        assert tokens.authenticate_token(key) is None
        assert "eddy" == AuditEntry.objects.get(action="token.created").actor_name

    def test_reopening_brings_neither_old_sessions_nor_old_tokens_back(
        self, anna: User, eddy: User
    ) -> None:
        client = logged_in(eddy)
        _, key = tokens.create_token(user=eddy, name="t", scopes=["sites:read"], actor=eddy)
        people.close_user(user=eddy, actor=anna)
        password = people.reopen_user(user=eddy, actor=anna)

        assert not is_in(client)
        assert tokens.authenticate_token(key) is None
        assert eddy == check_log_in(username="eddy", password=password, origin=LogInOrigin())
        assert eddy.must_change_password
        assert eddy.has_role(Role.EDITOR)

    def test_the_database_refuses_a_closed_account_without_a_time(self, eddy: User) -> None:
        with pytest.raises(IntegrityError):
            User.objects.filter(pk=eddy.pk).update(is_active=False)


class TestPasswords:
    def test_a_reset_ends_sessions_and_asks_for_a_new_one(self, anna: User, eddy: User) -> None:
        client = logged_in(eddy)
        assert is_in(client)
        password = people.reset_password(user=eddy, actor=anna)

        assert not is_in(client)
        assert eddy.must_change_password
        assert eddy == check_log_in(username="eddy", password=password, origin=LogInOrigin())

    def test_made_passwords_are_strong_and_never_the_same(self) -> None:
        pages = {people.random_password() for _ in range(100)}

        assert 100 == len(pages)
        assert all(re.fullmatch(r"([a-z2-9]{5}-){3}[a-z2-9]{5}", password) for password in pages)
        people.check_password_strength(pages.pop())

    @pytest.mark.parametrize("weak", ["short", "password1234"])
    def test_weak_ones_are_refused(self, eddy: User, weak: str) -> None:
        with pytest.raises(people.WeakPassword):
            people.change_password(user=eddy, password=weak, actor=eddy)

    def test_services_have_none(self, db: None) -> None:
        feed = people.create_user(username="feed", is_service=True, actor=None)

        with pytest.raises(people.NoPassword):
            people.reset_password(user=feed, actor=None)

    def test_no_password_reaches_the_audit_trail(self, anna: User, eddy: User) -> None:
        created = people.reset_password(user=eddy, actor=anna)
        people.change_password(user=eddy, password="nine loud harbours", actor=eddy)

        assert {} == AuditEntry.objects.get(action="password.reset").detail
        result = str(list(AuditEntry.objects.values()))
        assert created not in result
        assert "harbours" not in result


class TestPeopleInTheBrowser:
    def test_lists_open_accounts_and_on_request_others(
        self, browser: Client, anna: User, eddy: User
    ) -> None:
        people.close_user(user=eddy, actor=anna)
        person("vera", Role.VIEWER)

        assert ["anna", "vera"] == listed(browser)
        assert ["eddy"] == listed(browser, state="closed")
        assert ["anna", "eddy", "vera"] == listed(browser, state="all")

    def test_is_searched_by_any_part_of_a_name(
        self, browser: Client, anna: User, eddy: User
    ) -> None:
        people.change_user(
            user=eddy, actor=anna, first_name="Edda", last_name="Night", email="e@x.example"
        )

        assert ["eddy"] == listed(browser, q="nig")
        assert ["eddy"] == listed(browser, q="edd x.example")
        assert [] == listed(browser, q="edd nobody")

    def test_an_empty_list_says_what_to_do(self, browser: Client) -> None:
        assert "No account matches “zzz”" in page(browser, "people", q="zzz")
        assert "Add a service" in page(browser, "people", state="services")

    def test_hostile_searches_are_searches(self, browser: Client) -> None:
        for q in ("\x00", "<script>alert(1)</script>", "%", "x" * 5000, "'"):
            assert "<script>alert" not in page(browser, "people", q=q)

    def test_long_lists_come_in_parts(self, browser: Client) -> None:
        User.objects.bulk_create(User(username=f"user-{number:03}") for number in range(120))
        address, seen = reverse("people"), []
        while address:
            response = browser.get(address)
            seen += [user.username for user in response.context["page"].rows]
            after = response.context["page"].next
            address = f"{reverse('people')}?after={after}" if after else ""

        assert sorted(seen) == seen
        assert 121 == len(set(seen)) == len(seen)

    def test_the_list_needs_the_same_few_queries_for_many_people(
        self, browser: Client, django_assert_max_num_queries: object
    ) -> None:
        for number in range(30):
            person(f"user-{number}", Role.VIEWER)

        with django_assert_max_num_queries(12):  # type: ignore[operator]  # a fixture without types
            browser.get(reverse("people"))

    def test_adding_makes_a_password_and_shows_it_once(self, browser: Client, alpine: Site) -> None:
        response = browser.post(
            reverse("add_person"),
            {"kind": "person", "username": "vera", "role": "viewer", "site": "alpine-shop"},
        )

        password = shown_secret(response.content.decode())
        vera = User.objects.get(username="vera")
        assert vera == check_log_in(username="vera", password=password, origin=LogInOrigin())
        assert vera.must_change_password
        assert [("alpine-shop", "viewer")] == list(
            vera.memberships.values_list("site__name", "role")
        )
        assert "no-store" in response["Cache-Control"]
        assert "anna" == AuditEntry.objects.get(action="person.created", subject="vera").actor_name
        assert password not in page(browser, "person", "vera")

    def test_adding_takes_a_typed_password_that_is_strong(self, browser: Client) -> None:
        form = {"kind": "person", "username": "vera", "role": "viewer"}
        weak = browser.post(reverse("add_person"), form | {"password": "short"})
        assert "too short" in weak.content.decode()
        assert not User.objects.filter(username="vera").exists()

        strong = browser.post(reverse("add_person"), form | {"password": PASSWORD})
        assert reverse("person", args=["vera"]) == strong["Location"]
        assert User.objects.get(username="vera").must_change_password

    def test_adding_somebody_twice_says_so(self, browser: Client, eddy: User) -> None:
        response = browser.post(
            reverse("add_person"), {"kind": "person", "username": "EDDY", "role": ""}
        )

        assert "already an account" in response.content.decode()

    def test_a_service_gets_no_password(self, browser: Client) -> None:
        browser.post(
            reverse("add_person"), {"kind": "service", "username": "feed", "role": "viewer"}
        )

        feed = User.objects.get(username="feed")
        assert feed.is_service
        assert not feed.has_usable_password()
        assert not feed.must_change_password

    def test_details_roles_password_and_account_can_be_changed(
        self, browser: Client, eddy: User, alpine: Site
    ) -> None:
        post(browser, "person", "eddy", first_name="Edda", time_zone="Europe/Vienna")
        post(browser, "give_role", "eddy", role="operator", site="alpine-shop")
        everywhere = eddy.memberships.get(site__isnull=True)
        post(browser, "take_role", "eddy", role=everywhere.pk)
        reset = post(browser, "reset_password", "eddy")
        post(browser, "close_person", "eddy")
        eddy.refresh_from_db()
        assert not eddy.is_active
        reopened = post(browser, "reopen_person", "eddy")

        eddy.refresh_from_db()
        assert ("Edda", "Europe/Vienna", True) == (eddy.first_name, eddy.time_zone, eddy.is_active)
        assert [("alpine-shop", "operator")] == list(
            eddy.memberships.values_list("site__name", "role")
        )
        assert shown_secret(reset) != shown_secret(reopened)

    def test_taking_a_role_away_can_be_undone(self, browser: Client, eddy: User) -> None:
        answer = post(browser, "take_role", "eddy", role=eddy.memberships.get().pk)

        assert not eddy.memberships.exists()
        assert "Undo" in answer
        assert f'action="{reverse("give_role", args=["eddy"])}"' in answer

    def test_the_last_administrator_is_told_why_not(self, browser: Client, anna: User) -> None:
        answer = post(browser, "take_role", "anna", role=anna.memberships.get().pk)

        assert "last administrator" in answer
        assert anna.has_role(Role.ADMINISTRATOR)

    def test_nobody_closes_the_account_they_sit_in(self, browser: Client, anna: User) -> None:
        person("otto", Role.ADMINISTRATOR)
        answer = post(browser, "close_person", "anna")

        anna.refresh_from_db()
        assert anna.is_active
        assert "Another administrator" in answer

    def test_an_unknown_site_role_or_person_is_told(self, browser: Client, eddy: User) -> None:
        assert "There is no site “nowhere”" in post(
            browser, "give_role", "eddy", role="viewer", site="nowhere"
        )
        assert "not one of the available choices" in post(browser, "give_role", "eddy", role="king")
        for name in ("nobody", "\x00", "EDDY"):
            assert 404 == browser.get(reverse("person", args=[name])).status_code
        for number in ("", "x", "9" * 40, "-1"):
            response = browser.post(reverse("take_role", args=["eddy"]), {"role": number})
            assert 404 == response.status_code
        assert eddy.has_role(Role.EDITOR)

    @pytest.mark.parametrize(
        "view",
        [
            "give_role",
            "take_role",
            "set_superuser",
            "close_person",
            "reopen_person",
            "reset_password",
        ],
    )
    def test_changes_are_made_by_post_only(self, browser: Client, eddy: User, view: str) -> None:
        assert 405 == browser.get(reverse(view, args=["eddy"])).status_code

    def test_changes_need_the_form_s_own_token(self, anna: User, eddy: User) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(anna)

        assert 403 == client.post(reverse("close_person", args=["eddy"])).status_code
        eddy.refresh_from_db()
        assert eddy.is_active

    @pytest.mark.parametrize("view", ["people", "add_person", "person"])
    @pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
    def test_others_than_administrators_stay_out(self, eddy: User, view: str, role: Role) -> None:
        client = logged_in(person("otto", role))

        args = ["eddy"] if view == "person" else []
        assert 403 == client.get(reverse(view, args=args)).status_code

    def test_an_administrator_of_one_site_manages_no_people(self, eddy: User, alpine: Site) -> None:
        client = logged_in(person("sita", Role.ADMINISTRATOR, alpine))

        assert 403 == client.get(reverse("people")).status_code
        assert 403 == client.post(reverse("close_person", args=["eddy"])).status_code
        assert 403 == client.post(reverse("reset_password", args=["eddy"])).status_code
        response = client.post(reverse("give_role", args=["sita"]), {"role": "administrator"})
        assert 403 == response.status_code


class TestAdministratorsOfTheInstallation:
    @pytest.fixture
    def anna(self, anna: User) -> User:
        people.set_superuser(user=anna, is_superuser=True, actor=None)
        return anna

    def test_one_makes_another(self, browser: Client, anna: User, eddy: User) -> None:
        assert "Administrator of the installation" in page(browser, "person", "eddy")
        answer = post(browser, "set_superuser", "eddy", is_superuser="on")

        eddy.refresh_from_db()
        assert eddy.is_superuser
        assert "eddy is an administrator of the installation" in answer
        entry = AuditEntry.objects.get(action="person.changed", subject="eddy")
        assert (anna, {"is_superuser": {"was": False, "now": True}}) == (entry.actor, entry.detail)

    def test_one_makes_another_an_ordinary_person_again(self, browser: Client, eddy: User) -> None:
        people.set_superuser(user=eddy, is_superuser=True, actor=None)
        answer = post(browser, "set_superuser", "eddy")

        eddy.refresh_from_db()
        assert not eddy.is_superuser
        assert "eddy is no longer an administrator of the installation" in answer

    def test_the_last_one_stays(self, browser: Client, anna: User) -> None:
        anna.memberships.all().delete()
        answer = post(browser, "set_superuser", "anna")

        anna.refresh_from_db()
        assert anna.is_superuser
        assert "last administrator" in answer

    def test_an_administrator_for_all_sites_makes_none(self, eddy: User) -> None:
        client = logged_in(person("otto", Role.ADMINISTRATOR))
        form = {"is_superuser": "on"}

        assert reverse("set_superuser", args=["eddy"]) not in page(client, "person", "eddy")
        for name in ("eddy", "otto"):
            response = client.post(reverse("set_superuser", args=[name]), form)
            assert 403 == response.status_code
        assert not User.objects.filter(is_superuser=True).exclude(username="anna").exists()

    def test_neither_a_service_nor_a_closed_account_becomes_one(
        self, browser: Client, anna: User, eddy: User
    ) -> None:
        people.create_user(username="feed", is_service=True, actor=anna)
        people.close_user(user=eddy, actor=anna)

        for name in ("feed", "eddy"):
            address = reverse("set_superuser", args=[name])
            assert address not in page(browser, "person", name)
            assert 404 == browser.post(address, {"is_superuser": "on"}).status_code


class TestPeopleOfASite:
    @pytest.fixture
    def sita(self, alpine: Site) -> Client:
        return logged_in(person("sita", Role.ADMINISTRATOR, alpine))

    def test_its_administrator_gives_and_takes_roles_there(
        self, sita: Client, alpine: Site, eddy: User
    ) -> None:
        address = reverse("site_people", args=["alpine-shop"])
        answer = sita.post(address, {"username": "Eddy", "role": "operator"}, follow=True)
        assert "eddy is operator at alpine-shop" in answer.content.decode()
        held = Membership.objects.get(user=eddy, site=alpine)

        sita.post(reverse("remove_member", args=["alpine-shop"]), {"role": held.pk})
        assert not Membership.objects.filter(user=eddy, site=alpine).exists()
        assert ["role.changed"] * 2 == actions(actor_name="sita")

    def test_roles_elsewhere_are_out_of_reach(self, sita: Client, anna: User) -> None:
        everywhere = anna.memberships.get()
        response = sita.post(
            reverse("remove_member", args=["alpine-shop"]), {"role": everywhere.pk}
        )

        assert 404 == response.status_code
        assert anna.has_role(Role.ADMINISTRATOR)

    def test_an_unknown_name_is_told(self, sita: Client) -> None:
        address = reverse("site_people", args=["alpine-shop"])
        response = sita.post(address, {"username": "nobody", "role": "viewer"})

        assert "no account “nobody”" in response.content.decode()

    def test_an_operator_stays_out(self, sita: Client, alpine: Site) -> None:
        operator = logged_in(person("otto", Role.OPERATOR, alpine))

        assert 200 == sita.get(reverse("site_people", args=["alpine-shop"])).status_code
        assert 403 == operator.get(reverse("site_people", args=["alpine-shop"])).status_code


@pytest.mark.django_db
class TestCreateUser:
    def test_a_new_person_gets_a_password_on_a_line_of_its_own(self) -> None:
        out, result = run("create_user", "anna", "--role", "administrator")

        anna = User.objects.get(username="anna")
        assert anna == check_log_in(
            username="anna", password=out.removesuffix("\n"), origin=LogInOrigin()
        )
        assert anna.must_change_password
        assert anna.has_role(Role.ADMINISTRATOR)
        assert out.strip() not in result

    def test_a_given_password_is_taken_as_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", StringIO(" pass word \nnext line\n"))
        out, result = run("create_user", "eddy", "--role", "editor", "--password-stdin")

        eddy = check_log_in(username="eddy", password=" pass word ", origin=LogInOrigin())
        assert not eddy.must_change_password
        assert "" == out
        assert "weak" in result

    def test_running_it_again_changes_the_role_and_keeps_the_password(self) -> None:
        first, _ = run("create_user", "eddy", "--role", "editor")
        again, _ = run("create_user", "Eddy", "--role", "operator")

        eddy = check_log_in(username="eddy", password=first.strip(), origin=LogInOrigin())
        assert "" == again
        assert ["operator"] == list(eddy.memberships.values_list("role", flat=True))

    def test_running_it_again_with_a_password_sets_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run("create_user", "eddy", "--role", "editor")
        monkeypatch.setattr("sys.stdin", StringIO(PASSWORD))
        run("create_user", "eddy", "--role", "editor", "--password-stdin")

        eddy = check_log_in(username="eddy", password=PASSWORD, origin=LogInOrigin())
        assert not eddy.must_change_password

    def test_a_role_can_be_for_one_site(self, alpine: Site) -> None:
        run("create_user", "eddy", "--role", "editor", "--site", "alpine-shop")

        eddy = User.objects.get(username="eddy")
        assert [(alpine.pk, "editor")] == list(eddy.memberships.values_list("site", "role"))

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["eddy", "--role", "editor", "--site", "nowhere"], "no site 'nowhere'"),
            (["a b", "--role", "editor"], "cannot be used"),
            (["eddy", "--role", "editor", "--password-stdin"], "no password"),
        ],
    )
    def test_what_cannot_be_done_is_said(
        self, arguments: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", StringIO(""))
        with pytest.raises(CommandError, match=problem):
            run("create_user", *arguments)
        assert not User.objects.exists()

    def test_the_command_line_signs_the_audit_trail(self) -> None:
        run("create_user", "eddy", "--role", "editor")

        assert {"command line"} == set(AuditEntry.objects.values_list("actor_name", flat=True))


def run(*arguments: str) -> tuple[str, str]:
    out, result = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=result)
    return out.getvalue(), result.getvalue()


def page(client: Client, view: str, *args: str, **query: str) -> str:
    response = client.get(reverse(view, args=args), query)
    assert 200 == response.status_code
    return response.content.decode()


def listed(client: Client, **query: str) -> list[str]:
    return [user.username for user in client.get(reverse("people"), query).context["page"].rows]


def post(client: Client, view: str, *args: str, **form: object) -> str:
    return client.post(reverse(view, args=args), form, follow=True).content.decode()


def shown_secret(html: str) -> str:
    found = re.search(r"data-secret>([^<]+)<", html)
    assert found, "no secret is shown"
    return found[1]
