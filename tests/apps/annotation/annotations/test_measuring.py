"""Effort is summed up from what browsers report, and junk is left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Effort
from annotation.services.annotations.measuring import MAX_ACTIONS, record_effort
from clustering.models import Page
from tests.apps.annotation.cast import cluster_of, product_page, shop
from vertex.core.models import Role, User
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def page() -> Page:
    page = product_page(shop(), "p1")
    cluster_of(page.site, "products", [page])
    return page


@pytest.fixture
def eve() -> User:
    return people.create_user(username="eve", role=Role.EDITOR, actor=None)


def told(
    page: Page, action: str, second: float, attribute: str | None = None, **more: Any
) -> dict[str, Any]:
    at = (NOW - timedelta(minutes=5) + timedelta(seconds=second)).timestamp() * 1000
    place = {"site": "shop", "cluster": "products", "page": page.pk, "attribute": attribute}
    return place | {"action": action, "source": "", "at_ms": at} | more


def sums() -> dict[str, tuple[float, int, int, int]]:
    return {
        row.attribute.name if row.attribute else "": (
            round(row.seconds, 3),
            row.n_keys,
            row.n_clicks,
            row.n_accepted,
        )
        for row in Effort.objects.select_related("attribute")
    }


def test_reports_add_up(page: Page, eve: User) -> None:
    first = [
        told(page, "page_opened", 0),
        told(page, "click", 3, "name"),
        told(page, "key", 4, "price"),
    ]
    second = [told(page, "accepted", 6, "price"), told(page, "page_done", 7)]

    assert (3, 2) == tuple(
        record_effort(person=eve, actions=batch, now=NOW) for batch in (first, second)
    )
    assert {"": (7.0, 1, 1, 1), "name": (3.0, 0, 1, 0), "price": (3.0, 1, 0, 1)} == sums()
    whole = Effort.objects.get(attribute=None)
    assert (1, "products") == (whole.n_done, whole.cluster and whole.cluster.name)


def test_time_never_exceeds_what_passed(page: Page, eve: User) -> None:
    report = [
        told(page, "page_opened", 0),
        *(told(page, "key", n % 10, "name") for n in range(100)),
    ]
    for _ in range(5):
        record_effort(person=eve, actions=report, now=NOW)

    assert 9.0 == Effort.objects.get(attribute=None).seconds


@pytest.mark.parametrize(
    "junk",
    [
        {"action": "sudo"},
        {"at_ms": "now"},
        {"at_ms": float("inf")},
        {"at_ms": 0},
        {"at_ms": True},
        {"page": -1},
        {"page": "1"},
        {"page": 2**70},
        {"attribute": ["name"]},
    ],
)
def test_junk_is_left_out(page: Page, eve: User, junk: dict[str, Any]) -> None:
    good = told(page, "key", 1, "name")

    assert 1 == record_effort(person=eve, actions=[good | junk, good, 7, None], now=NOW)


def test_an_unknown_attribute_counts_for_the_page_alone(page: Page, eve: User) -> None:
    record_effort(person=eve, actions=[told(page, "key", 1, "ghost\0", cluster="no\0ne")], now=NOW)

    assert {""} == sums().keys()


def test_only_so_many_actions_of_a_report_are_taken(page: Page, eve: User) -> None:
    report = [told(page, "key", n / 10) for n in range(MAX_ACTIONS + 50)]

    assert MAX_ACTIONS == record_effort(person=eve, actions=report, now=NOW)


def test_pages_where_one_may_not_annotate_are_left_out(page: Page) -> None:
    viewer = people.create_user(username="vera", role=Role.VIEWER, actor=None)
    stranger = people.create_user(username="sam", actor=None)

    assert 0 == record_effort(person=viewer, actions=[told(page, "key", 1)], now=NOW)
    assert 0 == record_effort(person=stranger, actions=[told(page, "key", 1)], now=NOW)
    assert not Effort.objects.exists()


class TestEndpoint:
    @pytest.fixture
    def editor(self, eve: User) -> Client:
        client = Client()
        client.force_login(eve)
        return client

    def post(self, client: Client, body: bytes) -> int:
        return client.post(reverse("effort"), body, content_type="application/json").status_code

    def test_takes_a_report(self, page: Page, editor: Client) -> None:
        now = timezone.now().timestamp() * 1000

        assert 204 == self.post(editor, orjson.dumps([told(page, "key", 1, at_ms=now)]))
        assert {"": (0.0, 1, 0, 0)} == sums()

    @pytest.mark.parametrize("body", [b"", b"{", b"{}", b"[" + b"1," * 40_000 + b"1]"])
    def test_refuses_what_is_no_report(self, editor: Client, body: bytes) -> None:
        assert 400 == self.post(editor, body)
