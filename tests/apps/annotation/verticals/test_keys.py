"""The keys that each person chooses, kept for every browser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.services.verticals.keys import MAX_KEYS, choose_keys, keys_chosen
from vertex.core.models import Role, User
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def ada() -> User:
    return people.create_user(username="ada", role=Role.EDITOR, site=None, actor=None)


@pytest.fixture
def browser(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def post(browser: Client, told: Any) -> int:
    return browser.post(reverse("annotate_keys"), json.dumps(told), "application/json").status_code


def test_the_last_choice_holds_for_this_person_only(browser: Client, ada: User) -> None:
    assert 204 == post(browser, {"command:undo": "z"})
    assert 204 == post(browser, {"attribute:price": "q"})
    other = people.create_user(username="bob", role=Role.EDITOR, site=None, actor=None)
    assert ({"attribute:price": "q"}, {}) == (keys_chosen(ada), keys_chosen(other))


def test_none_brings_the_usual_keys_back(browser: Client, ada: User) -> None:
    choose_keys(person=ada, keys={"command:undo": "z"})
    assert 204 == post(browser, {})
    assert {} == keys_chosen(ada)


@pytest.mark.parametrize(
    "told",
    [
        [],
        "q",
        {"command:undo": 3},
        {"command:undo": ""},
        {"x" * 200: "q"},
        {str(n): "q" for n in range(MAX_KEYS + 1)},
        {"command:undo": "q" * 70_000},
    ],
)
def test_what_are_no_keys_is_refused(browser: Client, ada: User, told: Any) -> None:
    assert 400 == post(browser, told)
    assert {} == keys_chosen(ada)


def test_keys_hold_whatever_characters_they_have(ada: User) -> None:
    choose_keys(person=ada, keys={"command:undo\0": "\ud800"})
    assert 1 == len(keys_chosen(ada))
