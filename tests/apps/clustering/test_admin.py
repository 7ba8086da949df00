"""The stock admin shows rows to superusers and changes none but users, by the same services."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import include, path, reverse

from clustering import admin
from clustering.models import AuditEntry, Membership, Role, Site, Token, User
from clustering.services import people, tokens

urlpatterns = [path("admin/", admin.site.urls), path("", include("clustering.urls"))]
pytestmark = pytest.mark.urls("tests.apps.clustering.test_admin")


@pytest.fixture
def root(db: None) -> User:
    user = people.create_user(username="root", actor=None)
    people.set_superuser(user=user, is_superuser=True, actor=None)
    return user


@pytest.fixture
def eddy(db: None) -> User:
    return people.create_user(username="eddy", role=Role.EDITOR, actor=None)


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_superusers_get_in_and_administrators_do_not(root: User) -> None:
    anna = people.create_user(username="anna", role=Role.ADMINISTRATOR, actor=None)
    User.objects.filter(pk=anna.pk).update(is_staff=True)

    assert 200 == browser_of(root).get(reverse("admin:index")).status_code
    response = browser_of(anna).get(reverse("admin:index"), follow=True)
    assert 403 == response.status_code


def test_it_has_no_log_in_of_its_own_that_could_be_guessed_at(root: User) -> None:
    User.objects.filter(pk=root.pk).update(password="")
    root.set_password("seven quiet lanterns")
    root.save()
    client = Client()
    form = {"username": "root", "password": "seven quiet lanterns", "next": "/admin/"}
    response = client.post(reverse("admin:login"), form)

    assert response["Location"].startswith(reverse("log_in"))
    assert 302 == client.get(reverse("admin:index")).status_code


def test_it_has_no_password_change_of_its_own(root: User) -> None:
    assert reverse("change_password") == browser_of(root).get(reverse("admin:password_change"))["Location"]


@pytest.mark.parametrize("model", [model for model in admin.site._registry if model is not User])
def test_rows_are_shown_and_nothing_else(root: User, model: type) -> None:
    name = f"admin:{model._meta.app_label}_{model.__name__.lower()}"  # type: ignore[attr-defined]  # a model
    client = browser_of(root)

    assert 200 == client.get(reverse(f"{name}_changelist")).status_code
    assert 403 == client.get(reverse(f"{name}_add")).status_code
    assert 403 == client.post(reverse(f"{name}_add"), {}).status_code


def test_a_row_cannot_be_changed_or_deleted(root: User) -> None:
    site = Site.objects.create(name="alpine", root_url="https://alpine.example/")
    client = browser_of(root)
    change = reverse("admin:clustering_site_change", args=[site.pk])

    assert 200 == client.get(change).status_code
    assert 403 == client.post(change, {"name": "changed"}).status_code
    assert (
        403
        == client.post(reverse("admin:clustering_site_delete", args=[site.pk]), {"post": "yes"}).status_code
    )
    site.refresh_from_db()
    assert "alpine" == site.name


def test_users_can_be_changed_and_it_is_written_down(root: User, eddy: User) -> None:
    change = reverse("admin:clustering_user_change", args=[eddy.pk])
    form = {"first_name": "Edda", "is_superuser": "on", "username": "boss", "is_active": ""}
    assert 302 == browser_of(root).post(change, form).status_code

    eddy.refresh_from_db()
    assert ("Edda", "eddy", True, True) == (eddy.first_name, eddy.username, eddy.is_superuser, eddy.is_active)
    assert ["root", "root"] == list(
        AuditEntry.objects.filter(action="person.changed", subject="eddy").values_list(
            "actor_name", flat=True
        )
    )


def test_the_last_administrator_stays_one(root: User, eddy: User) -> None:
    response = browser_of(root).post(
        reverse("admin:clustering_user_change", args=[root.pk]), {"first_name": "R"}, follow=True
    )

    root.refresh_from_db()
    assert ("R", True) == (root.first_name, root.is_superuser)
    assert "last administrator" in response.content.decode()


def test_users_are_neither_added_nor_deleted(root: User, eddy: User) -> None:
    client = browser_of(root)

    assert 403 == client.get(reverse("admin:clustering_user_add")).status_code
    delete = reverse("admin:clustering_user_delete", args=[eddy.pk])
    assert 403 == client.post(delete, {"post": "yes"}).status_code
    assert User.objects.filter(pk=eddy.pk).exists()
    assert Membership.objects.filter(user=eddy).exists()


def test_hashes_are_not_shown(root: User, eddy: User) -> None:
    token, _ = tokens.create_token(user=eddy, name="t", scopes=["sites:read"], actor=eddy)
    client = browser_of(root)
    token_page = client.get(reverse("admin:clustering_token_change", args=[token.pk])).content.decode()
    user_page = client.get(reverse("admin:clustering_user_change", args=[eddy.pk])).content.decode()

    assert token.prefix in token_page
    assert Token.objects.get().key_hash not in token_page
    assert eddy.password not in user_page
