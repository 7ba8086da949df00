"""Services read comments, add some and settle them."""

from __future__ import annotations

import pytest

from clustering.models import Page
from tests.apps.annotation.cast import product_page, shop
from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Page:
    return product_page(shop(), "p1")


@pytest.fixture
def eve() -> Caller:
    return caller("eve", Role.EDITOR)


def test_a_comment_is_added_listed_and_settled(page: Page, eve: Caller) -> None:
    fields = {"url": page.url, "text": "with tax?", "xpath": "//b", "attribute": "price"}
    answer = eve.post("sites/shop/comments/", fields)
    row = answer.json()

    assert (201, "/html/body/p/b", "eve", None) == (
        answer.status_code,
        row["xpath"],
        row["author"],
        row["resolved_at"],
    )
    assert [row] == eve.get(f"comments/?url={page.url}&open=true").json()["results"]
    assert "eve" == eve.post(f"comments/{row['id']}/resolve/", {}).json()["resolved_by"]
    assert [] == eve.get("comments/?site=shop&open=true").json()["results"]
    assert eve.post(f"comments/{row['id']}/resolve/", {"open": True}).json()["resolved_at"] is None


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"url": "https://shop.example/ghost", "text": "x"}, "url"),
        ({"url": "no address", "text": "x"}, "url"),
        ({"url": "https://shop.example/p1", "text": "x", "xpath": "/html/h9"}, "xpath"),
        ({"url": "https://shop.example/p1", "text": "x", "attribute": "ghost"}, "attribute"),
    ],
)
def test_what_is_wrong_is_told_by_field(
    page: Page, eve: Caller, said: dict[str, str], field: str
) -> None:
    answer = eve.post("sites/shop/comments/", said)

    assert (400, [field]) == (answer.status_code, list(answer.json()["error"]["fields"]))


def test_comments_of_other_sites_do_not_exist(page: Page, eve: Caller) -> None:
    row = eve.post("sites/shop/comments/", {"url": page.url, "text": "x"}).json()
    guest = caller("guest", Role.EDITOR, site=site_of("guide"))

    assert [] == guest.get("comments/").json()["results"]
    assert 404 == guest.post(f"comments/{row['id']}/resolve/", {}).status_code
