"""Snapshots are kept while the retention says so or anything needs them.

Bodies are kept while a row names them.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from clustering.models import Link, Page, SearchClick, Snapshot
from clustering.services.sites import retention
from tests.installation import wait_until
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import PageStore, page_store

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
NOON = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> PageStore:
    settings.PAGE_STORE_DIR = tmp_path / "pages"
    return page_store()


@pytest.fixture
def shop(store: PageStore) -> Site:
    return Site.objects.create(name="shop", root_url="http://shop.example/", snapshots_kept=2)


def page_of(site: Site, path: str, *, days: int) -> Page:
    """Store a page that had another body on each of so many days."""
    url = f"http://shop.example/{path}"
    page = Page.objects.create(
        site=site, url=url, given_url=url, url_hash=hashlib.sha256(url.encode()).digest()[:16]
    )
    for day in range(days):
        body = page_store().put(f"<p>{path} on day {day}</p>".encode())
        at = NOON - timedelta(days=days - day)
        page.latest_snapshot = Snapshot.objects.create(
            page=page,
            body=body,
            n_bytes=20,
            requested_url=url,
            final_url=url,
            fetched_at=at,
            seen_at=at,
        )
    page.save()
    return page


def swept() -> dict[str, int]:
    job = jobs.run_job(create_here(retention.sweep_request()).pk, retention.sweep)
    assert job.state == Job.State.DONE, job.error
    return job.result or {}


def age(store: PageStore) -> None:
    """Make every body look two days old."""
    old = time.time() - 2 * 86_400
    for path in store.folder.rglob("*"):
        if path.is_file():
            os.utime(path, (old, old))


def test_the_newest_snapshots_are_kept(shop: Site) -> None:
    page = page_of(shop, "a", days=5)

    assert swept()["snapshots"] == 3
    assert [snapshot.pk for snapshot in page.snapshots.order_by("-fetched_at")] == list(
        page.snapshots.order_by("-pk").values_list("pk", flat=True)
    )
    assert page.snapshots.count() == 2


def test_a_snapshot_that_a_row_refers_to_is_kept_however_old(shop: Site) -> None:
    page = page_of(shop, "a", days=5)
    oldest = page.snapshots.earliest("fetched_at")
    Page.objects.filter(pk=page.pk).update(latest_snapshot=oldest)

    assert swept()["snapshots"] == 2
    assert page.snapshots.filter(pk=oldest.pk).exists()


def test_bodies_of_dropped_snapshots_go_and_the_others_stay(shop: Site, store: PageStore) -> None:
    page = page_of(shop, "a", days=5)
    age(store)

    assert swept() == {"snapshots": 3, "bodies": 3}
    assert sorted(store.names()) == sorted(page.snapshots.values_list("body", flat=True))


def test_pictures_of_dropped_bodies_go_too(
    shop: Site, store: PageStore, settings: Settings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    page_of(shop, "p/1", days=1)
    named, gone = Snapshot.objects.get().body, "0" * 64
    for body in (named, gone):
        (tmp_path / "thumbnails" / body[:2]).mkdir(parents=True)
        (tmp_path / "thumbnails" / body[:2] / f"{body}.svg").write_text("<svg/>")

    swept()

    assert [named] == [path.stem for path in (tmp_path / "thumbnails").glob("*/*")]


def test_a_young_body_without_a_row_stays(shop: Site, store: PageStore) -> None:
    name = store.put(b"<p>its row is about to be committed</p>")

    assert swept()["bodies"] == 0
    assert store.has(name)


def test_a_deleted_site_takes_all_it_owns_and_leaves_the_others(shop: Site) -> None:
    page = page_of(shop, "a", days=2)
    Link.objects.create(
        page=page, position=0, xpath="/html/body/a", url="http://x/", url_hash=b"x" * 16
    )
    SearchClick.objects.create(
        site=shop, query="boots", url=page.url, url_hash=page.url_hash, clicks=2
    )
    Refusal.objects.create(site=shop, subject="line 3", code="bad_line", reason="no URL")
    other = Site.objects.create(name="other", root_url="http://other.example/")
    page_of(other, "kept", days=1)

    job = retention.start_deletion(site=shop, actor=None)
    assert not Site.objects.filter(pk=shop.pk, deletion_requested_at=None).exists()
    done = jobs.run_job(job.pk, retention.delete_site)

    assert (done.state, done.result) == (Job.State.DONE, {"pages": 1})
    assert [site.name for site in Site.objects.all()] == ["other"]
    assert [Page.objects.count(), Snapshot.objects.count(), Link.objects.count()] == [1, 1, 0]
    assert [SearchClick.objects.count(), Refusal.objects.count()] == [0, 0]


def test_deleting_a_site_ends_its_jobs(shop: Site) -> None:
    crawl = jobs.create_job(
        task="x.y", queue=Job.Queue.FETCH, title="Crawl shop", site=shop, rings=False
    )

    retention.start_deletion(site=shop, actor=None)

    crawl.refresh_from_db()
    assert crawl.state == Job.State.CANCELLED


def test_a_sweep_that_waits_for_a_backup_keeps_its_lease(
    shop: Site, store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=6))
    job = create_here(retention.sweep_request())
    is_held = threading.Event()
    renewed: list[bool] = []

    def leased_until() -> datetime | None:
        return Job.objects.get(pk=job.pk).leased_until

    def is_renewed_since(first: datetime) -> bool:
        until = leased_until()
        return until is not None and until > first

    def hold() -> None:
        with store.held():
            is_held.set()
            first = wait_until(leased_until, "the sweep is begun")
            renewed.append(wait_until(lambda: is_renewed_since(first), "the lease is renewed"))
        connection.close()

    backup = threading.Thread(target=hold)
    backup.start()
    assert is_held.wait(60)
    done = jobs.run_job(job.pk, retention.sweep)
    backup.join()

    assert done.state == Job.State.DONE, done.error
    assert renewed
