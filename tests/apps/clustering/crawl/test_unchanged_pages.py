"""A second crawl asks hosts what has changed: what has not is not sent, and not stored again."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import pytest
from django.utils import timezone

from clustering.models import Link, Page, Snapshot
from clustering.services.crawl import crawling
from clustering.services.crawl.crawl_results import CrawlLine
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, page
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

N_PAGES = 40
HEAD_BYTES = 250  # of an answer, at most
MAX_SHARE = 0.02  # of the bytes of the first crawl
LONG_AGO = "Wed, 21 Oct 2015 07:28:00 GMT"
FILLING = "<p>words that every page of this site has</p>" * 500


def with_etag(answer: Answer) -> Callable[[Asked], Answer]:
    """Answer as a host does that knows its pages by their bytes."""
    etag = f'"{sha256(answer.body).hexdigest()[:20]}"'

    def reply(request: Asked) -> Answer:
        if request.headers.get("If-None-Match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(answer.body, answer.status, {**answer.headers, "ETag": etag})

    return reply


def with_date(answer: Answer) -> Callable[[Asked], Answer]:
    """Answer as a host does that knows when its pages changed."""

    def reply(request: Asked) -> Answer:
        if request.headers.get("If-Modified-Since") == LONG_AGO:
            return Answer(status=304)
        return Answer(answer.body, answer.status, {**answer.headers, "Last-Modified": LONG_AGO})

    return reply


def routes(reply: Callable[[Answer], Any] = with_etag) -> dict[str, Any]:
    pages: dict[str, Any] = {"/": reply(page("/1", "/2", "/3", text=FILLING))}
    for number in range(1, N_PAGES):
        below = [f"/{each}" for each in range(3 * number + 1, min(3 * number + 4, N_PAGES))]
        pages[f"/{number}"] = reply(page("/", *below, text=f"{number}{FILLING}"))
    return pages


class CountingHost(FakeHost):
    """A host that counts the bytes of its answers."""

    n_bytes = 0

    def count(self) -> None:
        def counted(route: Any) -> Callable[[Asked], Answer]:
            def reply(request: Asked) -> Answer:
                answer: Answer = route(request) if callable(route) else route
                self.n_bytes += len(answer.body) + HEAD_BYTES
                return answer

            return reply

        self.routes = {path: counted(route) for path, route in self.routes.items()}


def crawl(site: Site, told: list[CrawlLine] | None = None) -> Job:
    job = create_here(crawling.crawl_request(site=site))
    report = jobs.report_to_nobody if told is None else told.append
    return jobs.run_job(job.pk, crawling.crawl, report=report)


def site_of(host: FakeHost) -> Site:
    return Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=0.0)


def stored() -> list[tuple[Any, ...]]:
    pages = Page.objects.order_by("depth", "id")
    return list(pages.values_list("url", "state", "status", "depth", "latest_snapshot__body"))


@pytest.mark.both_databases
@pytest.mark.parametrize("reply", [with_etag, with_date])
def test_a_second_crawl_of_an_unchanged_site_moves_hardly_a_byte(
    reply: Callable[[Answer], Any],
) -> None:
    results: list[CrawlLine] = []
    with CountingHost(routes(reply)) as host:
        host.count()
        site = site_of(host)
        crawl(site)
        before, n_first = stored(), host.n_bytes
        links = list(Link.objects.order_by("pk").values_list("pk", flat=True))
        began = timezone.now()
        n_asked = len(host.paths)
        job = crawl(site, results)
        n_second = host.n_bytes - n_first

    assert sorted(host.paths[:n_asked]) == sorted(host.paths[n_asked:])
    assert n_second <= MAX_SHARE * n_first
    assert (job.state, job.result) == (Job.State.DONE, {"stored": N_PAGES, "left": 0})
    assert [(line.status, line.snapshot) for line in results] == [(200, "unchanged")] * N_PAGES
    assert stored() == before
    assert Snapshot.objects.count() == N_PAGES
    assert not Snapshot.objects.filter(seen_at__lt=began).exists()
    assert not Page.objects.filter(visited_at__lt=began).exists()
    assert list(Link.objects.order_by("pk").values_list("pk", flat=True)) == links


def test_what_has_changed_is_fetched_and_its_links_are_followed() -> None:
    results: list[CrawlLine] = []
    with FakeHost(routes()) as host:
        site = site_of(host)
        crawl(site)
        host.routes["/39"] = with_etag(page("/new", text="changed"))
        host.routes["/new"] = with_etag(page())
        crawl(site, results)

    changed = {line.url.rpartition("/")[2] for line in results if line.snapshot == "new"}
    assert changed == {"39", "new"}
    assert len(results) == N_PAGES + 1


def test_a_page_that_changed_since_keeps_its_new_condition() -> None:
    with FakeHost({"/": with_etag(page("/a")), "/a": with_etag(page(text="one"))}) as host:
        site = site_of(host)
        crawl(site)
        host.routes["/a"] = with_etag(page(text="two"))
        crawl(site)
        crawl(site)
        conditions = [
            request.headers.get("If-None-Match") for request in host.asked if request.path == "/a"
        ]

    assert conditions[0] is None
    assert len(set(conditions)) == 3
    assert Snapshot.objects.filter(page__url=f"{host.url}/a").count() == 2


def test_what_is_no_page_or_was_drawn_by_a_browser_is_asked_for_wholly() -> None:
    broken = Answer(b"<p>gone", 404, {"Content-Type": "text/html"})
    with FakeHost({"/": with_etag(page("/gone", "/drawn")), "/gone": with_etag(broken)}) as host:
        host.routes["/drawn"] = with_etag(page(text="drawn"))
        site = site_of(host)
        crawl(site)
        Snapshot.objects.filter(page__url=f"{host.url}/drawn").update(is_rendered=True)
        crawl(site)
        body = {each.path: each.headers.get("If-None-Match") for each in host.asked}

    assert (body["/gone"], body["/drawn"]) == (None, None)
    assert body["/"] is not None


def test_a_host_that_says_unchanged_without_being_asked_gives_no_page() -> None:
    with FakeHost({"/": page("/a"), "/a": Answer(status=304)}) as host:
        crawl(site_of(host))

    assert Page.objects.get(url=f"{host.url}/a").state == Page.State.SKIPPED


@pytest.mark.parametrize("etag", ['"a"' + "x" * 300, '"caf\xe9"'])
def test_a_condition_that_cannot_be_sent_back_is_not_kept(etag: str) -> None:
    def reply(_asked: Asked) -> Answer:
        return Answer(page().body, headers={"Content-Type": "text/html", "ETag": etag})

    with FakeHost({"/": reply}) as host:
        site = site_of(host)
        crawl(site)
        crawl(site)
        conditions = [request.headers.get("If-None-Match") for request in host.asked]

    assert set(conditions) == {None}
    assert Snapshot.objects.get().etag == ""


def test_a_date_in_the_future_is_sent_back_as_it_came() -> None:
    date = format_datetime(timezone.now(), usegmt=True)

    def reply(_asked: Asked) -> Answer:
        headers = {"Content-Type": "text/html", "Last-Modified": date}
        return Answer(page().body, headers=headers)

    with FakeHost({"/": reply}) as host:
        site = site_of(host)
        crawl(site)
        crawl(site)

    assert host.asked[-1].headers["If-Modified-Since"] == date
