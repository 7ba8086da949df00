"""What pages are drawn with is fetched once a site, cleaned, limited, and kept with the page."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from clustering.fetching.guard import networks
from clustering.fetching.robots import RobotsFile
from clustering.models import Asset, Page, Snapshot, SnapshotAssets
from clustering.services.children import limits
from clustering.services.children.limits import LimitedChild, end_idle_children
from clustering.services.crawl.hosts import find_host, keep_robots
from clustering.services.looks import asset_fetching, assets
from clustering.services.looks.frames import files_of
from clustering.services.pages import importing
from clustering.services.pages.archives import read_pages
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from clustering.services.pages.source_pages import Skipped
from clustering.services.sites import retention
from tests.apps.clustering.children import burdens
from tests.apps.clustering.fake_host import Answer, FakeHost, moved
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import page_store

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
HTML = b"""<!doctype html><link rel=stylesheet href=/a.css><img src=/i.png width=9 height=9><img src=/gone.png><p>x"""
CSS = b"@import '/b.css';@font-face{src:url(/f.woff2)}p{background:url(i.png)}"


def answer(body: bytes, content_type: str) -> Answer:
    return Answer(body, headers={"Content-Type": content_type})


@pytest.fixture
def host(settings: Settings, tmp_path: Path) -> Iterator[FakeHost]:
    settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8"])
    settings.PAGE_STORE_DIR = tmp_path / "pages"
    routes = {
        "/a.css": answer(CSS, "text/css"),
        "/b.css": answer(b"q{background:url(/svg)}", "text/css"),
        "/i.png": answer(PNG, "text/plain"),
        "/svg": answer(
            b"<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>", "image/svg+xml"
        ),
        "/f.woff2": answer(b"wOF2font", "font/woff2"),
    }
    with FakeHost(routes) as host:
        yield host


@pytest.fixture
def site(host: FakeHost) -> Site:
    return Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0.0)


def stored(
    site: Site, path: str = "p", body: bytes = HTML, *, age: timedelta = timedelta(0)
) -> Snapshot:
    url = f"{site.root_url}{path}"
    visit = Visit(url, body, timezone.now() - age, content_type="text/html")
    with transaction.atomic():
        store_visits(site=site, prepared=prepare_visits([visit]))
    return Snapshot.objects.select_related("page__site").get(page__url=url)


def fetch(*snapshots: Snapshot, again: bool = False) -> Job:
    job = assets.start_fetching_assets(snapshots=snapshots, again=again)
    assert job is not None
    done = jobs.run_job(job.pk, assets.fetch_assets)
    assert Job.State.DONE == done.state, done.error
    return done


def look_of(snapshot: Snapshot) -> dict[str, str]:
    """Return the path of each file that a snapshot is drawn with, and what is wrong with it."""
    rows = Asset.objects.filter(pk__in=SnapshotAssets.objects.get(snapshot=snapshot).assets)
    return {asset.url.rpartition("/")[2]: asset.problem for asset in rows}


class TestFetching:
    def test_everything_that_the_page_names_is_fetched(self, site: Site) -> None:
        snapshot = stored(site)
        job = fetch(snapshot)

        assert {
            "a.css": "",
            "b.css": "",
            "i.png": "",
            "svg": "",
            "f.woff2": "",
            "gone.png": "the host answers 404",
        } == look_of(snapshot)
        assert {"snapshots": 1, "missing": 1} == job.result
        assert (1, 0) == (snapshot.page_assets.n_missing, snapshot.page_assets.n_left_out)

    def test_the_same_file_is_one_for_all_pages(self, site: Site, host: FakeHost) -> None:
        fetch(stored(site, "p"), stored(site, "q"))
        fetch(stored(site, "r"))

        assert sorted(host.paths) == sorted(set(host.paths))
        assert 6 == Asset.objects.count()

    def test_bytes_decide_what_a_file_is_and_drawings_are_cleaned(self, site: Site) -> None:
        fetch(stored(site))

        image, drawing = (Asset.objects.get(url__endswith=name) for name in ("i.png", "svg"))
        assert "image/png" == image.content_type
        assert b"<script" not in page_store().read(drawing.body)

    def test_a_page_is_not_an_image(self, site: Site, host: FakeHost) -> None:
        host.routes["/i.png"] = answer(b"<html>soft error</html>", "image/png")
        host.routes["/a.css"] = answer(b"<html>soft error</html>", "text/html")
        snapshot = stored(site)
        fetch(snapshot)

        assert {"i.png", "a.css", "gone.png"} == {
            name for name, problem in look_of(snapshot).items() if problem
        }

    def test_a_sheet_that_takes_too_much_to_clean_is_left_out(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        end_idle_children()
        monkeypatch.setattr(limits, "LimitedChild", lambda: LimitedChild(cpu_seconds=1))
        monkeypatch.setattr(asset_fetching, "clean_sheet", burdens.heavy_sheet)
        snapshot = stored(site)
        fetch(snapshot)

        assert "cleaning it was stopped: it takes more than 1" in look_of(snapshot)["a.css"]
        assert "" == look_of(snapshot)["i.png"]
        end_idle_children()

    def test_a_page_gets_no_more_than_its_share(
        self, site: Site, settings: Settings, host: FakeHost
    ) -> None:
        settings.ASSETS_PER_PAGE = 3
        snapshot = stored(site)
        fetch(snapshot)

        assert 3 == len(look_of(snapshot))
        assert "a.css" in look_of(snapshot)
        assert snapshot.page_assets.n_left_out >= 2

    def test_large_files_count_by_their_bytes(
        self, site: Site, settings: Settings, host: FakeHost
    ) -> None:
        settings.ASSET_MB_PER_PAGE = 1
        host.routes["/i.png"] = answer(PNG + bytes(900_000), "image/png")
        host.routes["/gone.png"] = answer(PNG + bytes(800_000), "image/png")
        snapshot = stored(site)
        fetch(snapshot)

        assert "gone.png" not in look_of(snapshot)
        assert 1 == snapshot.page_assets.n_left_out

    def test_what_robots_txt_forbids_is_not_asked_for(self, site: Site, host: FakeHost) -> None:
        host.routes["/robots.txt"] = answer(b"User-agent: *\nDisallow: /i.png", "text/plain")
        snapshot = stored(site)
        fetch(snapshot)

        assert "/i.png" not in host.paths
        assert f"{host.url}/robots.txt disallows it" == look_of(snapshot)["i.png"]
        assert [request.path for request in host.asked].count("/robots.txt") == 1

    def test_a_robots_txt_that_a_crawl_has_read_is_not_asked_for_again(
        self, site: Site, host: FakeHost
    ) -> None:
        row = find_host(origin=host.url)
        keep_robots(host=row, file=RobotsFile(200, "User-agent: *\nDisallow: /i.png"))
        snapshot = stored(site)
        fetch(snapshot)

        assert f"{host.url}/robots.txt disallows it" == look_of(snapshot)["i.png"]
        assert "/robots.txt" not in [request.path for request in host.asked]

    def test_inner_networks_stay_out_of_reach(
        self, site: Site, settings: Settings, host: FakeHost
    ) -> None:
        settings.ALLOWED_NETWORKS = ()
        snapshot = stored(site)
        fetch(snapshot)

        assert [] == host.asked
        assert all(look_of(snapshot).values())

    def test_no_redirection_leads_to_what_is_refused(self, site: Site, host: FakeHost) -> None:
        host.routes["/i.png"] = moved("http://169.254.169.254/latest")
        snapshot = stored(site)
        fetch(snapshot)

        assert look_of(snapshot)["i.png"]

    def test_a_page_that_names_nothing_has_its_look_too(self, site: Site) -> None:
        snapshot = stored(site, body=b"<p>plain")
        fetch(snapshot)

        assert {} == look_of(snapshot)
        assert assets.start_fetching_assets(snapshots=[snapshot]) is None


class TestTime:
    def test_a_look_stays_when_the_site_changes(self, site: Site, host: FakeHost) -> None:
        before = stored(site, "p")
        fetch(before)
        host.routes["/a.css"] = answer(b"p{top:0}", "text/css")
        Asset.objects.update(fetched_at=timezone.now() - timedelta(days=90))
        after = stored(site, "q")
        fetch(after)

        sheets = [
            files_of(each, now=timezone.now()).read_sheets().get(f"{site.root_url}a.css")
            for each in (before, after)
        ]
        assert ["p{top:0}"] == sheets[1:]
        assert "@import" in (sheets[0] or "")

    def test_it_is_fetched_anew_only_where_somebody_asks(self, site: Site, host: FakeHost) -> None:
        snapshot = stored(site)
        fetch(snapshot)
        host.routes["/gone.png"] = answer(PNG, "image/png")

        assert assets.start_fetching_assets(snapshots=[snapshot]) is None
        fetch(snapshot, again=True)
        assert "" == look_of(snapshot)["gone.png"]

    def test_who_goes_on_fetches_no_page_anew_that_was(self, site: Site, host: FakeHost) -> None:
        first, second = stored(site, "p"), stored(site, "q")
        fetch(first, second)
        fetched_at = SnapshotAssets.objects.get(snapshot=first).fetched_at
        job = assets.start_fetching_assets(snapshots=[first, second], again=True)
        assert job is not None
        Job.objects.filter(pk=job.pk).update(n_done=1)

        done = jobs.run_job(job.pk, assets.fetch_assets)

        assert Job.State.DONE == done.state, done.error
        assert fetched_at == SnapshotAssets.objects.get(snapshot=first).fetched_at
        assert fetched_at < SnapshotAssets.objects.get(snapshot=second).fetched_at

    def test_the_same_wish_is_one_job(self, site: Site) -> None:
        snapshot = stored(site)
        first, second = (assets.start_fetching_assets(snapshots=[snapshot]) for _ in range(2))

        assert first is not None
        assert first == second == assets.unfinished_job(snapshot)


class TestKeeping:
    def run_sweep(self) -> None:
        job = jobs.run_job(create_here(retention.sweep_request()).pk, retention.sweep)
        assert Job.State.DONE == job.state, job.error

    def test_a_sweep_keeps_what_a_page_is_drawn_with(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(retention, "MIN_AGE_OF_SWEPT_BODY", timedelta(0))
        snapshot = stored(site)
        fetch(snapshot)
        self.run_sweep()
        assert 6 == Asset.objects.count()
        assert all(page_store().has(asset.body) for asset in Asset.objects.exclude(body=""))

        Page.objects.all().delete()
        self.run_sweep()
        assert (0, []) == (Asset.objects.count(), list(page_store().names()))

    def test_a_look_holds_no_snapshot(self, site: Site) -> None:
        old = stored(site)
        fetch(old)
        Page.objects.update(latest_snapshot=None)

        assert not Snapshot.objects.filter(retention.is_referred_to()).exists()

    def test_all_goes_with_its_site(self, site: Site) -> None:
        fetch(stored(site))
        job = jobs.run_job(
            retention.start_deletion(site=site, actor=None).pk, retention.delete_site
        )

        assert Job.State.DONE == job.state, job.error
        assert (0, 0) == (Asset.objects.count(), SnapshotAssets.objects.count())


class TestArchives:
    def test_files_beside_the_pages_of_a_zip_are_their_assets(
        self, site: Site, host: FakeHost, tmp_path: Path
    ) -> None:
        source = tmp_path / "site.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for name, body in {
                "p.html": HTML,
                "a.css": CSS,
                "i.png": PNG,
                "notes.pdf": b"%PDF",
            }.items():
                archive.writestr(name, body)
        job = create_here(importing.import_request(site=site, source=source))
        assert Job.State.DONE == jobs.run_job(job.pk, importing.import_pages).state
        snapshot = Snapshot.objects.select_related("page__site").get()
        fetch(snapshot)

        assert {"a.css", "i.png"} == {
            asset.url.rpartition("/")[2] for asset in Asset.objects.filter(is_from_archive=True)
        }
        assert {"/b.css", "/f.woff2", "/gone.png", "/svg"} == set(host.paths)
        assert 1 == snapshot.page_assets.n_missing

    def test_a_web_archive_brings_the_files_of_its_pages(
        self, site: Site, host: FakeHost, tmp_path: Path
    ) -> None:
        source = tmp_path / "site.warc"
        sheet = b"<link rel=stylesheet href=/only.css><p>Boots"
        source.write_bytes(
            record(f"{site.root_url}p", b"text/html", sheet)
            + record(f"{site.root_url}only.css", b"text/css", b"p{color:red}")
        )
        job = create_here(importing.import_request(site=site, source=source))
        assert Job.State.DONE == jobs.run_job(job.pk, importing.import_pages).state
        snapshot = Snapshot.objects.select_related("page__site").get()
        fetch(snapshot)

        assert [] == host.paths
        assert (0, 1) == (
            snapshot.page_assets.n_missing,
            Asset.objects.filter(is_from_archive=True).count(),
        )

    def test_so_are_the_other_responses_of_a_web_archive(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc"
        path.write_bytes(
            record("http://x.example/a.css", b"text/css", b"p{}")
            + record("http://x.example/b", b"application/pdf", b"%PDF")
        )
        items = [
            item for item in read_pages(path, "http://x.example/") if isinstance(item, Skipped)
        ]

        assert ["sheet", None] == [item.file and item.file.kind for item in items]


def record(url: str, content_type: bytes, body: bytes) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: " + content_type + b"\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Record-ID: <urn:uuid:{abs(hash(url)):032d}>\r\nWARC-Date: 2024-05-05T10:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"
