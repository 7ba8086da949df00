"""Lists come in pages that neither skip nor repeat a row, whatever is added meanwhile."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from clustering.models import Page
from tests.apps.clustering.api_cast import Caller, caller, page_of, site_of
from vertex.core.models import Job, Role, Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def walk(who: Caller, path: str) -> list[dict[str, Any]]:
    rows, address = [], path
    while address:
        page = who.get(address).json()
        assert {"results", "next"} == set(page)
        rows += page["results"]
        address = page["next"]
    return rows


def cursor_in(address: str) -> str:
    return parse_qs(urlsplit(address).query)["cursor"][0]


def make_pages(site: Site, n: int) -> None:
    Page.objects.bulk_create(
        Page(site=site, url=f"{site.root_url}{i}", url_hash=i.to_bytes(16, "big"), given_url="")
        for i in range(n)
    )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7])
def test_all_rows_come_once_and_in_order(ada: Caller, n: int) -> None:
    for i in range(n):
        site_of(f"site-{i}")

    assert [f"site-{i}" for i in range(n)] == [row["name"] for row in walk(ada, "sites/?limit=3")]


def test_the_next_page_is_an_address_and_null_on_the_last(ada: Caller) -> None:
    site_of("a"), site_of("b")
    first = ada.get("sites/?limit=1").json()

    assert first["next"].startswith("http://testserver/api/v1/sites/?")
    assert "limit=1" in first["next"]
    assert ada.get(first["next"]).json()["next"] is None


def test_a_page_has_a_hundred_rows_unless_asked_and_a_thousand_at_most(ada: Caller) -> None:
    make_pages(site_of(), 1001)

    assert 100 == len(ada.get("pages/").json()["results"])
    assert 1000 == len(ada.get("pages/?limit=1000").json()["results"])
    assert 400 == ada.get("pages/?limit=1001").status_code
    assert 1001 == len(walk(ada, "pages/?limit=1000"))


def test_rows_added_before_and_after_shift_nothing(ada: Caller) -> None:
    for name in ("b", "d", "f"):
        site_of(name)
    first = ada.get("sites/?limit=2").json()
    site_of("a"), site_of("e")

    assert ["b", "d"] == [row["name"] for row in first["results"]]
    assert ["e", "f"] == [row["name"] for row in walk(ada, first["next"])]


def test_newest_first_lists_go_on_where_they_were(ada: Caller) -> None:
    for n in range(5):
        Job.objects.create(task="t", queue="keep", title=str(n))
    first = ada.get("jobs/?limit=2").json()
    Job.objects.create(task="t", queue="keep", title="new")

    assert ["4", "3"] == [row["title"] for row in first["results"]]
    assert ["2", "1", "0"] == [row["title"] for row in walk(ada, first["next"])]


def test_filters_stay_in_the_next_address(ada: Caller) -> None:
    first, two = site_of("one"), site_of("two")
    for n in range(3):
        page_of(first, str(n))
        page_of(two, str(n))

    assert {"one"} == {row["site"] for row in walk(ada, "pages/?site=one&limit=1")}


def test_a_cursor_is_of_no_use_elsewhere(ada: Caller) -> None:
    make_pages(site_of(), 3)
    cursor = cursor_in(ada.get("pages/?limit=1").json()["next"])

    assert 200 == ada.get(f"pages/?limit=2&cursor={cursor}").status_code
    for other in ("jobs/?", "pages/?state=due&", "pages/?site=alpine-shop&"):
        assert 400 == ada.get(f"{other}cursor={cursor}").status_code


def test_a_cursor_that_was_changed_is_refused(ada: Caller) -> None:
    make_pages(site_of(), 3)
    cursor = cursor_in(ada.get("pages/?limit=1").json()["next"])
    changed = ("A" if cursor[0] != "A" else "B") + cursor[1:]

    for forged in (changed, cursor[:-1], "WzFd", ":", "%00", "x" * 1000):
        response = ada.get(f"pages/?limit=1&cursor={forged}")
        assert 400 == response.status_code
        assert "cursor" in response.json()["error"]["fields"]


def test_a_deep_page_costs_no_more_queries_and_no_offset_or_count(ada: Caller) -> None:
    make_pages(site_of(), 50)
    address = "pages/?limit=5"
    costs = []
    while address:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            address = ada.get(address).json()["next"]
        costs.append(len(queries))
        assert not any("OFFSET" in query["sql"] or "COUNT(" in query["sql"] for query in queries)
    assert max(costs[1:]) <= costs[0]
    assert max(costs) <= 6
