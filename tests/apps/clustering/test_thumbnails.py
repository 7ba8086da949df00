"""Pictures of pages: drawn by a browser that reaches nothing, else as outlines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from clustering.fetching.chromium import BrowserFailed
from clustering.fetching.picturing import PNG, Camera
from clustering.models import Job, Membership, Page, Role, Snapshot, User
from clustering.services.jobs import run_job
from clustering.services.thumbnails import draw_thumbnails, find_thumbnail, request_thumbnails
from tests.apps.clustering.cluster_cast import Shop, shop_of
from tests.apps.clustering.fake_host import canary

CHROMIUM = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
needs_chromium = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="CHROMIUM NOT FOUND: apt-get install chromium"
)
HOSTILE = (
    "<h1>Boots</h1><script>location='http://127.0.0.1:{port}/a'</script><img src=http://127.0.0.1:{port}/b>"
)


@pytest.fixture
def shop(db: None, settings: Any, tmp_path: Path) -> Shop:
    settings.VAR_DIR = tmp_path
    return shop_of(
        {"products": "ab", "lists": "c"}, bodies={"products": "<h1>Boots</h1>", "lists": "<ul><li>x"}
    )


def snapshot_of(shop: Shop, letter: str) -> Snapshot:
    found = Page.objects.get(pk=shop.pages[letter]).latest_snapshot
    assert found is not None
    return found


def drawn(shop: Shop) -> dict[str, Any]:
    job = run_job(request_thumbnails(site=shop.site, rings=False).pk, draw_thumbnails)
    assert (Job.State.DONE, "") == (job.state, job.error)
    return job.result or {}


def test_without_a_browser_there_are_outlines(shop: Shop, settings: Any) -> None:
    settings.CHROMIUM = "/nowhere/chromium"

    assert {"pictures": 0, "outlines": 2, "without": 0} == drawn(shop)
    found = find_thumbnail(snapshot_of(shop, "a").body)
    assert found is not None
    assert "image/svg+xml" == found.content_type


def test_before_they_are_drawn_an_outline_stands_in(shop: Shop, tmp_path: Path) -> None:
    found = find_thumbnail(snapshot_of(shop, "c").body)

    assert found is not None
    assert found.picture.startswith(b"<svg")
    assert not (tmp_path / "thumbnails").exists()


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0" * 64, "A" * 64])
def test_what_is_no_body_has_no_picture(shop: Shop, name: str) -> None:
    assert find_thumbnail(name) is None


def test_a_body_that_is_gone_is_counted_and_the_others_are_drawn(shop: Shop, settings: Any) -> None:
    settings.CHROMIUM = "/nowhere/chromium"
    Snapshot.objects.filter(pk=snapshot_of(shop, "c").pk).update(body="0" * 64)

    assert {"pictures": 0, "outlines": 1, "without": 1} == drawn(shop)


@needs_chromium
@pytest.mark.browser
def test_one_browser_draws_them_all_and_does_not_draw_them_again(shop: Shop, settings: Any) -> None:
    settings.CHROMIUM = CHROMIUM

    assert 2 == drawn(shop)["pictures"]
    found = find_thumbnail(snapshot_of(shop, "a").body)
    assert found is not None
    assert ("image/png", True) == (found.content_type, found.picture.startswith(PNG))
    assert 0 == drawn(shop)["pictures"]


@needs_chromium
@pytest.mark.browser
def test_a_page_reaches_nothing_while_it_is_drawn() -> None:
    with canary("127.0.0.1") as bird, Camera(CHROMIUM) as camera:
        # Not made still first: network and scripts are off all the same.
        assert camera.picture(HOSTILE.format(port=bird.port)).startswith(PNG)
        with pytest.raises(BrowserFailed):
            camera.picture("x" * 3_000_000)

        assert 0 == bird.n_connections


class TestHandedOut:
    @pytest.fixture
    def viewer(self, db: None) -> Client:
        user = User.objects.create_user("viewer")
        Membership.objects.create(user=user, role=Role.VIEWER)
        client = Client()
        client.force_login(user)
        return client

    def test_it_can_neither_run_nor_ask_for_anything(self, viewer: Client, shop: Shop) -> None:
        answer = viewer.get(reverse("thumbnail", args=["shop", snapshot_of(shop, "a").body]))

        assert "image/svg+xml" == answer.headers["Content-Type"]
        assert "default-src 'none'; sandbox" == answer.headers["Content-Security-Policy"]
        assert "nosniff" == answer.headers["X-Content-Type-Options"]
        assert "private" in answer.headers["Cache-Control"]

    def test_bytes_of_another_site_are_not_shown(self, viewer: Client, shop: Shop) -> None:
        shop_of({"x": "x"}, name="other", bodies={"x": "<p>secret"})
        secret = Page.objects.get(site__name="other").latest_snapshot
        assert secret is not None

        assert 200 == viewer.get(reverse("thumbnail", args=["other", secret.body])).status_code
        assert 404 == viewer.get(reverse("thumbnail", args=["shop", secret.body])).status_code
        assert 404 == viewer.get(reverse("thumbnail", args=["shop", "nothing"])).status_code

    def test_drawing_is_for_operators(self, viewer: Client, shop: Shop) -> None:
        assert 403 == viewer.post(reverse("draw_thumbnails", args=["shop"])).status_code
