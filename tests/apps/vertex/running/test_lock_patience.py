"""A request does not wait for long for what somebody else is changing, and is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.backends.signals import connection_created
from django.test import Client
from django.urls import reverse

from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import Role, Site
from vertex.running import lock_patience

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture
def shop() -> Site:
    return site_of("shop")


@pytest.fixture
def olga() -> Caller:
    return caller("olga", Role.ADMINISTRATOR)


@pytest.fixture(autouse=True)
def _patience_of_the_web(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lock_patience, "LOCK_PATIENCE", "200ms")
    lock_patience.wait_shortly_for_locks()
    yield
    connection_created.disconnect(lock_patience.limit_waiting)


@contextmanager
def somebody_changes(site: Site) -> Iterator[None]:
    with transaction.atomic():
        Site.objects.select_for_update(no_key=True).get(pk=site.pk)
        yield


def answered(ask: Callable[[], Any]) -> Any:
    """Return what is asked for in a thread, which has a connection of its own."""

    def ask_and_close() -> Any:
        try:
            return ask()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as web_thread:
        return web_thread.submit(ask_and_close).result()


def test_the_api_says_that_somebody_else_is_at_it(shop: Site, olga: Caller) -> None:
    def rename() -> Any:
        return olga.patch("sites/shop/", {"title": "The shop"})

    with somebody_changes(shop):
        refused = answered(rename)

    assert 503 == refused.status_code
    assert "somebody else is changing the same" in refused.json()["error"]["message"]
    assert 200 == answered(rename).status_code


def test_a_page_says_so_too(shop: Site, olga: Caller) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(olga.user)
    entered = {"title": "The shop", "crawl_delay": "1", "match_by": "model"}

    with somebody_changes(shop):
        refused = answered(lambda: browser.post(reverse("site_settings", args=["shop"]), entered))

    assert (503, "30") == (refused.status_code, refused["Retry-After"])
    assert "somebody else is changing the same" in refused.content.decode()
