"""A crawl written as a web archive and imported elsewhere is the same crawl."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from django.urls import reverse
from fastwarc.warc import ArchiveIterator, WarcRecordType

from clustering.models import Asset, Link, Page, Snapshot
from clustering.services.crawl.crawling import crawl_request
from clustering.services.pages.importing import import_request
from clustering.services.pages.warc_export import export_warc, warc_request
from tests.apps.clustering.api_cast import caller
from tests.apps.clustering.fake_host import Answer, FakeHost, moved, page
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here, run_here
from vertex.core.storage import page_store

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
    pytest.mark.usefixtures("loopback"),
]

ROUTES = {
    "/": page("/a", "/old", "/gone", "/picture", "/hidden", "/latin", "/a?b=c d&e=%C3%A9"),
    "/a": page("/deep", "/a", text="a"),
    "/deep": page("/left"),
    "/old": moved("/new", 301),
    "/new": page("/a", text="new"),
    "/gone": Answer(b"<p>gone", 404, {"Content-Type": "text/html"}),
    "/picture": Answer(b"\x89PNG", 200, {"Content-Type": "image/png"}),
    "/latin": Answer(
        "<a href=/caf\xe9>caf\xe9".encode("latin-1"),
        200,
        {"Content-Type": "text/html; charset=latin-1", "ETag": '"v1"'},
    ),
    "/robots.txt": Answer(b"User-agent: *\nDisallow: /hidden", 200),
    "/left": page(),
}
FACTS = ("url", "given_url", "state", "status", "reason", "depth", "redirects_to__url")


@pytest.fixture
def shop() -> Site:
    """Return a site that was crawled as far as ten pages, one of them by a browser."""
    with FakeHost(ROUTES) as host:
        site = Site.objects.create(name="shop", root_url=f"{host.url}/")
        run_here(crawl_request(site=site, max_pages=10, delay=0))
    Snapshot.objects.filter(page__url=f"{site.root_url}new").update(
        is_rendered=True, waited_for="half a second without a request"
    )
    Asset.objects.create(
        site=site,
        url=f"{site.root_url}shop.css",
        url_hash=b"0" * 16,
        kind="sheet",
        body=page_store().put(b"p { color: red }"),
        content_type="text/css",
        fetched_at=site.created_at,
    )
    return site


def imported_elsewhere(site: Site, archive: Path) -> Site:
    other = Site.objects.create(name="elsewhere", root_url=site.root_url)
    run_here(import_request(site=other, source=archive))
    return other


def pages_of(site: Site) -> list[tuple[Any, ...]]:
    return list(Page.objects.filter(site=site).order_by("pk").values_list(*FACTS))


def links_of(site: Site) -> list[tuple[Any, ...]]:
    links = Link.objects.filter(page__site=site).order_by("page", "position")
    return list(links.values_list("page__url", "position", "xpath", "url", "text"))


def snapshots_of(site: Site) -> list[tuple[Any, ...]]:
    snapshots = Snapshot.objects.filter(page__site=site, page__latest_snapshot=F("pk"))
    columns = ("page__url", "body", "status", "content_type", "encoding", "etag", "fetched_at")
    drawing = ("is_rendered", "waited_for")
    return list(snapshots.order_by("page").values_list(*columns, *drawing))


def test_elsewhere_it_gives_the_same_pages_links_and_order(shop: Site, tmp_path: Path) -> None:
    states = {state for _, _, state, *_ in pages_of(shop)}
    assert {"stored", "redirected", "skipped", "refused", "due"} == states
    assert {0, 1, 2} <= {facts[5] for facts in pages_of(shop)}
    archive = tmp_path / "shop.warc.gz"
    call_command("export_warc", "shop", "--output", str(archive), stderr=io.StringIO())
    other = imported_elsewhere(shop, archive)

    assert pages_of(shop) == pages_of(other)
    assert links_of(shop) == links_of(other)
    assert snapshots_of(shop) == snapshots_of(other)
    assert [f"{shop.root_url}new"] == [
        url for url, *_, is_rendered, _waited_for in snapshots_of(other) if is_rendered
    ]
    assert ["sheet"] == list(Asset.objects.filter(site=other).values_list("kind", flat=True))
    assert Site.objects.get(pk=other.pk).n_pages == Page.objects.filter(site=other).count()


def test_the_same_import_again_changes_nothing(shop: Site, tmp_path: Path) -> None:
    archive = tmp_path / "shop.warc"
    call_command("export_warc", "shop", "--output", str(archive), stderr=io.StringIO())
    other = imported_elsewhere(shop, archive)
    before = pages_of(other), snapshots_of(other)
    archive = archive.rename(tmp_path / "again.warc")
    job = run_here(import_request(site=other, source=archive))

    assert before == (pages_of(other), snapshots_of(other))
    assert 0 == (job.result or {}).get("new", 0)
    assert 0 == Snapshot.objects.filter(page__site=shop).count() - len(snapshots_of(shop))


def test_others_read_each_record_for_itself(shop: Site) -> None:
    ada = caller("ada", Role.VIEWER)
    answer = ada.get("sites/shop/archive/")
    packed = b"".join(answer.streaming_content)
    records = [
        (record.record_type, record.headers.get("WARC-Target-URI"), record.reader.read())
        for record in ArchiveIterator(io.BytesIO(packed), parse_http=False)
    ]

    assert gzip.decompress(packed).startswith(b"WARC/1.1\r\n")
    assert WarcRecordType.warcinfo == records[0][0]
    requests = [block for kind, _, block in records if kind == WarcRecordType.request]
    host = shop.root_url.split("/")[2]
    assert f"GET /a HTTP/1.1\r\nHost: {host}\r\n\r\n".encode() in requests
    metadata = [
        block.decode()
        for kind, url, block in records
        if kind == WarcRecordType.metadata and url == f"{shop.root_url}a"
    ]
    assert [
        (
            "hopsFromSeed: L\r\n"
            f"outlink: {shop.root_url}deep L /html/body/ul/li[1]/a\r\n"
            f"outlink: {shop.root_url}a L /html/body/ul/li[2]/a\r\n"
        )
    ] == metadata


def test_a_job_writes_it_and_a_cancelled_one_leaves_nothing(
    shop: Site, settings: Any, client: Any
) -> None:
    boss = User.objects.create_superuser("boss")
    client.force_login(boss)
    answer = client.post(reverse("export_warc", args=["shop"]))
    job = Job.objects.get(task="clustering.export_warc")

    assert answer.url == reverse("job", args=[job.pk])
    done = run_job(job.pk, export_warc)
    assert Job.State.DONE == done.state, done.error
    handed_out = client.get(reverse("job_file", args=[job.pk]))
    assert b"WARC/1.1" == gzip.decompress(b"".join(handed_out.streaming_content))[:8]

    cancelled = create_here(warc_request(site=shop))
    Job.objects.filter(pk=cancelled.pk).update(cancel_requested_at=cancelled.created_at)
    assert Job.State.CANCELLED == run_job(cancelled.pk, export_warc).state
    assert [f"shop-{job.pk}.warc.gz"] == [path.name for path in settings.EXPORT_DIR.iterdir()]


def test_a_page_whose_bytes_are_lost_is_an_address(shop: Site, tmp_path: Path) -> None:
    lost = Page.objects.select_related("latest_snapshot").get(url=f"{shop.root_url}new")
    assert lost.latest_snapshot is not None
    body = lost.latest_snapshot.body
    for path in Path(page_store().folder).rglob(f"*{body[2:]}*"):
        path.unlink()
    archive = tmp_path / "shop.warc"
    call_command("export_warc", "shop", "--output", str(archive), stderr=io.StringIO())
    other = imported_elsewhere(shop, archive)

    page = Page.objects.get(site=other, url=lost.url)
    assert ("failed", None) == (page.state, page.latest_snapshot)
    assert body in page.reason
