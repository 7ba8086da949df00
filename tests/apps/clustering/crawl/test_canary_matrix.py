"""Whatever a page names and by whatever way, nothing connects to an address that is not allowed.

The site answers at an address that is allowed; a canary listens at others of this machine, in every
spelling. Its hosts belong to the site, so that only the guard stands before them. Each way has a
control: where the canary's network is allowed, it is reached.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from clustering.dom.addresses import BadAddress, parse_url
from clustering.fetching.client import open_client
from clustering.fetching.guard import networks
from clustering.fetching.log_in import log_in
from clustering.fetching.loop import wait_for
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.robots import read_robots
from clustering.models import Snapshot
from clustering.services.crawl.crawling import CRAWL_SITE, crawl_request
from clustering.services.crawl.errands import open_errands
from clustering.services.crawl.fetch_tasks import Errand
from clustering.services.crawl.site_sessions import call_apart, session_of
from clustering.services.crawl.sitemap_crawling import CRAWL_SITEMAPS, sitemap_crawl_request
from clustering.services.looks import assets
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from clustering.services.sites.site_fetching import change_fetching
from tests.apps.clustering.fake_host import Answer, Canary, FakeHost, canary, moved
from tests.apps.clustering.fetching.test_guard import SPELLINGS
from tests.conftest import IS_FULL
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import create_job
from vertex.core.services.jobs.requests import JobKind, JobRequest, create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

SITE_ADDRESS = "127.0.0.9"
STATUSES = (301, 302, 303, 307, 308)
PLAIN = ("http://127.0.0.1:{}/", "http://127.0.0.2:{}/", "http://[::1]:{}/")
NOT_IN_A_HEADER = re.compile(r"[\x00\r\n\t]")
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def bird() -> Iterator[Canary]:
    with canary("127.0.0.1", "127.0.0.2", "::1") as listening:
        yield listening


@pytest.fixture
def host(settings: Settings) -> Iterator[FakeHost]:
    settings.ALLOWED_NETWORKS = networks([f"{SITE_ADDRESS}/32"])
    with FakeHost({}, address=SITE_ADDRESS) as serving:
        yield serving


def site_with(host: FakeHost, targets: list[str]) -> Site:
    """Return a site to which all targets belong that are addresses at all."""
    names = set()
    for target in targets:
        try:
            names.add(parse_url(target).netloc)
        except BadAddress:
            continue
    root_url = f"{host.url}/"
    return Site.objects.create(
        name="shop", root_url=root_url, extra_hosts=sorted(names), crawl_delay=0.0
    )


def run(request: JobRequest, kind: JobKind) -> None:
    """Do a job; whether it found a page at all is not what this is about."""
    jobs.run_job(create_here(request).pk, kind.work)


def as_header(target: str) -> str:
    """Return a target as the bytes of a header, as a hostile server sends them."""
    return NOT_IN_A_HEADER.sub("", target).encode().decode("latin-1")


def page_naming(targets: list[str]) -> Answer:
    links = "".join(f'<a href="{html.escape(target)}">x</a>' for target in targets)
    return Answer(f"<!doctype html>{links}".encode(), headers=HTML)


def by_links(host: FakeHost, targets: list[str]) -> None:
    host.routes["/"] = page_naming(targets)
    run(crawl_request(site=site_with(host, targets)), CRAWL_SITE)


def by_redirects(host: FakeHost, targets: list[str]) -> None:
    pairs = [
        (target, status)
        for number, target in enumerate(targets)
        for status in (STATUSES if IS_FULL else [STATUSES[number % len(STATUSES)]])
    ]
    for number, (target, status) in enumerate(pairs):
        host.routes[f"/{number}"] = moved(as_header(target), status)
    host.routes["/"] = page_naming([f"/{number}" for number in range(len(pairs))])
    run(crawl_request(site=site_with(host, targets)), CRAWL_SITE)
    assert len(pairs) <= len(set(host.paths)), "each redirect was asked for"


def by_robots(host: FakeHost, targets: list[str]) -> None:
    for number, target in enumerate(targets):
        host.routes["/robots.txt"] = moved(as_header(target), STATUSES[number % len(STATUSES)])
        try:
            wait_for(read_robots(open_client(), host.url))
        except FetchRefused:
            continue


def by_sitemaps_in_robots(host: FakeHost, targets: list[str]) -> None:
    lines = "".join(f"Sitemap: {NOT_IN_A_HEADER.sub('', target)}\n" for target in targets)
    host.routes["/robots.txt"] = Answer(lines.encode())
    run(sitemap_crawl_request(site=site_with(host, targets)), CRAWL_SITEMAPS)


def by_a_sitemap(host: FakeHost, targets: list[str]) -> None:
    urls = "".join(f"<url><loc>{as_text(target)}</loc></url>" for target in targets)
    host.routes["/sitemap.xml"] = Answer(f"<urlset>{urls}</urlset>".encode())
    run(sitemap_crawl_request(site=site_with(host, targets)), CRAWL_SITEMAPS)


def by_a_sitemap_index(host: FakeHost, targets: list[str]) -> None:
    urls = "".join(f"<sitemap><loc>{as_text(target)}</loc></sitemap>" for target in targets)
    host.routes["/sitemap.xml"] = Answer(f"<sitemapindex>{urls}</sitemapindex>".encode())
    run(sitemap_crawl_request(site=site_with(host, targets)), CRAWL_SITEMAPS)


def as_text(target: str) -> str:
    return html.escape(target.replace("\x00", ""))


def by_assets(host: FakeHost, targets: list[str]) -> None:
    """Let style sheets and pictures be named by a page, a style sheet and redirects."""
    rules = "".join(f'@import "{NOT_IN_A_HEADER.sub("", target)}";' for target in targets)
    urls = "".join(f'p{{background:url("{target}")}}' for target in targets)
    host.routes["/a.css"] = Answer(f"{rules}{urls}".encode(), headers={"Content-Type": "text/css"})
    images = []
    for number, target in enumerate(targets):
        host.routes[f"/{number}.png"] = moved(as_header(target), STATUSES[number % len(STATUSES)])
        images += [f"/{number}.png", target]
    body = '<!doctype html><link rel=stylesheet href="/a.css">' + "".join(
        f'<img src="{html.escape(image)}">' for image in images
    )
    site = site_with(host, targets)
    visit = Visit(f"{host.url}/", body.encode(), timezone.now(), content_type="text/html")
    with transaction.atomic():
        store_visits(site=site, prepared=prepare_visits([visit]))
    job = assets.start_fetching_assets(
        snapshots=Snapshot.objects.select_related("page__site").filter(page__site=site)
    )
    assert job is not None
    jobs.run_job(job.pk, assets.fetch_assets)
    assert "/a.css" in host.paths


def by_errands(host: FakeHost, targets: list[str]) -> None:
    """Have a check's pages redirect, and its addresses be the targets themselves."""
    site = site_with(host, targets)
    for number, target in enumerate(targets):
        status = STATUSES[number % len(STATUSES)]
        host.routes[f"/{number}"] = moved(as_header(target), status)
    job = create_job(task="tests.errands", queue=Job.Queue.CHECK, title="Errands", site=site)
    urls = [f"{host.url}/{number}" for number in range(len(targets))]
    with open_errands(jobs.claim_job(job.pk)) as turns:
        errands = [Errand(url, max_redirects=5, seconds=5) for url in urls]
        assert len(urls) == len(list(turns.do(errands)))


def by_log_in_forms(host: FakeHost, targets: list[str]) -> None:
    """Have a form send what is entered to a target, or its answer redirect there."""
    site = site_with(host, targets)
    entered = {"log_in_fields": {"user": "ada", "password": "secret"}, "log_in_sign": "Log out"}
    host.routes["/"] = Answer(b"<p>Members only", headers=HTML)
    row = change_fetching(site=site, actor=None, log_in_url=f"{host.url}/login", **entered)
    session = session_of(site)
    assert session is not None
    assert session.log_in is not None
    client = open_client(session)
    for target in targets:
        for action in (html.escape(target), "/enter"):
            host.routes["/login"] = Answer(
                f"<form method=post action='{action}'><input name=user><input name=password>".encode(),
                headers=HTML,
            )
            host.routes["/enter"] = moved(as_header(target))
            with suppress(FetchRefused):
                wait_for(log_in(client, session, session.log_in, call_apart))
    assert row.log_in_url in {f"{host.url}{path}" for path in host.paths}


WAYS = (
    by_links,
    by_redirects,
    by_robots,
    by_sitemaps_in_robots,
    by_a_sitemap,
    by_a_sitemap_index,
    by_assets,
    by_errands,
    by_log_in_forms,
)


@pytest.mark.parametrize("way", WAYS)
def test_no_spelling_reaches_the_canary(
    way: Callable[[FakeHost, list[str]], None], host: FakeHost, bird: Canary
) -> None:
    way(host, [spelling.format(bird.port) for spelling in SPELLINGS])

    assert host.asked
    assert bird.n_connections == 0


@pytest.mark.parametrize("way", WAYS)
def test_the_same_way_reaches_it_where_its_network_is_allowed(
    way: Callable[[FakeHost, list[str]], None],
    host: FakeHost,
    bird: Canary,
    settings: Settings,
) -> None:
    settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8", "::1/128"])
    way(host, [spelling.format(bird.port) for spelling in PLAIN])

    assert bird.n_connections > 0
