"""Three processes and a check fetch from five hosts: none is asked too soon or too often.

What was asked and when is what the hosts themselves saw.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, page
from tests.apps.monitoring.monitored_shop import N
from tests.apps.rules.shop_cast import product
from tests.conftest import IS_FULL
from tests.installation import Installation, new_installation, wait_until
from tests.journeys.few_crawls_fetcher import READY

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

SERVER = os.environ.get("DATABASE_URL", "")
N_PROCESSES, N_SITES, CRAWLS_AT_ONCE = 3, 4, 7  # sites of each host; crawls of each process
N_PAGES = 40 if IS_FULL else 4  # of a site
DELAY = 0.5 if IS_FULL else 0.1  # seconds, of all sites
CRAWL_DELAY = 2 * DELAY  # that a robots.txt asks for
RETRY_AFTER = 5 if IS_FULL else 1  # seconds
BUSY = "/1/2"  # the page at which a host asks to come back later
N_FORBIDDEN = 25  # among as many others

JOBS = """
from vertex.core.models import Site
from vertex.core.services.jobs.requests import enqueue
from clustering.dom.addresses import url_hash
from clustering.models import Page
from clustering.services.crawl.crawling import crawl_request
from tests.apps.monitoring.monitored_shop import shop

checked, first = shop(), {hosts!r}[0]
for page in Page.objects.filter(site=checked):
    url = page.url.replace(checked.root_url, first + "/")
    Page.objects.filter(pk=page.pk).update(url=url, url_hash=url_hash(url))
Site.objects.filter(pk=checked.pk).update(name="checked", root_url=first + "/", crawl_delay={delay})
for n in range({n_sites}):
    for h, host in enumerate({hosts!r}):
        name, root = f"site-{{h}}-{{n}}", f"{{host}}/{{n}}/"
        site = Site.objects.create(name=name, root_url=root, crawl_delay={delay})
        enqueue(crawl_request(site=site))
"""
CRAWLS = "FROM core_job WHERE task = 'clustering.crawl_site'"


def routes() -> dict[str, Any]:
    """Return the pages of a host's sites: each leads to all others of its site."""
    paths = [
        [f"/{n}/", *(f"/{n}/{number}" for number in range(1, N_PAGES))] for n in range(N_SITES)
    ]
    return {path: page(*of_site, text=path) for of_site in paths for path in of_site}


class Busy:
    """An answer that follows a refusal of status 429 or 503.

    The refusal's Retry-After is in seconds or, where none are given, a time of day.
    """

    def __init__(self, answer: Answer, status: int, retry_after: str) -> None:
        self.answer, self.status, self.retry_after = answer, status, retry_after
        self.refused_at: float | None = None

    def __call__(self, asked: Asked) -> Answer:
        if self.refused_at is not None:
            return self.answer
        self.refused_at = asked.at
        wait = self.retry_after
        if not wait:  # a time of day has whole seconds
            until = datetime.now(UTC) + timedelta(seconds=RETRY_AFTER + 1)
            wait = format_datetime(until, usegmt=True)
        return Answer(status=self.status, headers={"Retry-After": wait})


@dataclass(frozen=True)
class Hosts:
    """Five hosts, each with its own wishes."""

    calm: FakeHost  # it has the checked pages, too
    slow: FakeHost
    busy: FakeHost
    away: FakeHost
    closed: FakeHost

    @property
    def all(self) -> list[FakeHost]:
        return [self.calm, self.slow, self.busy, self.away, self.closed]


def calm_host() -> FakeHost:
    return FakeHost(routes() | {f"/p/{n}": _html(product(n)[1]) for n in range(1, N + 1)})


def slow_host() -> FakeHost:
    robots = Answer(f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}".encode())
    return FakeHost(routes() | {"/robots.txt": robots})


def busy_host(status: int, retry_after: str) -> FakeHost:
    return FakeHost(routes() | {BUSY: Busy(routes()[BUSY], status, retry_after)})


def closed_host() -> FakeHost:
    """Return a host that opens at the third try and then forbids every other one of many pages."""
    robots = [
        Answer(b"User-agent: *\nDisallow: /0/no/"),
        Answer(status=500),
        Answer(status=503),
    ]
    links = [f"/0/{kind}/{n}" for n in range(N_FORBIDDEN) for kind in ("no", "yes")]
    return FakeHost(
        routes()
        | {link: page(text=link) for link in links}
        | {"/0/": page(*links, *(f"/0/{n}" for n in range(1, N_PAGES)))}
        | {"/robots.txt": lambda _asked: robots.pop() if len(robots) > 1 else robots[0]}
    )


def _html(body: bytes) -> Answer:
    return Answer(body, headers={"Content-Type": "text/html"})


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with (
        calm_host() as calm,
        slow_host() as slow,
        busy_host(429, str(RETRY_AFTER)) as busy,
        busy_host(503, "") as away,
        closed_host() as closed,
    ):
        yield Hosts(calm, slow, busy, away, closed)


def start_processes(installation: Installation) -> None:
    """Start the processes and wait until each looks for jobs."""
    logs = [f"fetch-{number}" for number in range(N_PROCESSES)]
    module = "tests.journeys.few_crawls_fetcher"
    for log in logs:
        installation.start("-m", module, str(CRAWLS_AT_ONCE), log=log)
    wait_until(lambda: all(READY in installation.log(log) for log in logs), "the processes")


def gaps(host: FakeHost) -> list[float]:
    return [later.at - earlier.at for earlier, later in pairwise(host.asked)]


def test_no_host_is_asked_sooner_or_more_often_than_it_wants(hosts: Hosts, tmp_path: Path) -> None:
    with new_installation(tmp_path / "var", database_url=SERVER) as installation:
        installation.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        start_processes(installation)
        urls = [host.url for host in hosts.all]
        script = JOBS.format(hosts=urls, n_sites=N_SITES, delay=DELAY)
        installation.manage("shell", "--no-imports", "--verbosity=0", "-c", script)
        checks = installation.manage("run_checks", "checked").splitlines()
        wait_until(
            lambda: installation.query(f"SELECT DISTINCT state {CRAWLS}") == [("done",)], "all"
        )
        processes = {by for (by,) in installation.query(f"SELECT DISTINCT leased_by {CRAWLS}")}
        n_crawls = installation.query(f"SELECT count(*) {CRAWLS}")

    assert (n_crawls, len(processes) > 1) == ([(N_SITES * len(hosts.all),)], True), processes
    assert N < len(checks), "a line for each page, and one for the site"
    for host in hosts.all:
        host.asked.sort(key=lambda asked: asked.at)
        assert min(gaps(host)) >= DELAY
        assert set(routes()) <= set(host.paths)
        assert [request.path for request in host.asked].count("/robots.txt") == (
            3 if host is hosts.closed else 1
        )
    assert {f"/p/{n}" for n in range(1, N + 1)} <= set(hosts.calm.paths)
    assert min(gaps(hosts.slow)) >= CRAWL_DELAY
    assert ["/robots.txt"] * 3 == [request.path for request in hosts.closed.asked[:3]]
    assert [] == [path for path in hosts.closed.paths if path.startswith("/0/no/")]
    assert N_FORBIDDEN == sum(path.startswith("/0/yes/") for path in hosts.closed.paths)
    for host in (hosts.busy, hosts.away):
        busy = host.routes[BUSY]
        assert isinstance(busy, Busy)
        assert busy.refused_at is not None
        later = [request.at for request in host.asked if request.at > busy.refused_at]
        assert min(later) - busy.refused_at >= RETRY_AFTER
