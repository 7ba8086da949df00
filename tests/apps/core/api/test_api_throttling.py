import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory
from rest_framework.request import Request
from rest_framework.views import APIView

from tests.apps.clustering.api_cast import API, Caller, caller
from vertex.core.api.throttling import CallerThrottle
from vertex.core.models import Role, User
from vertex.core.services.people import tokens
from vertex.running.caches import cache_settings

pytestmark = pytest.mark.django_db


def statuses(call: Any, n: int) -> list[int]:
    return [call().status_code for _ in range(n)]


def test_whoever_calls_too_often_has_to_wait(settings: Any) -> None:
    settings.API_RATE = 3
    ada = caller("ada", Role.VIEWER)

    assert [200, 200, 200, 429] == statuses(lambda: ada.get("sites/"), 4)
    response = ada.get("sites/")
    assert "throttled" == response.json()["error"]["code"]
    assert 0 < int(response["Retry-After"]) <= 60


def test_one_caller_does_not_use_up_the_share_of_another(settings: Any) -> None:
    settings.API_RATE = 1
    ada, vic = caller("ada", Role.VIEWER), caller("vic", Role.VIEWER)
    _, key = tokens.create_token(user=ada.user, name="second", scopes=["sites:read"], actor=None)

    assert [200, 429] == statuses(lambda: ada.get("sites/"), 2)
    assert 200 == vic.get("sites/").status_code
    assert 200 == Caller(ada.user, key).get("sites/").status_code


def test_guessing_tokens_is_slowed_down(settings: Any) -> None:
    settings.API_RATE_ANONYMOUS = 2
    guesser = Caller(User.objects.create_user("eve"), "vtx_guess")

    assert [401, 401, 429, 429] == statuses(lambda: guesser.get("sites/"), 4)
    assert 429 == Client().get(f"{API}/sites/").status_code
    assert 200 == caller("ada", Role.VIEWER).get("sites/").status_code


def test_callers_at_the_same_time_are_counted_one_by_one(settings: Any) -> None:
    settings.API_RATE_ANONYMOUS = 40
    requests = [RequestFactory().get("/") for _ in range(8)]

    def allowed(request: HttpRequest) -> int:
        throttle, view = CallerThrottle(), APIView()
        return sum(throttle.allow_request(Request(request), view) for _ in range(20))

    with ThreadPoolExecutor(8) as threads:
        n_allowed = sum(threads.map(allowed, requests))

    assert 40 >= n_allowed >= 30  # some may be refused while another is being refused


def test_nobody_waits_for_a_cache_that_is_away(settings: Any) -> None:
    settings.API_RATE = 1
    settings.CACHES = {"default": cache_settings("redis://127.0.0.1:1/0", Path())}
    ada = caller("ada", Role.VIEWER)
    started = time.monotonic()

    assert [200] * 5 == statuses(lambda: ada.get("sites/"), 5)
    assert time.monotonic() - started < 60

    settings.CACHES = {"default": cache_settings("", settings.VAR_DIR / "other-cache")}
    assert [200, 429] == statuses(lambda: ada.get("sites/"), 2)


def test_an_address_made_up_by_the_caller_changes_nothing(settings: Any) -> None:
    settings.API_RATE_ANONYMOUS = 1
    client = Client()

    def call(n: int) -> int:
        return client.get(f"{API}/sites/", headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code

    assert [401, 429, 429] == [call(n) for n in range(3)]
    settings.PROXIES = 1
    assert [401, 401] == [call(n) for n in range(10, 12)]
