"""A site's export holds its rows and its bodies, and can be imported again."""

from __future__ import annotations

import hashlib
import time
import zipfile
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path

import orjson
import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from clustering.models import Annotating, Cluster, ClusterKind, Page, Snapshot
from clustering.services.clusters.kinds import set_annotating, set_kind
from clustering.services.sites import site_export
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster, details, store
from vertex.core.models import AuditEntry, Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import page_store

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Site:
    settings.PAGE_STORE_DIR = tmp_path / "pages"
    site = Site.objects.create(name="shop", root_url="http://shop.example/")
    for path in "ab":
        url = f"http://shop.example/{path}"
        digest = hashlib.sha256(url.encode()).digest()[:16]
        page = Page.objects.create(site=site, url=url, given_url=url, url_hash=digest)
        Snapshot.objects.create(
            page=page,
            body=page_store().put(b"<p>the same on both</p>"),
            n_bytes=23,
            requested_url=url,
            final_url=url,
            fetched_at=timezone.now(),
            seen_at=timezone.now(),
        )
    return site


def exported(site: Site, folder: Path) -> zipfile.ZipFile:
    job = create_here(site_export.export_request(site=site))
    done = jobs.run_job(job.pk, partial(site_export.export_site, place=folder))
    assert done.state == Job.State.DONE, done.error
    return zipfile.ZipFile(folder / (done.result or {})["file"])


def lines(archive: zipfile.ZipFile, name: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in archive.read(name).splitlines()]


def test_the_manifest_names_each_snapshot_and_a_shared_body_is_there_once(
    shop: Site, tmp_path: Path
) -> None:
    archive = exported(shop, tmp_path)

    assert [line["url"] for line in lines(archive, "manifest.jsonl")] == [
        "http://shop.example/a",
        "http://shop.example/b",
    ]
    assert [name for name in archive.namelist() if name.startswith("pages/")] == [
        lines(archive, "manifest.jsonl")[0]["file"]
    ]


def test_the_file_is_named_as_asked(shop: Site, tmp_path: Path) -> None:
    out = StringIO()
    for place in (tmp_path / "new" / "shop.zip", tmp_path / "new"):
        call_command("export_site", "shop", output=place, stdout=out)

    named, placed = out.getvalue().split()
    assert {str(path) for path in (tmp_path / "new").iterdir()} == {named, placed}
    assert named == str(tmp_path / "new" / "shop.zip")
    assert zipfile.is_zipfile(named)


def test_kinds_and_dismissals_of_people_are_there(shop: Site, tmp_path: Path) -> None:
    of_lists = Cluster.objects.create(site=shop, name="c1", title="Lists")
    dismissed = Cluster.objects.create(site=shop, name="c2", title="Old")
    Cluster.objects.create(site=shop, name="c3", title="Pots")
    set_kind(cluster=of_lists, kind=ClusterKind.LIST, actor=None)
    set_annotating(cluster=dismissed, annotating=Annotating.DISMISSED, actor=None)

    rows = lines(exported(shop, tmp_path), "rows/clustering.cluster.jsonl")

    assert [("list", ""), ("", "dismissed"), ("", "")] == [
        (row["own_kind"], row["annotating"]) for row in rows
    ]


def test_the_rows_of_every_app_are_there_and_those_of_other_sites_are_not(
    shop: Site, tmp_path: Path
) -> None:
    Site.objects.create(name="other", root_url="http://other.example/")

    archive = exported(shop, tmp_path)

    assert [row["name"] for row in lines(archive, "rows/core.site.jsonl")] == ["shop"]
    assert len(lines(archive, "rows/clustering.page.jsonl")) == 2
    assert "rows/annotation.assignment.jsonl" in archive.namelist()


def test_a_damaged_body_is_told_in_the_manifest_and_the_rest_is_there(
    shop: Site, tmp_path: Path
) -> None:
    lost = Snapshot.objects.earliest("pk")
    Snapshot.objects.filter(pk=lost.pk).update(body="0" * 64)

    manifest = lines(exported(shop, tmp_path), "manifest.jsonl")

    assert ["problem" in line for line in manifest] == [True, False]


def test_files_of_exports_go_with_their_job(shop: Site, settings: Settings, tmp_path: Path) -> None:
    settings.EXPORT_DIR = tmp_path
    exported(shop, tmp_path).close()
    remaining = tmp_path / f"shop-{Job.objects.get().pk}.zip"
    gone = [tmp_path / "shop-999999.zip", tmp_path / "shop-1.0123abcd.partial"]
    foreign = tmp_path / "notes.txt"
    for path in (*gone, foreign):
        path.write_bytes(b"x")

    assert site_export.sweep_exports(now=timezone.now()) == 0
    assert site_export.sweep_exports(now=timezone.now() + timedelta(days=2)) == 2
    assert sorted(tmp_path.glob("*")) == sorted([remaining, foreign, tmp_path / "pages"])


def test_rows_without_end_do_not_cost_the_lease(
    shop: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.3))
    slow = staticmethod(lambda _row: time.sleep(0.3))
    monkeypatch.setattr(Page, "hide_secrets", slow, raising=False)

    assert len(lines(exported(shop, tmp_path), "rows/clustering.page.jsonl")) == 2


def test_a_refused_export_leaves_no_trace_in_the_audit_trail(shop: Site) -> None:
    create_here(site_export.export_request(site=shop))
    with pytest.raises(jobs.JobExists):
        create_here(site_export.export_request(site=shop))

    assert AuditEntry.objects.filter(action="site.exported").count() == 1


def test_where_links_decide_the_manifest_has_the_first_link_to_each_page(tmp_path: Path) -> None:
    site = site_of("shop")
    menu = "".join(f"<li><a href='/p/{n}'>Rope {n}</a>" for n in range(6))
    home = f"<html><body><ul>{menu}</ul></body></html>".encode()
    store(site, [("", home, "text/html"), *details(range(6))])

    assert "inbound_xpath" not in lines(exported(site, tmp_path), "manifest.jsonl")[1]
    cluster(site, algorithm="uxclust")
    first, second, *_ = lines(exported(site, tmp_path), "manifest.jsonl")
    assert "inbound_xpath" not in first
    assert "/html/body/ul/li[1]/a" == second["inbound_xpath"]


def test_keys_of_chat_services_and_of_webhooks_are_not_in_it(shop: Site, tmp_path: Path) -> None:
    key = "gotify://chat.example/AAAAAAAAAAAAAAA"
    shop.channels.create(kind="apprise", target=key)
    shop.channels.create(kind="email", target="ada@example.org")
    shop.channels.create(kind="webhook", target="https://hook.example/", secret="AAAAAAAAAAAAAAA")
    shop.webhooks.create(url="https://hook.example/", secret="AAAAAAAAAAAAAAA")
    archive = exported(shop, tmp_path)

    targets = [row["target"] for row in lines(archive, "rows/monitoring.channel.jsonl")]
    assert ["gotify://…", "ada@example.org", "https://hook.example/"] == targets
    assert 1 == len(lines(archive, "rows/rules.webhook.jsonl"))
    assert not any(b"AAAAAAAAAAAAAAA" in archive.read(name) for name in archive.namelist())
