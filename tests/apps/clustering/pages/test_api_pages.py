from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clustering.models import Page, Snapshot
from tests.apps.clustering.api_cast import Caller, caller, page_of, site_of
from vertex.core.models import Role, Site
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db
EARLY, LATE = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


@pytest.fixture
def shop() -> Site:
    return site_of("shop")


def urls(who: Caller, query: str) -> list[str]:
    response = who.get(f"pages/?{query}")
    assert 200 == response.status_code, response.content
    return [row["url"].removeprefix("https://shop.example/") for row in response.json()["results"]]


def test_a_page_tells_all_that_is_known_of_it(ada: Caller, shop: Site) -> None:
    page = page_of(shop, "p/1", reason="")
    answer = ada.get(f"pages/{page.pk}/").json()

    assert answer == ada.get("pages/").json()["results"][0]
    expected = {
        "id": page.pk,
        "site": "shop",
        "url": "https://shop.example/p/1",
        "state": "stored",
        "status": 200,
        "latest_snapshot": page.latest_snapshot_id,
        "redirects_to": None,
        "depth": 0,
    }
    assert expected == {key: answer[key] for key in expected}
    assert answer["visited_at"].endswith("Z")


def test_pages_are_filtered_by_state_status_and_site(ada: Caller, shop: Site) -> None:
    page_of(shop, "good"), page_of(shop, "bad", state="failed", status=500)
    page_of(site_of("other"), "elsewhere")

    assert ["bad"] == urls(ada, "state=failed")
    assert ["bad"] == urls(ada, "status=500")
    assert ["good", "bad"] == urls(ada, "site=shop")
    assert ["good"] == urls(ada, "site=shop&state=stored&status=200")
    assert [] == urls(ada, "site=nothing")


def test_a_page_is_found_by_its_address_however_it_is_written(ada: Caller, shop: Site) -> None:
    page_of(shop, "p/1"), page_of(shop, "p/2")

    for url in (
        "https://shop.example/p/1",
        "HTTPS://SHOP.example:443/p/1%23x",
        "https://shop.example/p/./1",
    ):
        assert ["p/1"] == urls(ada, f"url={url}")
    assert [] == urls(ada, "url=https://shop.example/p/3")


def test_pages_since_a_time(ada: Caller, shop: Site) -> None:
    for path, changed, visited in (
        ("old", EARLY, EARLY),
        ("seen", EARLY, LATE),
        ("new", LATE, LATE),
    ):
        page = page_of(shop, path, visited_at=visited)
        Snapshot.objects.filter(page=page).update(fetched_at=changed)

    assert ["new"] == urls(ada, "changed_since=2025-03-01T00:00:00Z")
    assert ["seen", "new"] == urls(ada, "visited_since=2025-03-01T00:00:00Z")
    assert ["new"] == urls(ada, "changed_since=2025-06-01T02:00:00%2B02:00")
    later = (LATE + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert [] == urls(ada, f"changed_since={later}")


def test_snapshots_of_a_page_the_newest_first(ada: Caller, shop: Site) -> None:
    page = page_of(shop, body=b"first")
    newer = Snapshot.objects.create(
        page=page,
        body="b" * 64,
        n_bytes=2,
        fetched_at=LATE,
        seen_at=LATE,
        requested_url="",
        final_url="",
    )
    rows = ada.get(f"pages/{page.pk}/snapshots/").json()["results"]

    assert [newer.pk, page.latest_snapshot_id] == [row["id"] for row in rows]
    assert rows[1] == ada.get(f"snapshots/{page.latest_snapshot_id}/").json()
    assert (5, page.pk) == (rows[1]["n_bytes"], rows[1]["page"])


def test_links_as_they_stand_on_the_page(ada: Caller, shop: Site) -> None:
    page = page_of(shop)
    expected = [
        {"position": 0, "xpath": "/html/a", "url": "https://shop.example/other", "text": ""}
    ]

    assert expected == ada.get(f"pages/{page.pk}/links/").json()["results"]


class TestBody:
    def snapshot(self, site: Site, body: bytes = b"\x00<script>alert(1)</script>\xff") -> int:
        pk = page_of(site, body=body).latest_snapshot_id
        assert pk is not None
        return pk

    def test_the_bytes_come_as_they_were_received(self, ada: Caller, shop: Site) -> None:
        pk = self.snapshot(shop)

        assert b"\x00<script>alert(1)</script>\xff" == ada.get(f"snapshots/{pk}/body/").content

    @pytest.mark.parametrize("accept", ["*/*", "application/octet-stream", "text/html,*/*;q=0.8"])
    def test_no_browser_runs_them(self, ada: Caller, shop: Site, accept: str) -> None:
        response = ada.get(f"snapshots/{self.snapshot(shop)}/body/", headers={"Accept": accept})

        assert 200 == response.status_code
        assert "application/octet-stream" == response["Content-Type"]
        assert "nosniff" == response["X-Content-Type-Options"]
        assert response["Content-Disposition"].startswith("attachment;")
        assert "default-src 'none'; sandbox" == response["Content-Security-Policy"]

    def test_bytes_that_are_gone_are_410(self, ada: Caller, shop: Site) -> None:
        pk = self.snapshot(shop)
        page_store().delete(Snapshot.objects.get(pk=pk).body)
        response = ada.get(f"snapshots/{pk}/body/", headers={"Accept": "application/octet-stream"})

        assert (410, "gone") == (response.status_code, response.json()["error"]["code"])
        assert "application/json" == response["Content-Type"]

    def test_damaged_bytes_are_not_handed_out(self, ada: Caller, shop: Site, settings: Any) -> None:
        pk = self.snapshot(shop)
        for path in settings.PAGE_STORE_DIR.rglob("*"):
            if path.is_file() and path.stat().st_size:
                path.chmod(0o600)
                path.write_bytes(path.read_bytes()[:-3] + b"xyz")
        response = ada.get(f"snapshots/{pk}/body/")

        assert (500, "server_error") == (response.status_code, response.json()["error"]["code"])
        assert "damaged" in response.json()["error"]["message"]


def test_pages_of_foreign_sites_are_not_there(shop: Site) -> None:
    page = page_of(shop)
    mine = page_of(site_of("mine"))
    vic = caller("vic", Role.VIEWER, site=Site.objects.get(name="mine"))

    assert [mine.pk] == [row["id"] for row in vic.get("pages/").json()["results"]]
    assert [] == vic.get("pages/?site=shop").json()["results"]
    assert [] == vic.get(f"pages/?url={page.url}").json()["results"]
    assert 404 == vic.get(f"snapshots/{page.latest_snapshot_id}/body/").status_code
    assert 200 == vic.get(f"snapshots/{mine.latest_snapshot_id}/body/").status_code


def test_a_thousand_rows_cost_as_many_queries_as_one(
    ada: Caller, shop: Site, django_assert_max_num_queries: Any
) -> None:
    Page.objects.bulk_create(
        Page(site=shop, url=f"u{i}", url_hash=i.to_bytes(16, "big"), given_url="")
        for i in range(1000)
    )

    with django_assert_max_num_queries(6):
        assert 1000 == len(ada.get("pages/?limit=1000").json()["results"])
