"""The page of the hosts that are fetched from, and the counts that it shows."""

from __future__ import annotations

from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clustering.models import Host
from clustering.services.crawl import hosts
from clustering.services.crawl.crawling import crawl_request
from clustering.services.crawl.hosts import HostAnswer
from tests.apps.clustering.fake_host import Answer, FakeHost, page
from vertex.core.models import Job, Membership, Role, Site, User
from vertex.core.services.jobs.requests import create_here, run_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def cut_off(visitor: BaseHTTPRequestHandler) -> None:
    visitor.wfile.write(b"HTTP/1.1 200 OK\r\nNo")


ROUTES = {
    "/": page("/a", "/gone", "/cut", "/hidden"),
    "/a": page(),
    "/gone": Answer(b"<p>gone", 404, {"Content-Type": "text/html"}),
    "/cut": Answer(raw=cut_off),
    "/robots.txt": Answer(b"User-agent: *\nDisallow: /hidden", 200),
}


@pytest.fixture
def boss(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("boss"))
    return client


def shown(client: Client, query: str = "") -> str:
    answer = client.get(reverse("hosts") + query)
    assert 200 == answer.status_code
    return answer.content.decode()


def leased(name: str = "https://shop.example", **fields: Any) -> tuple[Host, Job]:
    """Return a host that a crawl has."""
    site = Site.objects.create(name="shop", root_url=f"{name}/")
    job = create_here(crawl_request(site=site))
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.RUNNING, lease="x", leased_until=timezone.now() + timedelta(minutes=1)
    )
    host = Host.objects.create(name=name, **fields)
    assert hosts.lease_host(host=host, job=job)
    return host, job


@pytest.mark.usefixtures("loopback")
@pytest.mark.django_db(transaction=True)
def test_a_crawl_counts_what_its_host_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clustering.services.crawl.crawl_results.MAX_TRIES", 1)
    with FakeHost(ROUTES) as fake:
        site = Site.objects.create(name="shop", root_url=f"{fake.url}/")
        run_here(crawl_request(site=site, delay=0))
        host = Host.objects.get(name=fake.url)
    n_bytes = sum(len(ROUTES[path].body) for path in ("/", "/a", "/gone"))

    assert (4, n_bytes) == (host.n_answers, host.n_bytes)
    assert {"404", "robots", "broken_answer"} == set(host.problems)
    assert [1, 1, 1] == list(host.problems.values())
    assert host.counted_since is not None


def test_counts_begin_anew_with_each_job() -> None:
    host, job = leased()
    hosts.count_answers(
        [
            HostAnswer(host.pk, was_asked=True, n_bytes=10, problem="503"),
            HostAnswer(host.pk, was_asked=True, n_bytes=5, problem=""),
            HostAnswer(host.pk, was_asked=False, n_bytes=0, problem="robots"),
        ]
    )
    hosts.count_answers([HostAnswer(host.pk, was_asked=True, n_bytes=1, problem="503")])
    host.refresh_from_db()
    assert (3, 16, {"503": 2, "robots": 1}) == (host.n_answers, host.n_bytes, host.problems)
    hosts.release_hosts(job=job)

    assert hosts.lease_host(host=host, job=job)
    assert (0, 0, {}) == (host.n_answers, host.n_bytes, host.problems)


def test_a_host_at_work_shows_who_asks_it_and_when(boss: Client) -> None:
    host, job = leased(robots_text="User-agent: *\nCrawl-delay: 7", robots_status=200)
    in_a_while = timezone.now() + timedelta(minutes=5)
    Host.objects.filter(pk=host.pk).update(
        robots_fetched_at=timezone.now(),
        retry_after=in_a_while,
        n_answers=1234,
        n_bytes=5 * 2**20,
        problems={"503": 12, "too_large": 1},
    )
    page_text = shown(boss)

    assert reverse("job", args=[job.pk]) in page_text
    for word in ("https://shop.example", "left alone", "asks for 7 s", "1,234", "5.0", "too large"):
        assert word in page_text, word
    assert "every 2s" in page_text


def test_hosts_are_narrowed(boss: Client) -> None:
    leased()
    Host.objects.create(name="https://calm.example")
    Host.objects.create(
        name="https://waits.example", retry_after=timezone.now() + timedelta(hours=1)
    )
    Host.objects.create(name="https://fails.example", problems={"dns": 3})
    names = ("shop", "calm", "waits", "fails")

    def listed(query: str) -> set[str]:
        page_text = shown(boss, query)
        return {name for name in names if f"https://{name}.example" in page_text}

    assert {"shop"} == listed("")
    assert {"waits"} == listed("?show=waiting")
    assert {"fails"} == listed("?show=trouble")
    assert set(names) == listed("?show=all")
    assert {"calm"} == listed("?show=all&q=calm")


def test_where_no_host_is_at_work_the_page_says_what_will_stand_there(boss: Client) -> None:
    page_text = shown(boss)

    assert "No host is at work" in page_text
    assert "every 10s" in page_text
    assert "No host matches" in shown(boss, "?q=nothing")


def test_it_is_for_operators_of_all_sites(client: Client) -> None:
    site = Site.objects.create(name="shop", root_url="https://shop.example/")
    user = User.objects.create_user("olga")
    Membership.objects.create(user=user, site=site, role=Role.OPERATOR)
    client.force_login(user)
    assert 403 == client.get(reverse("hosts")).status_code
    Membership.objects.create(user=user, role=Role.OPERATOR)

    assert "Hosts" in shown(client)
