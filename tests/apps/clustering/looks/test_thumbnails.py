"""Pictures of pages: drawn by a browser that reaches nothing, else as outlines."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

import clustering.tasks  # noqa: F401 - registers the tasks
from clustering.dom.addresses import url_hash
from clustering.fetching.browser.chromium import BrowserFailed
from clustering.fetching.browser.picturing import PNG, Camera
from clustering.models import (
    Asset,
    ClusterFigures,
    ClusterLayout,
    Page,
    Snapshot,
    SnapshotAssets,
)
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import clustering_request
from clustering.services.looks.thumbnails import (
    draw_thumbnails,
    find_thumbnail,
    sweep_thumbnails,
    thumbnails_request,
)
from tests.apps.clustering.cluster_cast import Shop, shop_of
from tests.apps.clustering.fake_host import canary
from vertex.celery import app
from vertex.core.models import Job, Membership, Role, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import page_store

CHROMIUM = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
needs_chromium = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="CHROMIUM NOT FOUND: apt-get install chromium"
)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='90' height='90'><circle r='40'/></svg>"
HOSTILE = (
    "<h1>Boots</h1><script>location='http://127.0.0.1:{port}/a'</script><img "
    "src=http://127.0.0.1:{port}/b>"
)


@pytest.fixture
def shop(db: None, settings: Any, tmp_path: Path) -> Shop:
    settings.VAR_DIR = tmp_path
    return shop_of(
        {"products": "ab", "lists": "c"},
        bodies={"products": "<h1>Boots</h1>", "lists": "<ul><li>x"},
    )


def snapshot_of(shop: Shop, letter: str) -> Snapshot:
    page = Page.objects.get(pk=shop.pages[letter]).latest_snapshot
    assert page is not None
    return page


def drawn(shop: Shop) -> dict[str, Any]:
    job = run_job(create_here(thumbnails_request(site=shop.site)).pk, draw_thumbnails)
    assert (Job.State.DONE, "") == (job.state, job.error)
    return job.result or {}


def clustered_by_worker(shop: Shop, **asked: Any) -> Job:
    job = create_here(clustering_request(site=shop.site, **asked))
    app.tasks[job.task](job.pk)
    job.refresh_from_db()
    return job


def drawing_jobs() -> QuerySet[Job]:
    return Job.objects.filter(task="clustering.draw_thumbnails")


def test_without_a_browser_there_are_outlines(shop: Shop, settings: Any) -> None:
    settings.CHROMIUM = "/nowhere/chromium"

    assert {"pictures": 0, "outlines": 2, "without": 0} == drawn(shop)
    thumbnail = find_thumbnail(snapshot_of(shop, "a").body)
    assert thumbnail is not None
    assert "image/svg+xml" == thumbnail.content_type


def test_each_layout_is_drawn_though_its_page_is_no_example(
    shop: Shop, settings: Any, tmp_path: Path
) -> None:
    settings.CHROMIUM = "/nowhere/chromium"
    products = shop.clusters["products"]
    body = page_store().put(b"<h1>Boots</h1><img src=/boots.png>")
    Snapshot.objects.filter(pk=snapshot_of(shop, "b").pk).update(body=body)
    ClusterFigures.objects.filter(cluster=products).update(examples=[shop.pages["a"]])
    assert 2 == drawn(shop)["outlines"]

    ClusterLayout.objects.create(
        clustering=shop.clustering, cluster=products, name="photo", example_id=shop.pages["b"]
    )
    drawn(shop)
    assert (tmp_path / "thumbnails" / body[:2] / f"{body}.svg").exists()


def test_before_they_are_drawn_an_outline_stands_in(shop: Shop, tmp_path: Path) -> None:
    thumbnail = find_thumbnail(snapshot_of(shop, "c").body)

    assert thumbnail is not None
    assert thumbnail.picture.startswith(b"<svg")
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
    thumbnail = find_thumbnail(snapshot_of(shop, "a").body)
    assert thumbnail is not None
    assert ("image/png", True) == (thumbnail.content_type, thumbnail.picture.startswith(PNG))
    assert 0 == drawn(shop)["pictures"]


@needs_chromium
@pytest.mark.browser
def test_a_page_is_drawn_again_with_the_files_that_came_later(shop: Shop, settings: Any) -> None:
    settings.CHROMIUM = CHROMIUM
    body = page_store().put(b"<link rel=stylesheet href=/a.css><img src=/i.svg><h1>Boots</h1>")
    Snapshot.objects.filter(pk=snapshot_of(shop, "a").pk).update(body=body)
    drawn(shop)
    plain = find_thumbnail(body)
    snapshot = snapshot_of(shop, "a")
    files = {
        "a.css": ("sheet", "text/css", b"h1{color:red}"),
        "i.svg": ("image", "image/svg+xml", SVG),
    }
    assets = [file_of(snapshot, name, *file) for name, file in files.items()]
    SnapshotAssets.objects.create(
        snapshot=snapshot, assets=assets, fetched_at=timezone.now() + timedelta(minutes=1)
    )

    assert 1 == drawn(shop)["pictures"]
    assert plain != find_thumbnail(body)


def file_of(snapshot: Snapshot, name: str, kind: str, content_type: str, body: bytes) -> int:
    url = f"{snapshot.page.site.root_url}{name}"
    fields = {
        "url_hash": url_hash(url),
        "body": page_store().put(body),
        "content_type": content_type,
    }
    return Asset.objects.create(
        site=snapshot.page.site, url=url, kind=kind, fetched_at=timezone.now(), **fields
    ).pk


@needs_chromium
@pytest.mark.browser
def test_a_page_reaches_nothing_while_it_is_drawn() -> None:
    with canary("127.0.0.1") as bird, Camera(CHROMIUM) as camera:
        # Not made still first: network and scripts are off all the same.
        assert camera.picture(HOSTILE.format(port=bird.port)).startswith(PNG)
        with pytest.raises(BrowserFailed):
            camera.picture("x" * 3_000_000)

        assert 0 == bird.n_connections


class TestAfterClustering:
    """A worker asks for pictures of the clusters it made; the work of a command does not."""

    def test_a_worker_lets_a_job_draw(self, shop: Shop) -> None:
        clustered_by_worker(shop)

        assert 1 == drawing_jobs().count()

    def test_a_job_that_draws_already_does_no_harm(self, shop: Shop) -> None:
        create_here(thumbnails_request(site=shop.site))
        job = clustered_by_worker(shop)

        assert (Job.State.DONE, "", 1) == (job.state, job.error, drawing_jobs().count())

    def test_what_is_only_compared_is_not_drawn(self, shop: Shop) -> None:
        job = clustered_by_worker(shop, compare=True)

        assert (Job.State.DONE, 0) == (job.state, drawing_jobs().count())

    def test_the_work_of_a_command_asks_for_none(self, shop: Shop) -> None:
        job = run_job(create_here(clustering_request(site=shop.site)).pk, cluster_site)

        assert (Job.State.DONE, 0) == (job.state, drawing_jobs().count())


class TestSwept:
    @pytest.fixture
    def folder(self, shop: Shop, settings: Any, tmp_path: Path) -> Path:
        settings.CHROMIUM = "/nowhere/chromium"
        drawn(shop)
        return tmp_path / "thumbnails"

    def test_pictures_of_bodies_that_are_gone_go_and_the_others_stay(
        self, shop: Shop, folder: Path
    ) -> None:
        Snapshot.objects.filter(pk=snapshot_of(shop, "c").pk).update(body="0" * 64)

        assert 1 == sweep_thumbnails(now=timezone.now())
        assert [snapshot_of(shop, "a").body] == [path.stem for path in folder.glob("*/*")]

    def test_half_written_ones_go_when_they_are_old(self, shop: Shop, folder: Path) -> None:
        body = snapshot_of(shop, "a").body
        (folder / body[:2] / f".{body}.0123abcd.part").write_bytes(b"half")

        assert 0 == sweep_thumbnails(now=timezone.now())
        assert 1 == sweep_thumbnails(now=timezone.now() + timedelta(days=2))

    def test_files_of_others_stay(self, shop: Shop, folder: Path) -> None:
        (folder / "ab").mkdir(exist_ok=True)
        (folder / "ab" / "notes.txt").write_text("mine")

        assert 0 == sweep_thumbnails(now=timezone.now() + timedelta(days=2))

    def test_without_any_there_is_nothing_to_do(
        self, db: None, settings: Any, tmp_path: Path
    ) -> None:
        settings.VAR_DIR = tmp_path / "empty"

        assert 0 == sweep_thumbnails(now=timezone.now())


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
