"""A crawl visits what it may, in order, within its bounds, and tells what it left out."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from clustering.fetching.client import Client, open_client
from clustering.fetching.sessions import SiteSession
from clustering.models import Host, Link, Page, Snapshot
from clustering.services.crawl import crawling, host_queue, hosts
from clustering.services.crawl.crawl_results import CrawlLine
from clustering.services.crawl.frontier import MAX_DEPTH
from tests.apps.clustering.fake_host import (
    LONG_BEFORE,
    Answer,
    Asked,
    FakeHost,
    canary,
    drip,
    hang,
    moved,
    page,
    say,
)
from tests.conftest import IS_FULL
from vertex.core.models import AuditEntry, Job, Refusal, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import DiskFull, page_store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

HTML = {"Content-Type": "text/html"}


def site_of(host: FakeHost, **changes: Any) -> Site:
    values: dict[str, Any] = {"name": "alpine-shop", "root_url": f"{host.url}/", "crawl_delay": 0.0}
    return Site.objects.create(**values | changes)


def crawl(site: Site, report: jobs.Report = jobs.report_to_nobody, **options: Any) -> Job:
    job = create_here(crawling.crawl_request(site=site, **options))
    return jobs.run_job(job.pk, crawling.crawl, report=report)


def paths_of(site: Site, state: Page.State = Page.State.STORED) -> list[str]:
    pages = Page.objects.filter(site=site, state=state).order_by("depth", "id")
    return [each.url.partition("//")[2].partition("/")[2] for each in pages]


def refusals_of(site: Site) -> dict[str, str]:
    return dict(Refusal.objects.filter(site=site).values_list("code", "reason"))


def tree(n: int, width: int = 3) -> dict[str, Any]:
    """Routes of n pages, each of which links to `width` others."""
    routes = {"/": page("/1", "/2", "/3", text="0")}
    for number in range(1, n):
        below = range(number * width + 1, min(number * width + width + 1, n))
        routes[f"/{number}"] = page("/", *(f"/{each}" for each in below), text=str(number))
    return routes


# What is visited


@pytest.mark.both_databases
def test_pages_are_stored_with_their_links_and_told_in_order() -> None:
    results: list[CrawlLine] = []
    with FakeHost(
        {"/": page("/a", "/b#x", "mailto:x@y.z"), "/a": page("/c"), "/b": page("/"), "/c": page()}
    ) as host:
        site = site_of(host)
        job = crawl(site, results.append)

    assert (job.state, job.result) == (Job.State.DONE, {"stored": 4, "left": 0})
    assert (job.n_done, job.n_total) == (4, 4)
    assert results == [CrawlLine(f"{host.url}/{path}", 200, "new") for path in ("", "a", "b", "c")]
    assert list(Page.objects.order_by("id").values_list("depth", flat=True)) == [0, 1, 1, 2]
    links = Link.objects.filter(page__url=f"{host.url}/").order_by("position")
    assert list(links.values_list("url", flat=True)) == [
        f"{host.url}/a",
        f"{host.url}/b",
    ]
    site.refresh_from_db()
    assert (site.n_pages, Refusal.objects.count()) == (4, 0)


def test_pages_come_breadth_first_in_the_order_of_their_discovery() -> None:
    with FakeHost(tree(60)) as host:
        crawl(site_of(host))
        order = list(Page.objects.order_by("id").values_list("url", flat=True))

    assert order == [f"{host.url}/"] + [f"{host.url}/{n}" for n in range(1, 60)]


@pytest.mark.parametrize("max_pages", [1, 2, 7, 20])
def test_no_more_pages_are_asked_for_than_allowed(max_pages: int) -> None:
    with FakeHost(tree(60)) as host:
        site = site_of(host)
        job = crawl(site, max_pages=max_pages)

    assert paths_of(site) == ["", *map(str, range(1, max_pages))]
    assert len(host.paths) == max_pages
    assert job.n_done == max_pages
    assert f"stopped after {max_pages} pages, as asked" in refusals_of(site)["max_pages"]


@pytest.mark.both_databases
def test_a_second_crawl_finds_what_changed() -> None:
    results: list[CrawlLine] = []
    with FakeHost(tree(5)) as host:
        site = site_of(host)
        crawl(site)
        host.routes["/2"] = page("/new", text="changed")
        host.routes["/new"] = page()
        crawl(site, results.append)

    assert {line.url.rpartition("/")[2]: line.snapshot for line in results} == {
        "": "unchanged",
        "1": "unchanged",
        "2": "new",
        "3": "unchanged",
        "4": "unchanged",
        "new": "new",
    }
    assert Snapshot.objects.filter(page__url=f"{host.url}/2").count() == 2


def test_a_crawl_can_begin_elsewhere_on_the_site() -> None:
    with FakeHost({"/": page("/a"), "/deep": page("/deep/1"), "/deep/1": page()}) as host:
        site = site_of(host)
        crawl(site, entry=f"{host.url}/deep")

    assert paths_of(site) == ["deep", "deep/1"]


def test_links_to_other_sites_are_kept_but_not_followed() -> None:
    with (
        FakeHost({"/": page()}) as other,
        FakeHost({"/": page(f"{other.url}/", "/a"), "/a": page()}) as host,
    ):
        site = site_of(host)
        crawl(site)

    assert (paths_of(site), other.asked) == (["", "a"], [])
    assert Link.objects.filter(url=f"{other.url}/").exists()


def test_further_hosts_of_a_site_belong_to_it() -> None:
    with FakeHost({"/": page()}) as other, FakeHost({"/": page(f"{other.url}/")}) as host:
        site = site_of(host, extra_hosts=[f"127.0.0.1:{other.server_port}"])
        crawl(site)

    assert (Page.objects.filter(state=Page.State.STORED).count(), other.paths) == (2, ["/"])


def test_session_ids_do_not_make_new_pages() -> None:
    numbers = itertools.count()

    def session(_asked: Asked) -> Answer:
        return page(f"/?PHPSESSID={next(numbers):032x}", f"/a;jsessionid={next(numbers):032X}")

    with FakeHost({"/": session, "/a": session}) as host:
        site = site_of(host)
        crawl(site)

    assert paths_of(site) == ["", "a"]


# What is answered


def test_errors_of_the_host_are_stored_with_their_status_and_lead_nowhere() -> None:
    results: list[CrawlLine] = []
    gone = Answer(b"<p>gone <a href='/x'>x</a>", 404, HTML)
    with FakeHost({"/": page("/gone"), "/gone": gone}) as host:
        site = site_of(host)
        crawl(site, results.append)

    assert results[-1] == CrawlLine(f"{host.url}/gone", 404, "new")
    assert paths_of(site) == ["", "gone"]
    assert Snapshot.objects.get(page__url=f"{host.url}/gone").status == 404


def test_what_is_no_page_is_skipped_unread() -> None:
    pdf = Answer(b"%PDF", headers={"Content-Type": "application/pdf"})
    endless = Answer(
        raw=drip(b"x" * 65536, 0, b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
    )
    plain = Answer(b"\x00\x01binary")
    bare = Answer(b"<p>no type</p>")
    nothing = Answer(status=204)
    with FakeHost(
        {
            "/": page("/a.pdf", "/film", "/plain", "/bare", "/nothing"),
            "/a.pdf": pdf,
            "/film": endless,
            "/plain": plain,
            "/bare": bare,
            "/nothing": nothing,
        }
    ) as host:
        site = site_of(host)
        crawl(site)

    assert paths_of(site) == ["", "bare"]
    reasons = dict(Page.objects.filter(state=Page.State.SKIPPED).values_list("url", "reason"))
    assert reasons == {
        f"{host.url}/a.pdf": "is application/pdf, not HTML",
        f"{host.url}/film": "is video/mp4, not HTML",
        f"{host.url}/plain": "has no content type and does not look like HTML",
        f"{host.url}/nothing": "answers 204 without a page",
    }


@pytest.mark.both_databases
def test_a_redirect_gives_the_page_to_the_address_it_leads_to() -> None:
    with FakeHost({"/": page("/old", "/new"), "/old": moved("/new", 301), "/new": page()}) as host:
        site = site_of(host)
        crawl(site)
        old = Page.objects.get(url=f"{host.url}/old")

    assert (old.state, old.status, old.snapshots.count()) == (Page.State.REDIRECTED, 301, 0)
    assert old.redirects_to == Page.objects.get(url=f"{host.url}/new", state=Page.State.STORED)
    assert host.paths[0] == "/"
    assert sorted(host.paths[1:]) == ["/new", "/old"]  # two lanes ask for them at the same time


def test_an_entry_that_leads_on_costs_no_page() -> None:
    with FakeHost(
        {"/": moved("/start"), "/start": moved("/home"), "/home": page("/a"), "/a": page()}
    ) as host:
        site = site_of(host)
        crawl(site, max_pages=1)

    assert paths_of(site) == ["home"]


def test_redirects_that_leave_the_site_or_never_end_are_refused() -> None:
    chain = {f"/r{n}": moved(f"/r{n + 1}") for n in range(20)}
    with canary("127.0.0.1") as bird:
        away = moved(f"http://127.0.0.1:{bird.port}/")
        routes = {
            "/": page("/away", "/x", "/self", "/r0", "/bad"),
            "/away": away,
            "/bad": moved("ftp://x/"),
        }
        circle = {"/x": moved("/y"), "/y": moved("/x"), "/self": moved("/self")}
        with FakeHost(routes | circle | chain) as host:
            site = site_of(host)
            crawl(site)

    reasons = dict(Page.objects.filter(state=Page.State.REFUSED).values_list("url", "reason"))
    assert "to another site" in reasons[f"{host.url}/away"]
    assert "in a circle" in reasons[f"{host.url}/y"]
    assert "in a circle" in reasons[f"{host.url}/self"]
    assert "more than 5" in reasons[f"{host.url}/r5"]
    assert "ftp" in reasons[f"{host.url}/bad"]
    assert (bird.n_connections, "/r6" in host.paths) == (0, False)
    assert Refusal.objects.filter(code="redirect").count() == 5


def test_a_page_that_fails_is_tried_again_and_then_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_queue, "back_off", lambda *_args, **_options: 0.05)
    results: list[CrawlLine] = []
    answers = [Answer(b"", 500), page(text="at last")]
    routes: dict[str, Any] = {
        "/": page("/flaky", "/broken", "/cut"),
        "/flaky": lambda _asked: answers.pop(0),
    }
    broken = {
        "/broken": Answer(b"", 500),
        "/cut": Answer(raw=say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")),
    }
    with FakeHost(routes | broken) as host:
        site = site_of(host)
        crawl(site, results.append)

    assert paths_of(site) == ["", "flaky"]
    assert paths_of(site, Page.State.FAILED) == ["broken", "cut"]
    assert (host.paths.count("/flaky"), host.paths.count("/broken")) == (2, 4)
    failed = {
        line.url.rpartition("/")[2]: (line.status, line.snapshot) for line in results if line.reason
    }
    assert failed == {"broken": (500, "failed"), "cut": (None, "failed")}
    assert {"status", "broken_answer"} == set(refusals_of(site))


def test_a_page_that_is_too_large_is_refused_and_the_next_goes_on() -> None:
    large = Answer(
        raw=say(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11000000\r\n\r\n")
    )
    bomb = Answer(b"x", headers=HTML | {"Content-Encoding": "lzma"})
    with FakeHost(
        {"/": page("/large", "/bomb", "/last"), "/large": large, "/bomb": bomb, "/last": page()}
    ) as host:
        site = site_of(host)
        crawl(site)

    assert paths_of(site) == ["", "last"]
    assert {"too_large", "encoding"} == set(refusals_of(site))


def test_a_site_of_which_nothing_can_be_stored_is_a_failed_job() -> None:
    with FakeHost({"/": Answer(b"%PDF", headers={"Content-Type": "application/pdf"})}) as host:
        job = crawl(site_of(host))

    assert job.state == Job.State.FAILED
    assert job.error == f"no page was stored; {host.url}/: is application/pdf, not HTML"


def test_an_address_that_is_not_public_is_refused_and_nobody_is_asked(settings: Any) -> None:
    settings.ALLOWED_NETWORKS = []
    with FakeHost({"/": page()}) as host:
        job = crawl(site_of(host))
        assert (job.state, host.asked) == (Job.State.FAILED, [])
        assert "VERTEX_ALLOWED_NETWORKS" in job.error
        assert "address" in refusals_of(Site.objects.get())


def test_a_crawl_that_failed_goes_on_when_it_is_tried_again() -> None:
    with FakeHost({}) as host:
        site = site_of(host)
        job = crawl(site)
        assert job.state == Job.State.FAILED
        host.routes |= tree(4)
        jobs.retry_job(job=job, actor=None)
        job = jobs.run_job(job.pk, crawling.crawl)

    assert (job.state, paths_of(site)) == (Job.State.DONE, ["", "1", "2", "3"])


def test_a_page_whose_last_visit_claims_to_be_of_the_future_is_visited_once() -> None:
    with FakeHost(tree(4)) as host:
        site = site_of(host)
        crawl(site)
        Page.objects.update(visited_at=timezone.now() + timedelta(days=999))
        job = crawl(site)

    assert (job.state, job.n_done, len(host.paths)) == (Job.State.DONE, 4, 8)


# Traps


def test_an_endless_calendar_ends_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clustering.services.crawl.frontier.MAX_DEPTH", 10)

    def month(request: Asked) -> Answer:
        return page(f"/month{int(request.path.removeprefix('/month')) + 1}")

    with FakeHost({"/": page("/month1")} | {f"/month{n}": month for n in range(30)}) as host:
        site = site_of(host)
        crawl(site)

    assert (len(host.paths), MAX_DEPTH) == (11, 100)
    assert "too_deep" in refusals_of(site)


def test_relative_links_that_pile_up_end_and_are_told() -> None:
    class Everything(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return default if key == "/robots.txt" else page("a/b/", text=key)

    with FakeHost({}) as host:
        host.routes = Everything()
        site = site_of(host)
        crawl(site, max_pages=50)

    assert len(host.paths) == 5
    assert "trap" in refusals_of(site)


def test_the_same_page_under_endless_addresses_is_not_followed_for_ever() -> None:
    class Everything(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return default if key == "/robots.txt" else page("?n=1", "?n=2", "next/", text="same")

    with FakeHost({}) as host:
        host.routes = Everything()
        site = site_of(host)
        job = crawl(site, max_pages=500)

    assert job.state == Job.State.DONE
    assert len(host.paths) < 100


@pytest.mark.both_databases
def test_very_long_addresses_are_left_out() -> None:
    with FakeHost({"/": page("/" + "x" * 3000, "/a"), "/a": page()}) as host:
        site = site_of(host)
        crawl(site)

    assert paths_of(site) == ["", "a"]


# Robots and politeness

DISALLOW = Answer(b"User-agent: *\nDisallow: /private\n")


def test_what_robots_txt_disallows_is_not_asked_for_and_told() -> None:
    routes = {
        "/robots.txt": DISALLOW,
        "/": page("/private/a", "/b"),
        "/private/a": page(),
        "/b": page(),
    }
    with FakeHost(routes) as host:
        site = site_of(host)
        job = crawl(site)

    assert host.paths == ["/", "/b"]
    assert paths_of(site, Page.State.REFUSED) == ["private/a"]
    assert (job.n_done, "disallows" in refusals_of(site)["robots"]) == (2, True)


def test_no_disallowed_page_is_asked_for_among_fifty_that_wait_for_robots_txt() -> None:
    """Others let the requests through that wait while that file is on its way."""
    is_read = threading.Event()

    def slow_robots(_asked: Asked) -> Answer:
        is_read.wait(0.3)
        return Answer(b"User-agent: *\nDisallow: /no")

    names = [f"/{'no' if n % 2 else 'yes'}/{n}" for n in range(50)]
    with FakeHost({name: page() for name in names}) as host:
        site = site_of(host)
        host.routes["/"] = page(*names)
        crawl(site, max_pages=1)
        Host.objects.update(robots_text="", robots_status=None, robots_fetched_at=None)
        host.asked.clear()
        host.routes["/robots.txt"] = slow_robots
        crawl(site)
        is_read.set()

    assert "/robots.txt" == host.asked[0].path, "before any page"
    assert 1 == sum(request.path == "/robots.txt" for request in host.asked)
    assert 25 == sum(path.startswith("/yes/") for path in host.paths)
    assert 0 == sum(path.startswith("/no/") for path in host.paths)
    assert 25 == Page.objects.filter(state=Page.State.REFUSED).count()


def test_the_same_page_is_asked_for_where_the_site_need_not_obey() -> None:
    routes = {"/robots.txt": DISALLOW, "/": page("/private/a"), "/private/a": page()}
    with FakeHost(routes) as host:
        crawl(site_of(host, obey_robots=False))

    assert [request.path for request in host.asked] == ["/", "/private/a"]


@pytest.mark.both_databases
def test_robots_txt_is_read_once_a_day() -> None:
    with FakeHost({"/robots.txt": DISALLOW, "/": page("/private/a")}) as host:
        site = site_of(host)
        crawl(site)
        crawl(site)
        n_first = sum(request.path == "/robots.txt" for request in host.asked)
        Host.objects.update(robots_fetched_at=timezone.now() - timedelta(hours=25))
        crawl(site)

    assert (n_first, sum(request.path == "/robots.txt" for request in host.asked)) == (1, 2)
    assert host.paths == ["/", "/", "/"]


def test_nothing_is_fetched_while_robots_txt_is_in_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_queue, "back_off", lambda *_args, **_options: 0.05)
    with FakeHost({"/robots.txt": Answer(b"", 503), "/": page()}) as host:
        site = site_of(host)
        job = crawl(site)

    assert (job.state, host.paths) == (Job.State.FAILED, [])
    assert "robots_unavailable" in refusals_of(site)


def test_a_pause_that_robots_txt_asks_for_is_kept() -> None:
    answers = [DISALLOW, Answer(b"", 503, {"Retry-After": "1"})]
    with FakeHost({"/robots.txt": lambda _asked: answers.pop(), "/": page("/private/a")}) as host:
        site = site_of(host)
        job = crawl(site)

    assert (job.state, host.paths) == (Job.State.DONE, ["/"])
    assert gaps(host)[0] >= 1


def gaps(host: FakeHost) -> list[float]:
    times = [request.at for request in host.asked]
    return [after - before for before, after in itertools.pairwise(times)]


def test_requests_to_a_host_keep_their_distance() -> None:
    with FakeHost(tree(5)) as host:
        crawl(site_of(host, crawl_delay=0.3))

    assert len(host.asked) == 6
    assert min(gaps(host)) >= 0.3


def test_a_delay_that_is_given_replaces_that_of_the_site_but_not_that_of_robots_txt() -> None:
    robots = Answer(b"User-agent: *\nCrawl-delay: 0.4")
    with FakeHost(tree(4)) as quick, FakeHost(tree(4) | {"/robots.txt": robots}) as slow:
        begun = time.monotonic()
        crawl(site_of(quick, name="quick", crawl_delay=30.0), delay=0)
        assert time.monotonic() - begun < LONG_BEFORE
        crawl(site_of(slow, name="slow"), delay=0)

    assert min(gaps(slow)) >= 0.4


def test_a_host_that_asks_for_a_very_long_delay_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clustering.services.crawl.crawler.MAX_CRAWL_DELAY", 0.1)
    monkeypatch.setattr(host_queue, "MAX_CRAWL_DELAY", 0.1)
    with FakeHost(tree(3) | {"/robots.txt": Answer(b"User-agent: *\nCrawl-delay: 86400")}) as host:
        site = site_of(host)
        crawl(site)

    assert len(host.paths) == 4
    assert "86400 seconds" in refusals_of(site)["crawl_delay"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_asks_to_come_back_later_is_left_alone_until_then(status: int) -> None:
    busy = Answer(b"", status, {"Retry-After": "1"})
    answers: list[Callable[[], Any]] = [lambda: busy]
    routes = tree(4)
    first = routes["/"]
    routes["/"] = lambda _asked: answers.pop()() if answers else first
    with FakeHost(routes) as host:
        site = site_of(host)
        job = crawl(site)

    assert (job.state, paths_of(site)) == (Job.State.DONE, ["", "1", "2", "3"])
    assert host.paths[:2] == ["/", "/"]
    assert gaps(host)[1] >= 1
    assert Host.objects.get().retry_after is not None


def test_a_pause_that_a_host_asked_for_holds_for_the_next_crawl() -> None:
    with FakeHost(tree(3)) as host:
        site = site_of(host)
        Host.objects.create(name=host.url, retry_after=timezone.now() + timedelta(seconds=1))
        begun = time.monotonic()
        crawl(site)

    assert host.asked[0].at - begun >= 0.9


# Many hosts, many crawls


def impatient_client(session: SiteSession | None) -> Client:
    client = open_client(session)
    client.silence = 2.0
    return client


def test_a_host_that_hangs_holds_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clustering.services.crawl.crawler.open_client", impatient_client)
    monkeypatch.setattr(host_queue, "MAX_FAILURES_EARLY", 1)
    with FakeHost({f"/{n}": Answer(raw=hang) for n in range(20)}) as stuck:
        links = [f"{stuck.url}/{n}" for n in range(20)]
        routes = tree(60)
        routes["/"] = page(*links, "/1", "/2", "/3")
        with FakeHost(routes) as host:
            # It hangs on pages only.
            Host.objects.create(name=stuck.url, robots_fetched_at=timezone.now(), robots_status=404)
            site = site_of(host, extra_hosts=[f"127.0.0.1:{stuck.server_port}"])
            begun = time.monotonic()
            job = crawl(site)
            last = max(request.at for request in host.asked)

    assert job.state == Job.State.DONE
    assert last - begun < LONG_BEFORE
    assert Page.objects.filter(state=Page.State.STORED).count() == 60
    assert Page.objects.filter(state=Page.State.FAILED).count() == 20


@pytest.mark.both_databases
def test_a_crawl_waits_for_a_host_that_another_one_has() -> None:
    results: list[str] = []
    with FakeHost(tree(4)) as host:
        site = site_of(host)
        other = jobs.create_job(
            task="tests.crawl", queue=Job.Queue.FETCH, title="Other", rings=False
        )
        held = jobs.claim_job(other.pk)
        row = Host.objects.create(name=host.url)
        assert hosts.lease_host(host=row, job=held.job)
        job = create_here(crawling.crawl_request(site=site))

        def work(run: jobs.JobRun) -> dict[str, Any]:
            renew = type(run).renew

            def watch(self: jobs.JobRun, **options: Any) -> None:
                renew(self, **options)
                message = options.get("message") or ""
                results.append(message)
                if "from which another job is fetching" in message:
                    assert host.asked == []
                    hosts.release_hosts(job=held.job)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(run), "renew", watch)
                return crawling.crawl(run)

        job = jobs.run_job(job.pk, work)

    assert job.state == Job.State.DONE
    assert any("from which another job is fetching" in message for message in results)
    assert Host.objects.get().leased_by == ""


@pytest.mark.both_databases
def test_the_host_of_a_crawl_that_is_over_is_free() -> None:
    with FakeHost(tree(3)) as host:
        site = site_of(host)
        left = jobs.create_job(
            task="tests.crawl", queue=Job.Queue.FETCH, title="Other", rings=False
        )
        assert hosts.lease_host(host=Host.objects.create(name=host.url), job=left)
        assert crawl(site).state == Job.State.DONE


# Interruption


class Interrupted(Exception):
    """The crawl is cut off in the middle."""


def cut_after(n: int) -> jobs.Report:
    seen = itertools.count(1)

    def report(_line: CrawlLine) -> None:
        if next(seen) == n:
            raise Interrupted

    return report


def go_on(job: Job, report: jobs.Report = jobs.report_to_nobody) -> Job:
    Job.objects.filter(pk=job.pk, state=Job.State.DUE).update(due_at=timezone.now())
    return jobs.run_job(job.pk, crawling.crawl, report=report)


@pytest.mark.both_databases
def test_an_interrupted_crawl_goes_on_and_ends_like_an_undisturbed_one() -> None:
    with FakeHost(tree(150)) as host:
        calm = site_of(host, name="calm")
        crawl(calm, max_pages=120)
        n_calm = len(host.paths)
        site = site_of(host, name="disturbed")
        job = crawl(site, cut_after(40), max_pages=120)
        assert job.state == Job.State.DUE
        assert 0 < job.n_done < 120
        job = go_on(job)

    assert job.state == Job.State.DONE
    columns = ("url", "state", "status", "depth", "latest_snapshot__body")
    pages = Page.objects.order_by("depth", "id").values_list(*columns)
    assert list(pages.filter(site=site)) == list(pages.filter(site=calm))
    assert Snapshot.objects.filter(page__site=site).count() == 120
    assert len(host.paths) - n_calm < 120 + 2 * host_queue.MAX_UNSTORED


def test_what_was_told_before_an_interruption_can_be_told_again() -> None:
    with FakeHost(tree(150)) as host:
        site = site_of(host)
        job = crawl(site, cut_after(40))
        again = list(crawling.lines_so_far(job))
        results: list[CrawlLine] = []
        go_on(job, results.append)

    urls = [line.url for line in [*again, *results]]
    assert urls == [f"{host.url}/"] + [f"{host.url}/{n}" for n in range(1, 150)]
    assert {line.snapshot for line in again} == {"new"}


# Seconds; only a quiet machine keeps what operators are promised.
AT_ONCE = 2.5 if IS_FULL else LONG_BEFORE


def test_cancelling_ends_a_crawl_at_once() -> None:
    with FakeHost(tree(4) | {"/1": Answer(raw=hang)}) as host:
        site = site_of(host)
        cancelled_at: list[float] = []

        def cancel(_line: CrawlLine) -> None:
            if not cancelled_at:
                cancelled_at.append(time.monotonic())
                jobs.cancel_job(job=Job.objects.get(), actor=None)

        job = crawl(site, cancel)

    assert job.state == Job.State.CANCELLED
    assert time.monotonic() - cancelled_at[0] < AT_ONCE
    assert Host.objects.get().leased_by == ""
    assert not [thread for thread in threading.enumerate() if thread.name == "fetcher"]


@pytest.mark.both_databases
def test_whoever_lost_the_job_writes_nothing_more() -> None:
    with FakeHost(tree(150)) as host:
        site = site_of(host)

        def take_away(_line: CrawlLine) -> None:
            Job.objects.update(lease="another worker's")

        crawl(site, take_away)
        n_stored = Page.objects.filter(state=Page.State.STORED).count()

    assert 0 < n_stored < 150


@pytest.mark.both_databases
def test_a_full_disk_ends_the_job_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeHost(tree(20)) as host:
        site = site_of(host)
        store = type(page_store())

        def refuse(self: Any, _bodies: Any) -> list[str]:
            raise DiskFull(self.folder, 0)

        with monkeypatch.context() as patch:
            patch.setattr(store, "put_many", refuse)
            job = crawl(site)
        assert (job.state, "disk" in job.error) == (Job.State.FAILED, True)
        jobs.retry_job(job=job, actor=None)
        job = jobs.run_job(job.pk, crawling.crawl)

    assert (job.state, len(paths_of(site))) == (Job.State.DONE, 20)


# Asking for a crawl


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_pages": 0}, "at least 1"),
        ({"delay": -1}, "between 0 and 3600"),
        ({"delay": float("nan")}, "between 0 and 3600"),
        ({"entry": "http://other.test/"}, "does not belong"),
        ({"entry": "nonsense"}, "not an absolute address"),
        ({"strategy": "random"}, "is no strategy"),
    ],
)
def test_a_crawl_that_cannot_be_done_is_refused_at_once(
    options: dict[str, Any], message: str
) -> None:
    site = Site.objects.create(name="alpine-shop", root_url="http://alpine.test/")

    with pytest.raises(ValidationError, match=message):
        create_here(crawling.crawl_request(site=site, **options))
    assert Job.objects.count() == 0


@pytest.mark.both_databases
def test_a_site_is_crawled_by_one_job_at_a_time_and_that_is_audited() -> None:
    site = Site.objects.create(name="alpine-shop", root_url="http://alpine.test/")
    create_here(crawling.crawl_request(site=site))

    with pytest.raises(JobExists):
        create_here(crawling.crawl_request(site=site))
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["site.crawled"]
