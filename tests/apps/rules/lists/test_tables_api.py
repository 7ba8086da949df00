"""The lists of stored pages as tables, for programs."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from clustering.services.children import stored
from clustering.services.children.limits import CallStopped, ChildrenBusy
from clustering.services.crawl.list_crawling import crawl_list
from tests.apps.clustering.api_cast import Caller, caller, page_of, site_of
from tests.apps.clustering.fake_host import Answer, FakeHost
from tests.apps.rules.list_cast import N_RECORDS, list_page, stored_list
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.OPERATOR)


def told(who: Caller, path: str) -> dict[str, Any]:
    response = who.get(path)
    assert 200 == response.status_code, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_a_page_is_a_table_by_its_address_its_number_and_its_snapshot(ada: Caller) -> None:
    page = stored_list()
    (table,) = told(ada, "tables/?url=https://SHOP.example/list")["results"]

    assert [table] == told(ada, f"pages/{page.pk}/tables/")["results"]
    assert [table] == told(ada, f"snapshots/{page.latest_snapshot_id}/tables/")["results"]
    assert (page.pk, page.latest_snapshot_id, 1) == (
        table["page"],
        table["snapshot"],
        table["rank"],
    )
    assert (N_RECORDS, "https://shop.example/list?page=2") == (
        table["n_records"],
        table["next_url"],
    )
    columns = {column["name"]: column for column in table["columns"]}
    assert {"name": "price", "kind": "text", "is_multi": False, "n_filled": 5} == columns["price"]
    assert "link" == columns[table["detail_column"]]["kind"]


def test_rows_come_in_pages_without_what_a_record_lacks(ada: Caller) -> None:
    page = stored_list()
    address: str | None = f"snapshots/{page.latest_snapshot_id}/tables/rows/?limit=3"
    rows = []
    while address:
        answer = told(ada, address)
        assert len(answer["results"]) <= 3
        rows += answer["results"]
        address = answer["next"]

    assert list(range(N_RECORDS)) == [row["index"] for row in rows]
    assert [0, 3, 6] == [row["index"] for row in rows if "price" not in row["values"]]
    assert ("The thing 4", "4.50 EUR") == (rows[4]["values"]["name"], rows[4]["values"]["price"])
    assert "https://shop.example/p/4" in rows[4]["values"].values()


def test_a_page_without_a_list_has_no_table_and_no_rows(ada: Caller) -> None:
    page = page_of(site_of("shop"), "about", body=b"<h1>About</h1><p>We sell shoes.")

    assert [] == told(ada, f"pages/{page.pk}/tables/")["results"]
    refused = ada.get(f"snapshots/{page.latest_snapshot_id}/tables/rows/")
    assert (400, ["The snapshot shows 0 lists."]) == (
        refused.status_code,
        refused.json()["error"]["fields"]["rank"],
    )


def test_bytes_that_are_gone_are_no_page_without_a_list(ada: Caller) -> None:
    page = stored_list()
    assert page.latest_snapshot is not None
    page_store().delete(page.latest_snapshot.body)

    assert 410 == ada.get(f"pages/{page.pk}/tables/").status_code


def test_what_is_not_stored_or_not_the_callers_is_not_there(ada: Caller) -> None:
    stored_list()
    stranger = caller("sam", Role.OPERATOR, site=site_of("other"))

    assert 404 == ada.get("tables/?url=https://shop.example/else").status_code
    assert 404 == stranger.get("tables/?url=https://shop.example/list").status_code
    assert 404 == stranger.get("tables/?url=https://shop.example/list&site=shop").status_code
    assert 400 == ada.get("tables/?url=mailto:a").status_code


@pytest.mark.usefixtures("loopback")
def test_an_address_becomes_a_job_and_the_job_a_table(ada: Caller) -> None:
    with FakeHost({"/list": Answer(list_page(), headers={"Content-Type": "text/html"})}) as host:
        answer = ada.post("tables/", {"url": f"{host.url}/list", "name": "pasted"})
        assert 202 == answer.status_code, answer.content
        assert 409 == ada.post("tables/", {"url": f"{host.url}/list"}).status_code
        run_job(answer.json()["id"], crawl_list)

    result = told(ada, f"jobs/{answer.json()['id']}/")["result"]
    assert "pasted" == answer.json()["site"]
    assert (
        N_RECORDS == told(ada, f"snapshots/{result['snapshot']}/tables/")["results"][0]["n_records"]
    )


def test_who_may_not_fetch_there_is_told_what_is_needed() -> None:
    lou = caller("lou", Role.OPERATOR, site=site_of("other"))
    refused = lou.post("tables/", {"url": "https://shop.example/list"})

    assert 403 == refused.status_code
    assert "for all sites" in refused.json()["error"]["message"]
    assert not Job.objects.exists()
    assert not Site.objects.filter(name="shop.example").exists()


def test_a_list_that_is_too_heavy_or_has_to_wait_says_so(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = stored_list()
    address = reverse("page_table", args=["shop", page.pk])
    browser = Client(raise_request_exception=False)
    browser.force_login(User.objects.get(username="ada"))

    def busy(*_: object) -> None:
        raise ChildrenBusy

    with monkeypatch.context() as patch:
        patch.setattr(stored, "call_limited", busy)
        refused = ada.get(f"pages/{page.pk}/tables/")
        assert (503, "unavailable") == (refused.status_code, refused.json()["error"]["code"])
        shown = browser.get(address)
        assert (503, "30") == (shown.status_code, shown["Retry-After"])
        assert "Not at the moment" in shown.content.decode()
        assert "many pages are being read" in shown.content.decode()
    assert "The thing 1" in browser.get(address).content.decode()
    cache.clear()

    def stopped(*_: object) -> None:
        raise CallStopped("it takes more than 5 seconds of a processor")

    monkeypatch.setattr(stored, "call_limited", stopped)
    assert "Too heavy to read" in browser.get(address).content.decode()
    assert [] == told(ada, f"pages/{page.pk}/tables/")["results"]
