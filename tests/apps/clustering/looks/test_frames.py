"""The frame's own headers, and files that only a fresh signature opens."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from clustering.dom.addresses import url_hash
from clustering.models import Asset, Snapshot, SnapshotAssets
from clustering.services.looks import frames
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from vertex.core.models import Job, Role, Site
from vertex.core.services.people import people
from vertex.core.storage import page_store

pytestmark = pytest.mark.django_db
NOON = timezone.now().replace(minute=30, second=0, microsecond=0)
PNG = b"\x89PNG\r\n\x1a\npixels"


@pytest.fixture
def snapshot(settings: Settings, tmp_path: Path) -> Snapshot:
    settings.PAGE_STORE_DIR = tmp_path / "pages"
    site = Site.objects.create(name="shop", root_url="https://shop.example/")
    visit = Visit(
        "https://shop.example/p",
        b"<!doctype html><img src=/i.png><script>x</script>",
        NOON,
        content_type="text/html",
    )
    store_visits(site=site, prepared=prepare_visits([visit]))
    return Snapshot.objects.select_related("page__site").get()


@pytest.fixture
def asset(snapshot: Snapshot) -> Asset:
    url = "https://shop.example/i.png"
    body = page_store().put(PNG)
    asset = Asset.objects.create(
        site=snapshot.page.site, url=url, url_hash=url_hash(url), kind="image", body=body,
        content_type="image/png", fetched_at=NOON,
    )  # fmt: skip
    SnapshotAssets.objects.create(snapshot=snapshot, assets=[asset.pk], fetched_at=NOON)
    return asset


def client_of(role: Role | None) -> Client:
    client = Client()
    client.force_login(people.create_user(username="somebody", role=role, actor=None))
    return client


def address_of(snapshot: Snapshot, token: str = "") -> str:
    return f"/sites/shop/frames/{snapshot.pk}/?token={token}"


class TestFrame:
    def test_a_frame_of_the_products_pages_runs_its_own_script_only(
        self, snapshot: Snapshot
    ) -> None:
        token = frames.make_token(snapshot)
        response = client_of(Role.VIEWER).get(
            address_of(snapshot, token), headers={"Sec-Fetch-Dest": "iframe"}
        )
        policy = dict(
            part.split(" ", 1) for part in response["Content-Security-Policy"].split("; ")
        )

        assert 1 == response.content.count(b"<script")
        nonce = policy["script-src"].removeprefix("'nonce-").removesuffix("'")
        assert f'nonce="{nonce}"'.encode() in response.content
        assert {
            "default-src": "'none'",
            "script-src": f"'nonce-{nonce}'",
            "style-src": "'unsafe-inline'",
            "img-src": f"http://testserver/frame-assets/{snapshot.pk}/ data:",
            "font-src": f"http://testserver/frame-assets/{snapshot.pk}/ data:",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
            "sandbox": "allow-scripts",
        } == policy
        assert (
            "application/xhtml+xml; charset=utf-8",
            "nosniff",
            "no-referrer",
            "SAMEORIGIN",
            "private, no-store",
        ) == tuple(
            response[name]
            for name in (
                "Content-Type",
                "X-Content-Type-Options",
                "Referrer-Policy",
                "X-Frame-Options",
                "Cache-Control",
            )
        )

    @pytest.mark.parametrize("kind", ["document", "object", "embed"])
    def test_opened_by_itself_it_runs_nothing(self, snapshot: Snapshot, kind: str) -> None:
        token = frames.make_token(snapshot)
        response = client_of(Role.VIEWER).get(
            address_of(snapshot, token), headers={"Sec-Fetch-Dest": kind}
        )

        assert b"<script" not in response.content
        assert "script-src 'none'" in response["Content-Security-Policy"]
        assert response["Content-Security-Policy"].endswith("; sandbox")

    def test_without_a_token_of_this_page_it_runs_nothing(self, snapshot: Snapshot) -> None:
        client = client_of(Role.VIEWER)

        for token in (
            "",
            "guessed",
            frames.make_token(snapshot)[:-1],
            frames.make_token(Snapshot(pk=snapshot.pk + 1)),
        ):
            assert b"<script" not in client.get(address_of(snapshot, token)).content

    def test_only_who_may_see_the_site_sees_its_pages(self, snapshot: Snapshot) -> None:
        assert 302 == Client().get(address_of(snapshot)).status_code
        assert 404 == client_of(None).get(address_of(snapshot)).status_code
        assert 404 == status_at_another_site(snapshot)

    def test_what_is_not_in_the_store_is_said_in_the_frame(self, snapshot: Snapshot) -> None:
        page_store().delete(snapshot.body)
        response = client_of(Role.VIEWER).get(address_of(snapshot))

        assert "This page cannot be shown" in response.content.decode()

    def test_the_page_around_names_the_frame_and_what_it_is_drawn_with(
        self, snapshot: Snapshot, asset: Asset
    ) -> None:
        path = f"/sites/shop/pages/{snapshot.page_id}/snapshots/{snapshot.pk}/look/"
        text = client_of(Role.VIEWER).get(path).content.decode()

        assert 'sandbox="allow-scripts"' in text
        assert "Drawn with what was fetched" in text
        assert "Fetch again" not in text

    def test_an_editor_lets_a_job_fetch_what_is_missing(self, snapshot: Snapshot) -> None:
        client = client_of(Role.EDITOR)
        path = f"/sites/shop/frames/{snapshot.pk}"
        waiting = client.post(f"{path}/fetch/", headers={"HX-Request": "true"}).content.decode()

        assert "are being fetched" in waiting
        assert Job.objects.get().params["snapshots"] == [snapshot.pk]
        assert "HX-Trigger" not in client.get(f"{path}/line/")
        Job.objects.update(state=Job.State.DONE)
        assert "frame-fetched" == client.get(f"{path}/line/")["HX-Trigger"]
        assert 302 == client.post(f"{path}/fetch/").status_code


def status_at_another_site(snapshot: Snapshot) -> int:
    Site.objects.create(name="other", root_url="https://other.example/")
    client = Client()
    client.force_login(people.create_user(username="else", role=Role.VIEWER, actor=None))
    return client.get(f"/sites/other/frames/{snapshot.pk}/").status_code


class TestFiles:
    def test_a_fresh_signature_opens_a_file_without_a_session(
        self, snapshot: Snapshot, asset: Asset
    ) -> None:
        response = Client().get(frames.asset_address(snapshot.pk, asset.body, now=timezone.now()))

        assert (200, PNG, "image/png", "null", "nosniff") == (
            response.status_code,
            response.content,
            *(
                response[name]
                for name in (
                    "Content-Type",
                    "Access-Control-Allow-Origin",
                    "X-Content-Type-Options",
                )
            ),
        )
        assert "sandbox" in response["Content-Security-Policy"]
        assert "default-src 'none'" in response["Content-Security-Policy"]

    def test_none_an_old_and_a_foreign_one_open_nothing(
        self, snapshot: Snapshot, asset: Asset
    ) -> None:
        fresh = frames.asset_address(snapshot.pk, asset.body, now=timezone.now())
        old = frames.asset_address(snapshot.pk, asset.body, now=timezone.now() - timedelta(hours=3))
        _, _, number, expires, signed, body = fresh.split("/")
        forged = [
            old,
            f"/frame-assets/{number}/{expires}/none/{body}",
            f"/frame-assets/{number}/{int(expires) + 3600}/{signed}/{body}",
            f"/frame-assets/{int(number) + 1}/{expires}/{signed}/{body}",
            f"/frame-assets/{number}/{expires}/{signed}/{'0' * 64}",
        ]

        assert [403] * 5 == [Client().get(address).status_code for address in forged]
        assert [403] * 5 == [
            client_of_role(n).get(address).status_code for n, address in enumerate(forged)
        ]

    def test_an_address_lasts_at_least_an_hour_and_is_the_same_meanwhile(
        self, snapshot: Snapshot
    ) -> None:
        first, other = (
            frames.asset_address(1, "a" * 64, now=NOON + timedelta(minutes=m)) for m in (0, 20)
        )
        expires = int(first.split("/")[3])

        assert first == other
        assert (
            timedelta(hours=1)
            <= timedelta(seconds=expires - NOON.timestamp())
            <= timedelta(hours=2)
        )

    def test_a_file_that_is_gone_is_not_found(self, snapshot: Snapshot, asset: Asset) -> None:
        page_store().delete(asset.body)

        assert (
            404
            == Client()
            .get(frames.asset_address(snapshot.pk, asset.body, now=timezone.now()))
            .status_code
        )


def client_of_role(n: int) -> Client:
    client = Client()
    client.force_login(
        people.create_user(username=f"reader-{n}", role=Role.ADMINISTRATOR, actor=None)
    )
    return client


def test_the_icon_is_found_where_browsers_ask_for_it() -> None:
    assert Client().get("/favicon.ico")["Location"].endswith("favicon.svg")
