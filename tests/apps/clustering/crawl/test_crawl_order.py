"""Whatever a process crawls beside it, a site gets the result of a crawl of one page at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pytest

from clustering.algorithms.published.link_queue import Strategy
from clustering.algorithms.published.site_model import SiteModel, explore
from clustering.models import Link, Page
from clustering.services.clusters.clustering_inputs import first_links
from clustering.services.crawl import crawling, engine
from clustering.services.crawl.crawl_results import CrawlLine
from clustering.services.crawl.fetch_service import FetchService
from tests.apps.clustering.crawl.sequential_crawl import (
    FORBIDDEN,
    FirstLink,
    LinkOnPage,
    PageFacts,
    SequentialCrawl,
    SequentialVisits,
    crawl_of_demo,
    crawl_of_host,
    made_site,
)
from tests.apps.clustering.crawl.test_fetch_service import all_ended, ask_for_crawl, go_on_until
from tests.apps.clustering.fake_host import FakeHost
from tests.conftest import IS_FULL
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here
from vertex.demo import sites
from vertex.demo.sites.server import DemoServer

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.both_databases,
    pytest.mark.usefixtures("loopback"),
]

DEMO_SITES = [
    (name, edition)
    for name in (sites.NAMES if IS_FULL else ("town-guide",))
    for edition in (sites.EDITIONS if IS_FULL else ("1",))
]
SEEDS = range(100) if IS_FULL else range(6)
PATIENCE = 900.0 if IS_FULL else 120.0  # seconds for all of them
N_PAGES = 40  # of a site that is made by chance
ONE_BY_ONE = 0.001  # seconds between two requests: any pause at all means one connection


@dataclass
class Served:
    """A site that is served, and what a crawl of it must come to."""

    site: Site
    expected: SequentialCrawl


@contextlib.contextmanager
def demo_site(name: str, edition: str) -> Iterator[Served]:
    demo = sites.load(name, edition)
    with DemoServer(demo) as server:
        root_url = f"{server.url}/"
        site = Site.objects.create(name=f"{name}-{edition}", root_url=root_url, crawl_delay=0.0)
        yield Served(site, crawl_of_demo(demo, server.url))


@contextlib.contextmanager
def site_by_chance(seed: int) -> Iterator[tuple[Served, FakeHost]]:
    with FakeHost(made_site(seed, N_PAGES)) as host:
        root_url = f"{host.url}/"
        site = Site.objects.create(name=f"made-{seed}", root_url=root_url, crawl_delay=0.0)
        yield Served(site, crawl_of_host(host, FORBIDDEN)), host


def pages_of(site: Site) -> list[PageFacts]:
    """Return the pages in the order of their discovery."""
    columns = ("url", "depth", "state", "status", "redirects_to__url")
    rows = Page.objects.filter(site=site).order_by("pk").values_list(*columns)
    return [PageFacts(*row) for row in rows]


def links_of(site: Site) -> dict[str, list[LinkOnPage]]:
    links: dict[str, list[LinkOnPage]] = {}
    for page in Page.objects.filter(site=site, state=Page.State.STORED).order_by("pk"):
        rows = Link.objects.filter(page=page).order_by("position").values_list("xpath", "url")
        links[page.url] = [LinkOnPage(*row) for row in rows]
    return links


def assert_is_as_expected(served: Served) -> None:
    site, expected = served.site, served.expected.run()
    assert pages_of(site) == expected.pages
    assert links_of(site) == expected.links
    found = first_links(site, list(expected.links)).items()
    assert {url: FirstLink(link.source, link.xpath) for url, link in found} == (
        expected.first_links()
    )


def test_sites_that_are_crawled_side_by_side_come_to_what_each_would_come_to_alone() -> None:
    service = FetchService({crawling.CRAWL_SITE.task: crawling.crawl})
    with contextlib.ExitStack() as stack:
        stack.callback(engine.stopping.clear)
        stack.enter_context(service.engine)
        all_served = [stack.enter_context(demo_site(*each)) for each in DEMO_SITES]
        all_served += [stack.enter_context(site_by_chance(seed))[0] for seed in SEEDS]
        for served in all_served:
            ask_for_crawl(served.site)
        go_on_until(service, all_ended, PATIENCE)
        for served in all_served:
            assert_is_as_expected(served)

    assert {"stored", "redirected", "skipped", "refused"} == {
        page.state for served in all_served for page in served.expected.pages
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_site_that_is_asked_one_by_one_is_asked_in_that_order(seed: int) -> None:
    lines: list[CrawlLine] = []
    with site_by_chance(seed) as (served, host):
        job = create_here(crawling.crawl_request(site=served.site, delay=ONE_BY_ONE))
        jobs.run_job(job.pk, crawling.crawl, report=lines.append)
        assert_is_as_expected(served)

    assert [f"{host.url}{path}" for path in host.paths] == served.expected.asked
    assert [line.url for line in lines] == list(served.expected.links)


# Explorations


def explored(served: Served, strategy: str) -> tuple[list[str], SiteModel]:
    """Explore a site without an engine; return the addresses that it came to, and its model."""
    visits = SequentialVisits(served.expected)
    root_url = served.site.root_url
    exploration = explore(
        [root_url],
        visits.visit,
        lambda url: url.startswith(root_url),
        strategy=cast("Strategy", strategy),
    )
    while True:
        try:
            next(exploration)
        except StopIteration as end:
            return list(visits.came_to), end.value


@pytest.mark.parametrize("strategy", ["densest_first", "sparsest_first"])
@pytest.mark.parametrize(("name", "edition"), DEMO_SITES)
def test_an_exploration_comes_to_the_same_pages_one_by_one(
    name: str, edition: str, strategy: str
) -> None:
    with demo_site(name, edition) as served:
        job = create_here(crawling.crawl_request(site=served.site, strategy=strategy, delay=0))
        job = jobs.run_job(job.pk, crawling.crawl)
        came_to, model = explored(served, strategy)

    assert job.state == Job.State.DONE
    assert job.result is not None
    assert [page.url for page in pages_of(served.site)] == came_to
    assert job.result["classes"] == len(model.classes)
    assert job.result["pages_of_class"] == {
        f"{C.number} ({C.pages[0].url})"[:200]: len(C.pages) for C in model.classes[:50]
    }
