"""A crawl by the site model: few pages, all their types, and the manners of any other crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clustering.models import Link, Page, Snapshot
from clustering.services.crawl import crawling, engine, fetch_service
from clustering.services.crawl.address_lists import (
    VISIT_ADDRESSES,
    address_list_request,
    read_list,
)
from clustering.services.crawl.fetch_service import FetchService
from tests.apps.clustering.crawl.test_fetch_service import end_threads, go_on_until
from tests.apps.clustering.fake_host import Answer, FakeHost, page
from vertex.core.models import Job, Refusal, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here, enqueue
from vertex.demo import sites
from vertex.demo.sites.server import DemoServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

OPTIONS: dict[str, Any] = {"strategy": "densest_first", "delay": 0}
STRATEGIES = ("densest_first", "sparsest_first")


def explore(url: str, **options: Any) -> Job:
    site = Site.objects.create(name="explored", root_url=f"{url}/")
    options = OPTIONS | options
    return go_on(create_here(crawling.crawl_request(site=site, **options)))


def figures(job: Job) -> dict[str, Any]:
    assert job.result is not None, job.error
    return dict(job.result)


def go_on(job: Job) -> Job:
    return jobs.run_job(job.pk, crawling.crawl)


def shop(n_products: int = 60) -> dict[str, Any]:
    """Return a shop: a home page, lists, products, each with a page of reviews."""
    lists = {f"/list/list-{n}": listing(n, n_products // 6) for n in range(6)}
    products = {
        f"/p/item-{n}": Answer(
            f"<html><body><h1><a href=/p/item-{n}/reviews>r</a></h1><i><a href=/>home</a></i>".encode(),
            headers={"Content-Type": "text/html"},
        )
        for n in range(n_products)
    }
    reviews = {
        f"/p/item-{n}/reviews": page(f"/p/item-{n}", text=f"review {n}") for n in range(n_products)
    }
    menu = "".join(f"<li><a href={path}>l</a>" for path in lists)
    extra = "<b><a href=/old>o</a></b><em><a href=/private/x>p</a></em><s><a href=/gone>g</a></s>"
    home = Answer(
        f"<html><body><ul>{menu}</ul>{extra}".encode(), headers={"Content-Type": "text/html"}
    )
    return (
        lists
        | products
        | reviews
        | {
            "/": home,
            "/robots.txt": Answer(b"User-agent: *\nDisallow: /private"),
            "/old": Answer(status=301, headers={"Location": "/list/list-1"}),
            "/gone": Answer(
                b"<p>gone <u><a href=/gone/deeper>deeper</a></u>",
                404,
                {"Content-Type": "text/html"},
            ),
        }
    )


def listing(number: int, size: int) -> Answer:
    rows = "".join(f"<tr><td><a href=/p/item-{number * size + n}>p</a>" for n in range(size))
    body = f"<html><body><table>{rows}</table><p><a href=/>home</a></p>"
    return Answer(body.encode(), headers={"Content-Type": "text/html"})


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with FakeHost(shop()) as serving:
        yield serving


def kinds(host: FakeHost) -> set[str]:
    return {
        path.strip("/").split("/")[0] + "/reviews" * path.endswith("/reviews")
        for path in host.paths
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_small_part_shows_all_classes(host: FakeHost, strategy: str) -> None:
    job = explore(host.url, strategy=strategy)

    assert {"", "list", "p", "p/reviews"} <= kinds(host)
    assert len(host.paths) < 0.3 * len(shop())
    assert (job.state, figures(job)["stopped"]) == (Job.State.DONE, "empty")
    assert figures(job)["fetched"] == job.n_done == job.n_total
    assert figures(job)["classes"] >= 4


def test_what_was_visited_is_stored_with_its_links(host: FakeHost) -> None:
    job = explore(host.url)

    stored = Page.objects.filter(crawl=job, state=Page.State.STORED)
    assert stored.count() == Snapshot.objects.count() == figures(job)["stored"]
    assert Link.objects.filter(page__url=f"{host.url}/", url=f"{host.url}/list/list-0").exists()
    assert not Page.objects.filter(state=Page.State.DUE).exists()
    depth_by_url = dict(stored.values_list("url", "depth"))
    assert {0, 1, 2, 3} >= {*depth_by_url.values()}
    assert depth_by_url[f"{host.url}/"] == 0


def test_robots_redirects_and_errors_are_heeded(host: FakeHost) -> None:
    job = explore(host.url)

    assert "/private/x" not in host.paths
    assert Refusal.objects.get(job=job, code="robots").subject == f"{host.url}/private/x"
    assert Page.objects.get(url=f"{host.url}/old").redirects_to == Page.objects.get(
        url=f"{host.url}/list/list-1"
    )
    assert "/gone" in host.paths
    assert "/gone/deeper" not in host.paths


def test_each_page_is_asked_for_once(host: FakeHost) -> None:
    explore(host.url)

    assert len(host.paths) == len(set(host.paths))


def test_no_more_pages_are_visited_than_allowed(host: FakeHost) -> None:
    job = explore(host.url, max_pages=7)

    assert (figures(job)["fetched"], figures(job)["stopped"]) == (7, "limit")
    assert len([path for path in host.paths if path != "/robots.txt"]) == 7


def test_an_exploration_that_was_cut_off_ends_like_an_undisturbed_one(host: FakeHost) -> None:
    calm = explore(host.url)
    requested = list(host.paths)
    Site.objects.all().delete()
    host.asked.clear()

    site = Site.objects.create(name="explored", root_url=f"{host.url}/")
    job = create_here(crawling.crawl_request(site=site, **OPTIONS))
    lines: list[object] = []

    def interrupt(line: object) -> None:
        lines.append(line)
        if len(lines) % 4 == 0:
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            jobs.run_job(job.pk, crawling.crawl, report=interrupt)
        interrupted = crawling.interrupted_crawl(site=site, **OPTIONS)
        assert interrupted == job
        crawling.resume_crawl(job=job)
    job = go_on(job)

    assert [path for path in host.paths if path != "/robots.txt"] == [
        p for p in requested if p != "/robots.txt"
    ]
    assert job.result == calm.result


def test_a_cancelled_exploration_ends(host: FakeHost) -> None:
    site = Site.objects.create(name="explored", root_url=f"{host.url}/")
    job = create_here(crawling.crawl_request(site=site, strategy="densest_first", delay=0))

    def cancel(run: jobs.JobRun) -> dict[str, Any]:
        jobs.cancel_job(job=job, actor=None)
        return crawling.crawl(run)

    assert jobs.run_job(job.pk, cancel).state == Job.State.CANCELLED


@pytest.mark.django_db(transaction=True)
def test_an_exploration_that_takes_long_gives_its_thread_to_what_waits(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fetch_service, "MAX_THREADS", 1)
    monkeypatch.setattr(engine, "TURN_SECONDS", 0.0)
    kinds = {crawling.CRAWL_SITE.task: crawling.crawl, VISIT_ADDRESSES.task: read_list}
    service = FetchService(kinds)
    with FakeHost({"/1": page()}) as quick_host, service.engine:
        slow_site = Site.objects.create(name="slow", root_url=f"{host.url}/")
        request = crawling.crawl_request(site=slow_site, strategy="densest_first", delay=3600)
        slow = Job.objects.filter(pk=enqueue(request).pk)
        go_on_until(service, lambda: bool(host.asked))
        quick_site = Site.objects.create(name="quick", root_url=f"{quick_host.url}/")
        source = tmp_path / "addresses.txt"
        source.write_text(f"{quick_host.url}/1\n")
        quick = Job.objects.filter(
            pk=enqueue(address_list_request(site=quick_site, source=source)).pk
        )
        is_over = quick.filter(finished_at__isnull=False).exists
        go_on_until(service, is_over)
        end_threads(service)  # the slow one has its turn again, perhaps

    assert quick.get().state == Job.State.DONE
    assert (slow.get().state, slow.get().n_tries, slow.get().error) == (Job.State.DUE, 0, "")


def test_a_site_that_stores_nothing_fails() -> None:
    with FakeHost({"/": Answer(b"%PDF", headers={"Content-Type": "application/pdf"})}) as host:
        job = explore(host.url)

    assert job.state == Job.State.FAILED
    assert "no page was stored" in job.error


@pytest.mark.parametrize("name", sites.NAMES)
def test_all_types_of_a_demo_site_are_found_in_a_small_part_of_it(name: str) -> None:
    demo = sites.load(name)
    with DemoServer(demo) as server:
        job = explore(server.url)

    result = {type_of(demo, url.removeprefix(server.url)) for url in stored_urls(job)}
    assert result == {page.type for page in demo.pages.values()}
    assert figures(job)["fetched"] <= 0.15 * len(demo.pages)


def stored_urls(job: Job) -> list[str]:
    return list(
        Page.objects.filter(crawl=job, state=Page.State.STORED).values_list("url", flat=True)
    )


def type_of(demo: sites.DemoSite, target: str) -> str:
    if target.startswith("/search?"):
        return "search"
    return (demo.page_at(target) or demo.missing(target)).type
