"""Known pages are visited again, and of the new ones those that lead to pages worth a visit."""

from __future__ import annotations

import pytest

from clustering.models import Page
from clustering.services.crawl.crawling import crawl, crawl_request
from clustering.services.crawl.revisiting import (
    LinksToFollow,
    path_without_positions,
    revisit,
    start_revisit,
)
from tests.apps.clustering.fake_host import FakeHost, page
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobExists, run_job
from vertex.core.services.jobs.requests import run_here

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.both_databases,
    pytest.mark.usefixtures("loopback"),
]
PRODUCTS = LinksToFollow(patterns=["(.*)/p/(.*)"])


def crawled(host: FakeHost) -> Site:
    site = Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0.0)
    run_here(crawl_request(site=site), report=lambda _line: None)
    host.asked.clear()
    return site


def visit(site: Site, *paths: str, links: LinksToFollow = PRODUCTS) -> Job:
    """Visit some pages again as the process that fetches does."""
    urls = [f"{site.root_url.rstrip('/')}{path}" for path in paths]
    pages = Page.objects.filter(site=site, url__in=urls).values_list("pk", flat=True)
    return run_job(start_revisit(site=site, pages=pages, links=links).pk, revisit)


def asked(host: FakeHost) -> list[str]:
    return sorted(each.path for each in host.asked if each.path != "/robots.txt")


def test_only_the_pages_that_were_named_are_visited() -> None:
    with FakeHost({"/": page("/p/1", "/p/2"), "/p/1": page("/"), "/p/2": page("/")}) as host:
        site = crawled(host)
        job = visit(site, "/p/1")

        assert ("done", ["/p/1"]) == (job.state, asked(host))


def test_new_pages_are_followed_where_their_address_is_like_the_others() -> None:
    with FakeHost({"/": page("/p/1", "/about"), "/p/1": page("/"), "/about": page("/")}) as host:
        site = crawled(host)
        host.routes = dict(host.routes) | {
            "/": page("/p/1", "/about", "/p/2", "/news/1"),
            "/p/2": page("/p/3"),
            "/p/3": page("/"),
            "/news/1": page("/"),
        }
        visit(site, "/")

        assert ["/", "/p/2", "/p/3"] == asked(host)
        assert 5 == Page.objects.filter(site=site, state=Page.State.STORED).count()


def test_new_pages_are_followed_where_their_link_stands() -> None:
    with FakeHost({"/": page("/one"), "/one": page("/")}) as host:
        site = crawled(host)
        host.routes = dict(host.routes) | {"/": page("/one", "/two"), "/two": page("/")}
        path = path_without_positions("/html/body/ul/li[1]/a")
        visit(site, "/", links=LinksToFollow(paths=[path]))

        assert ["/", "/two"] == asked(host)


def test_a_site_is_visited_by_one_job_at_a_time() -> None:
    with FakeHost({"/": page("/p/1"), "/p/1": page("/")}) as host:
        site = crawled(host)
        pages = list(Page.objects.filter(site=site).values_list("pk", flat=True))
        start_revisit(site=site, pages=pages, links=PRODUCTS)

        assert 2 == Page.objects.filter(state=Page.State.DUE).count()
        with pytest.raises(JobExists):
            start_revisit(site=site, pages=pages, links=PRODUCTS)


def test_a_page_that_a_crawl_is_about_to_visit_is_left_to_it() -> None:
    with FakeHost({"/": page("/p/1"), "/p/1": page("/")}) as host:
        site = crawled(host)
        job = start_revisit(site=site, pages=[], links=PRODUCTS)
        other = Job.objects.create(task=crawl.__name__, queue=Job.Queue.FETCH, site=site, title="")
        Page.objects.filter(site=site).update(crawl=other, state=Page.State.DUE)
        Job.objects.filter(pk=job.pk).update(state=Job.State.CANCELLED)
        start_revisit(site=site, pages=Page.objects.values_list("pk", flat=True), links=PRODUCTS)

        assert {other.pk} == set(Page.objects.values_list("crawl", flat=True))
