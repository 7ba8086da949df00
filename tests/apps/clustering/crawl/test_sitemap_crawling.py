"""What sitemaps list is visited; foreign and cyclic ones are refused.

They are found by robots.txt and in indexes, and may be compressed.
"""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from clustering.models import Page
from clustering.services.crawl import engine, fetch_service, sitemap_crawling
from clustering.services.crawl.address_lists import (
    VISIT_ADDRESSES,
    address_list_request,
    read_list,
)
from clustering.services.crawl.crawl_results import MAX_SUBJECT
from clustering.services.crawl.engine import threads_wanted
from clustering.services.crawl.fetch_service import FetchService
from clustering.services.crawl.sitemap_crawling import (
    CRAWL_SITEMAPS,
    crawl_sitemaps,
    read_sitemaps,
    sitemap_crawl_request,
)
from tests.apps.clustering.api_cast import caller
from tests.apps.clustering.crawl.test_fetch_service import end_threads, go_on_until
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, canary, moved, page
from vertex.celery import app
from vertex.core.models import Job, Refusal, Role, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here, enqueue
from vertex.core.tasks import FETCHING_WORK

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

PAGES = {f"/{n}": page("/never", text=str(n)) for n in range(10)}


def site_of(host: FakeHost) -> Site:
    return Site.objects.create(name="alpine-shop", root_url=f"{host.url}/", crawl_delay=0.0)


def listing(*urls: str, lastmod: str = "") -> Answer:
    times = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    body = "".join(f"<url><loc>{url}</loc>{times}</url>" for url in urls)
    return Answer(f"<urlset>{body}</urlset>".encode(), headers={"Content-Type": "text/xml"})


def index(*urls: str) -> Answer:
    body = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Answer(f"<sitemapindex>{body}</sitemapindex>".encode())


def robots(*urls: str) -> Answer:
    lines = "".join(f"Sitemap: {url}\n" for url in urls)
    return Answer(f"User-agent: *\nDisallow: /private\n{lines}".encode())


def crawl(site: Site, **options: Any) -> Job:
    job = create_here(sitemap_crawl_request(site=site, **options))
    return jobs.run_job(job.pk, crawl_sitemaps)


def fetched(host: FakeHost) -> list[str]:
    return sorted(path for path in host.paths if path in PAGES)


def refused() -> dict[str, str]:
    return dict(Refusal.objects.values_list("subject", "reason"))


@pytest.mark.both_databases
def test_sitemaps_of_robots_txt_are_read_with_those_that_they_name() -> None:
    with FakeHost(PAGES) as host:
        u = host.url
        host.routes |= {
            "/robots.txt": robots(f"{u}/index.xml"),
            "/index.xml": index(f"{u}/a.xml", f"{u}/b.xml.gz", f"{u}/index.xml"),
            "/a.xml": listing(f"{u}/1", f"{u}/2", f"{u}/1"),
            "/b.xml.gz": Answer(gzip.compress(listing(f"{u}/3").body)),
        }
        job = crawl(site_of(host))

    assert (job.state, job.error) == (Job.State.DONE, "")
    assert job.result == {"stored": 3, "left": 0, "sitemaps": 3, "addresses": 4, "known": 0}
    assert fetched(host) == ["/1", "/2", "/3"]
    assert host.paths.count("/index.xml") == 1
    assert set(Page.objects.values_list("state", flat=True)) == {Page.State.STORED}


def test_the_usual_place_is_looked_at_where_robots_txt_names_none() -> None:
    with FakeHost(PAGES) as host:
        host.routes["/sitemap.xml"] = moved("/maps.xml")
        host.routes["/maps.xml"] = listing(f"{host.url}/4")
        job = crawl(site_of(host))

    assert (job.state, fetched(host)) == (Job.State.DONE, ["/4"])


def test_what_is_foreign_disallowed_or_no_address_is_refused_with_a_reason() -> None:
    with canary("127.0.0.1") as bird, FakeHost(PAGES) as host:
        foreign = f"http://127.0.0.1:{bird.port}"
        host.routes |= {
            "/robots.txt": robots(f"{foreign}/map.xml", f"{host.url}/index.xml"),
            "/index.xml": index(f"{foreign}/b.xml", f"{host.url}/private/c.xml", "nonsense:"),
            "/sitemap.xml": listing(f"{host.url}/9"),
        }
        host.routes["/index.xml"] = Answer(
            host.routes["/index.xml"].body  # type: ignore[union-attr] # it is an answer
            + listing(f"{host.url}/5", f"{foreign}/x", "file:///etc/passwd").body
        )
        job = crawl(site_of(host))

    assert job.state == Job.State.DONE
    assert (fetched(host), bird.n_connections) == (["/5"], 0)
    reasons = refused()
    assert "does not belong" in reasons[f"{foreign}/map.xml"]
    assert "does not belong" in reasons[f"{foreign}/b.xml"]
    assert "disallows" in reasons[f"{host.url}/private/c.xml"]
    assert "another site" in reasons[f"{foreign}/x"]
    assert "file:///etc/passwd" in reasons
    assert "/private/c.xml" not in host.paths


def test_a_foreign_sitemap_would_have_been_read_if_it_belonged_to_the_site() -> None:
    with FakeHost(PAGES) as other, FakeHost(PAGES) as host:
        host.routes["/robots.txt"] = robots(f"{other.url}/map.xml")
        other.routes["/map.xml"] = listing(f"{host.url}/5", f"{other.url}/6")
        site = site_of(host)
        site.extra_hosts = [f"127.0.0.1:{other.server_port}"]
        site.save()
        crawl(site)

    assert (fetched(host), fetched(other)) == (["/5"], ["/6"])


def test_a_bomb_and_too_many_sitemaps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_crawling, "MAX_SITEMAP_BYTES", 100_000)
    monkeypatch.setattr(sitemap_crawling, "MAX_SITEMAPS", 4)
    with FakeHost(PAGES) as host:
        u = host.url
        host.routes |= {
            "/sitemap.xml": index(f"{u}/bomb.gz", f"{u}/endless", f"{u}/1.xml", f"{u}/2.xml"),
            "/bomb.gz": Answer(gzip.compress(b"<url>" * 1_000_000)),
            "/endless": Answer(b"<url>" * 1_000_000),
            "/1.xml": listing(f"{u}/1"),
            "/2.xml": listing(f"{u}/2"),
        }
        job = crawl(site_of(host))

    assert (job.state, fetched(host)) == (Job.State.DONE, ["/1"])
    reasons = refused()
    assert "larger than" in reasons[f"{u}/bomb.gz"]
    assert "larger than" in reasons[f"{u}/endless"]
    assert "more than 4 sitemaps" in reasons[f"{u}/2.xml"]


@pytest.mark.bar
@pytest.mark.both_databases
def test_an_index_of_fifty_thousand_addresses_is_read_whole() -> None:
    with FakeHost(PAGES) as host:
        urls = [f"{host.url}/{number}" for number in range(50_000)]
        names = [f"/{part}.xml.gz" for part in range(10)]
        for part, name in enumerate(names):
            body = listing(*urls[part * 5_000 : (part + 1) * 5_000]).body
            host.routes[name] = Answer(gzip.compress(body))
        host.routes["/sitemap.xml"] = index(*(f"{host.url}{name}" for name in names))
        job = crawl(site_of(host), max_pages=10)

    figures = {"sitemaps": 11, "addresses": 50_000, "known": 0}
    assert job.result == {"stored": 10, "left": 49_990, **figures}
    assert list(Page.objects.order_by("pk").values_list("url", flat=True)) == urls
    assert fetched(host) == sorted(PAGES)


@pytest.mark.both_databases
def test_what_has_not_changed_since_is_not_visited_again() -> None:
    with FakeHost(PAGES) as host:
        site = site_of(host)
        host.routes["/sitemap.xml"] = listing(
            f"{host.url}/1", f"{host.url}/2", lastmod="2015-01-01"
        )
        crawl(site)
        again = crawl(site)
        host.routes["/sitemap.xml"] = Answer(
            listing(f"{host.url}/1", lastmod="2015-01-01").body
            + listing(f"{host.url}/2", lastmod="2999-01-01").body
            + listing(f"{host.url}/3").body
        )
        third = crawl(site)

    assert again.result == {"sitemaps": 1, "addresses": 2, "known": 2}
    assert third.result is not None
    assert (third.result["stored"], third.result["known"]) == (2, 1)
    assert fetched(host) == ["/1", "/2", "/2", "/3"]


def test_what_was_read_is_not_read_again_by_whoever_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def second(_asked: Asked) -> Answer:
        threads_wanted.set()  # more work waits than there are threads: the turn is over
        return listing(f"{host.url}/2", f"{host.url}/3")

    monkeypatch.setattr(engine, "TURN_SECONDS", 0.0)
    with FakeHost(PAGES) as host:
        maps: dict[str, Any] = {"/a.xml": listing(f"{host.url}/1"), "/b.xml": second}
        maps["/c.xml"] = listing()
        host.routes |= maps | {"/sitemap.xml": index(*(host.url + path for path in maps))}
        job = create_here(sitemap_crawl_request(site=site_of(host)))
        try:
            with pytest.raises(SystemExit):
                jobs.run_job(job.pk, read_sitemaps)
        finally:
            threads_wanted.clear()
        handed_back = Job.objects.get(pk=job.pk)
        jobs.run_job(job.pk, read_sitemaps)
        n_asked = [host.paths.count(path) for path in ("/sitemap.xml", *maps)]
        visited_by_now = fetched(host)
        done = jobs.run_job(job.pk, crawl_sitemaps)

    assert (handed_back.state, handed_back.n_tries) == (Job.State.DUE, 0)
    assert (n_asked, visited_by_now) == ([1, 1, 1, 1], [])
    assert done.result == {"stored": 3, "left": 0, "sitemaps": 4, "addresses": 3, "known": 0}
    assert fetched(host) == ["/1", "/2", "/3"]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_a_slow_reading_gives_its_thread_to_what_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fetch_service, "MAX_THREADS", 1)
    monkeypatch.setattr(engine, "TURN_SECONDS", 0.0)
    service = FetchService({CRAWL_SITEMAPS.task: read_sitemaps, VISIT_ADDRESSES.task: read_list})
    with FakeHost(PAGES) as slow_host, FakeHost(PAGES) as host, service.engine:
        slow_site = Site.objects.create(name="slow", root_url=f"{slow_host.url}/")
        slow = Job.objects.filter(pk=enqueue(sitemap_crawl_request(site=slow_site, delay=3600)).pk)
        go_on_until(service, lambda: bool(slow_host.asked))
        source = tmp_path / "addresses.txt"
        source.write_text(f"{host.url}/1\n")
        quick = Job.objects.filter(
            pk=enqueue(address_list_request(site=site_of(host), source=source)).pk
        )
        is_over = quick.filter(finished_at__isnull=False).exists
        go_on_until(service, is_over)
        end_threads(service)  # the slow one has its turn again, perhaps

    assert quick.get().state == Job.State.DONE
    assert (slow.get().state, slow.get().n_tries, slow.get().error) == (Job.State.DUE, 0, "")


def test_where_nothing_has_changed_the_reading_is_all() -> None:
    with FakeHost(PAGES) as host:
        site = site_of(host)
        host.routes["/sitemap.xml"] = listing(f"{host.url}/1", lastmod="2015-01-01")
        crawl(site)
        again = jobs.run_job(create_here(sitemap_crawl_request(site=site)).pk, read_sitemaps)

    assert again.state == Job.State.DONE
    assert again.result == {"sitemaps": 1, "addresses": 1, "known": 1}


def test_a_crawl_that_was_cut_off_reads_no_sitemap_twice() -> None:
    with FakeHost(PAGES) as host:
        host.routes["/sitemap.xml"] = listing(*(f"{host.url}/{n}" for n in range(10)))
        job = create_here(sitemap_crawl_request(site=site_of(host)))
        jobs.run_job(job.pk, read_sitemaps)
        read = fetched(host)
        done = jobs.run_job(job.pk, crawl_sitemaps)

    assert read == []
    assert fetched(host) == sorted(PAGES)
    assert done.result == {"stored": 10, "left": 0, "sitemaps": 1, "addresses": 10, "known": 0}
    assert host.paths.count("/sitemap.xml") == 1


def test_the_process_that_fetches_reads_sitemaps_and_leaves_the_visits_to_the_engine() -> None:
    app.loader.import_default_modules()

    assert FETCHING_WORK[CRAWL_SITEMAPS.task] is read_sitemaps


def test_what_is_refused_is_kept_shortly() -> None:
    with FakeHost(PAGES) as host:
        lines = f"{host.url}/1\nhttp://other.example/{'a' * 100_000}\n"
        host.routes["/sitemap.xml"] = Answer(lines.encode())
        crawl(site_of(host))

    assert MAX_SUBJECT == len(Refusal.objects.get(code="bad_url").subject)


def test_a_site_without_sitemaps_fails_and_says_so() -> None:
    with FakeHost(PAGES) as host:
        job = crawl(site_of(host))

    assert job.state == Job.State.FAILED
    assert "sitemap.xml: answers 404" in job.error


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (listing(), "no address is listed in what was read, last"),
        (page(text="welcome"), "no address is listed in what was read, last"),
        (listing("http://other.test/1"), "none of 1 listed address(es) is of the site"),
    ],
)
def test_a_sitemap_without_a_page_of_the_site_fails_and_says_so(answer: Answer, words: str) -> None:
    with FakeHost({**PAGES, "/sitemap.xml": answer}) as host:
        job = crawl(site_of(host))

    assert job.state == Job.State.FAILED
    assert words in job.error


def test_no_more_pages_are_visited_than_allowed() -> None:
    with FakeHost(PAGES) as host:
        host.routes["/sitemap.xml"] = listing(*(f"{host.url}/{n}" for n in range(10)))
        job = crawl(site_of(host), max_pages=3)

    assert (job.n_done, len(fetched(host))) == (3, 3)


def test_a_sitemap_of_another_site_cannot_be_asked_for() -> None:
    site = Site.objects.create(name="alpine-shop", root_url="http://alpine.test/")
    with pytest.raises(ValidationError, match="does not belong"):
        sitemap_crawl_request(site=site, sitemap="http://other.test/map.xml")


def test_command_api_and_form_ask_for_the_same(client: Client) -> None:
    out = io.StringIO()
    with FakeHost(PAGES) as host:
        host.routes["/map.xml"] = listing(f"{host.url}/7")
        site = site_of(host)
        sitemap = f"{host.url}/map.xml"
        call_command(
            "crawl_sitemaps",
            "alpine-shop",
            "--sitemap",
            sitemap,
            stdout=out,
            stderr=io.StringIO(),
        )
    assert [json.loads(line)["snapshot"] for line in out.getvalue().splitlines()] == ["new"]

    ada = caller("ada", Role.ADMINISTRATOR)
    response = ada.post("sites/alpine-shop/sitemap_crawls/", {"sitemap": sitemap, "delay": 0})
    assert response.status_code == 202
    by_api = Job.objects.get(pk=response.json()["id"])
    assert (by_api.params["sitemap"], by_api.params["delay"]) == (sitemap, 0)
    jobs.cancel_job(job=by_api, actor=None)

    olga = User.objects.create_user("olga", password="a long enough password")
    olga.memberships.create(site=site, role=Role.OPERATOR)
    client.force_login(olga)
    url = reverse("crawl_sitemaps", args=["alpine-shop"])
    assert client.post(url, {"sitemap": "http://other.test/", "max_pages": 5}).status_code == 400
    client.post(url, {"sitemap": "", "max_pages": 5})
    assert Job.objects.unfinished().get().params["max_pages"] == 5
