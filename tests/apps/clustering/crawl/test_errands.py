"""What a job fetches that is no crawl: in the turns of hosts, by their rules, handed to the job."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from clustering.fetching.client import Fetched
from clustering.fetching.guard import networks
from clustering.models import Host, Page
from clustering.services.crawl import engine as engine_module
from clustering.services.crawl import errands as errands_module
from clustering.services.crawl import hosts
from clustering.services.crawl.crawling import CRAWL_SITE, crawl_request
from clustering.services.crawl.engine import HostLost
from clustering.services.crawl.errands import open_errands
from clustering.services.crawl.fetch_tasks import Errand
from clustering.services.crawl.hosts import HostTaken
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, moved, page
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import (
    JobCancelled,
    JobRun,
    claim_job,
    create_job,
    run_job,
)
from vertex.core.services.jobs.requests import enqueue

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
DELAY = 0.2


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands_module, "HOST_PATIENCE", 0.0)


@pytest.fixture
def host(settings: Settings) -> Iterator[FakeHost]:
    settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8"])
    with FakeHost({"/a": page(text="a"), "/b": page(text="b")}) as serving:
        yield serving


@pytest.fixture
def other(host: FakeHost) -> Iterator[FakeHost]:
    with FakeHost({"/a": page(text="elsewhere")}, address="127.0.0.2") as serving:
        yield serving


def run_for(host: FakeHost, delay: float = 0.0) -> JobRun:
    site = Site.objects.create(name="shop", root_url=f"{host.url}/", crawl_delay=delay)
    job = create_job(task="tests.errands", queue=Job.Queue.CHECK, title="Errands", site=site)
    return claim_job(job.pk)


def next_run(run: JobRun) -> JobRun:
    """Return another job of the same site."""
    job = create_job(task="tests.errands", queue=Job.Queue.CHECK, title="Next", site=run.site)
    return claim_job(job.pk)


def outcomes(run: JobRun, *errands: Errand, seconds: float = 30.0) -> list[int | str]:
    """Return the status or the word that each errand ended with, in their order."""
    with open_errands(run) as turns:
        done = list(turns.do(errands, seconds=seconds))
    assert sorted(map(id, done)) == sorted(map(id, errands)), "each ends once"
    return [outcome_of(errand) for errand in errands]


def outcome_of(errand: Errand) -> int | str:
    if isinstance(errand.answer, Fetched):
        return errand.answer.status
    assert errand.refused is not None
    return errand.refused.code


def test_pauses_and_counts_are_those_of_crawls(host: FakeHost) -> None:
    run = run_for(host, DELAY)
    urls = [f"{host.url}/a", f"{host.url}/gone", f"{host.url}/b"]
    assert [200, 404, 200] == outcomes(run, *map(Errand, urls))

    times = [request.at for request in host.asked]
    assert "/robots.txt" == host.asked[0].path
    assert min(later - earlier for earlier, later in pairwise(times)) >= DELAY
    row = Host.objects.get(name=host.url)
    assert (3, {"404": 1}, "") == (row.n_answers, row.problems, row.leased_by)
    assert row.next_fetch_at is not None


def test_a_redirect_leads_into_the_turns_of_another_host(host: FakeHost, other: FakeHost) -> None:
    host.routes["/to"] = moved(f"{other.url}/a")
    host.routes["/to_private"] = moved(f"{other.url}/private")
    other.routes["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private")
    errands = [Errand(f"{host.url}/{path}", max_redirects=5) for path in ("to", "to_private")]
    assert [200, "robots"] == outcomes(run_for(host), *errands)

    assert ["/robots.txt", "/a"] == [request.path for request in other.asked]
    assert errands[0].answer is not None
    assert (f"{host.url}/to", f"{other.url}/a") == (errands[0].url, errands[0].answer.final_url)


def test_redirects_in_a_circle_and_too_many_of_them_are_refused(host: FakeHost) -> None:
    host.routes |= {"/x": moved("/y"), "/y": moved("/x")}
    host.routes |= {f"/{n}": moved(f"/{n + 1}") for n in range(9)}
    errands = [Errand(f"{host.url}/{path}", max_redirects=3) for path in ("x", "0")]

    assert ["redirect", "redirect"] == outcomes(run_for(host), *errands)
    assert 2 + 4 == len(host.paths)


def test_trouble_is_tried_again_and_stays_where_it_stays(host: FakeHost) -> None:
    n_asked = 0

    def trouble_once(_asked: Asked) -> Answer:
        nonlocal n_asked
        n_asked += 1
        return page(text="well") if n_asked > 1 else Answer(status=500)

    host.routes |= {"/shaky": trouble_once, "/broken": Answer(b"sorry", status=500)}
    errands = [Errand(f"{host.url}/{path}", max_tries=2) for path in ("shaky", "broken")]

    assert [200, 500] == outcomes(run_for(host), *errands)
    assert 4 == len(host.paths)


def test_what_is_not_answered_in_time_is_told(host: FakeHost) -> None:
    def slow(_asked: Asked) -> Answer:
        time.sleep(2.0)
        return page()

    host.routes["/slow"] = slow
    errands = [Errand(f"{host.url}/{path}") for path in ("a", "slow")]

    assert [200, "out_of_time"] == outcomes(run_for(host), *errands, seconds=1.0)


def test_a_host_that_another_job_has_is_not_asked(host: FakeHost) -> None:
    crawl = claim_job(create_job(task="tests.crawl", queue=Job.Queue.FETCH, title="Crawl").pk)
    hosts.lease_host(host=hosts.find_host(origin=host.url), job=crawl.job)

    with pytest.raises(HostTaken, match=f"job {crawl.job.pk} fetches from"):
        outcomes(run_for(host), Errand(f"{host.url}/a"))
    assert [] == host.asked


def test_a_long_pause_is_not_waited_for(host: FakeHost) -> None:
    until = timezone.now() + timedelta(minutes=10)
    host.routes["/a"] = Answer(status=503, headers={"Retry-After": "600"})
    run = run_for(host, DELAY)

    with pytest.raises(HostTaken, match="left alone") as taken:
        outcomes(run, Errand(f"{host.url}/a"), Errand(f"{host.url}/b"))
    assert taken.value.until is not None
    assert taken.value.until >= until
    assert ["/a"] == host.paths
    assert "" == Host.objects.get(name=host.url).leased_by


def test_a_cancelled_job_asks_for_nothing_more(host: FakeHost) -> None:
    run = run_for(host, DELAY)

    def cancel(_asked: Asked) -> Answer:
        Job.objects.filter(pk=run.job.pk).update(cancel_requested_at=timezone.now())
        connection.close()
        return page()

    host.routes["/0"] = cancel
    with pytest.raises(JobCancelled):
        outcomes(run, *(Errand(f"{host.url}/{number}") for number in range(100)))
    assert len(host.paths) < 50


def test_files_of_a_host_that_asks_for_a_long_pause_are_left_out(host: FakeHost) -> None:
    host.routes["/a"] = Answer(status=503, headers={"Retry-After": "600"})
    run = run_for(host, DELAY)
    errands = [Errand(f"{host.url}/{path}") for path in ("a", "b")]
    with open_errands(run, is_for_files=True) as turns:
        assert 2 == len(list(turns.do(errands)))

    assert [503, "silent"] == [outcome_of(errand) for errand in errands]
    assert ["/a"] == host.paths


class TestPausesThatOutliveAJob:
    """The next to ask a host waits the pause after its last request, even an unanswered one."""

    def test_after_a_request_that_was_called_off(self, host: FakeHost) -> None:
        delay = 3.0
        run = run_for(host, delay)
        Site.objects.update(obey_robots=False)
        run.site.refresh_from_db()

        def cancel(_asked: Asked) -> Answer:
            Job.objects.filter(pk=run.job.pk).update(cancel_requested_at=timezone.now())
            connection.close()
            host.is_over.wait(30)
            return page()

        host.routes["/slow"] = cancel
        with pytest.raises(JobCancelled):
            outcomes(run, Errand(f"{host.url}/slow"))
        assert [200] == outcomes(next_run(run), Errand(f"{host.url}/a"))

        assert ["/slow", "/a"] == host.paths
        called_off, next_one = host.asked
        assert next_one.at - called_off.at >= delay

    def test_after_a_process_that_was_killed(self, host: FakeHost) -> None:
        run = run_for(host, DELAY)
        row = hosts.find_host(origin=host.url)
        assert hosts.lease_host(host=row, job=run.job), "as a process left it that is gone"
        begun_at = time.monotonic()
        assert [200] == outcomes(run, Errand(f"{host.url}/a"))

        assert host.asked[0].at - begun_at >= DELAY

    def test_a_longer_pause_is_not_cut_short_by_who_could_not_wait(self, host: FakeHost) -> None:
        run = run_for(host, DELAY)
        until = timezone.now() + timedelta(minutes=10)
        row = hosts.find_host(origin=host.url)
        Host.objects.filter(pk=row.pk).update(next_fetch_at=until)
        with pytest.raises(HostTaken, match="left alone"):
            outcomes(run, Errand(f"{host.url}/a"))

        row.refresh_from_db()
        assert until == row.next_fetch_at

    def test_a_process_that_stood_still_asks_nothing_of_a_host_that_it_lost(
        self, host: FakeHost, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keep_hosts = hosts.keep_hosts

        def keep_hosts_slowly(*arguments: Any) -> list[bool]:
            time.sleep(0.3)  # in which a request would be made
            return keep_hosts(*arguments)

        monkeypatch.setattr(hosts, "keep_hosts", keep_hosts_slowly)
        with open_errands(run_for(host)) as turns:
            assert 1 == len(list(turns.do([Errand(f"{host.url}/a")])))
            Host.objects.update(leased_by="job 0", leased_until=timezone.now() + hosts.LEASE)
            monkeypatch.setattr(engine_module, "LEASE_BEAT_SECONDS", 0.0)
            time.sleep(engine_module.BEAT_SECONDS)
            with pytest.raises(HostLost):
                list(turns.do([Errand(f"{host.url}/b")]))

        assert ["/a"] == host.paths


class TestGivingWay:
    """A crawl that has a host for hours lets those in who ask for little."""

    def test_a_crawl_gives_way_and_ends_like_an_undisturbed_one(
        self, host: FakeHost, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(errands_module, "HOST_PATIENCE", 60.0)
        monkeypatch.setattr(engine_module, "LEASE_BEAT_SECONDS", 1.0)
        names = [f"/{number}" for number in range(30)]
        host.routes |= {name: page(*names, text=name) for name in names}
        host.routes["/"] = page(*names)
        errand_run = run_for(host, DELAY)
        crawl = enqueue(crawl_request(site=errand_run.site))
        crawling = threading.Thread(target=crawl_apart, args=(crawl.pk,))
        crawling.start()
        while len(host.paths) < 4:
            time.sleep(0.05)
        n_before = len(host.paths)
        errand = Errand(f"{host.url}/a")
        assert [200] == outcomes(errand_run, errand)
        n_after = len(host.paths)
        crawling.join()

        assert n_before < n_after < len(names), "the crawl went on after it"
        assert Job.State.DONE == Job.objects.get(pk=crawl.pk).state
        assert ["/", *names] == [path for path in host.paths if path != "/a"]
        times = [request.at for request in host.asked]
        assert min(later - earlier for earlier, later in pairwise(times)) >= DELAY
        pages = Page.objects.filter(state=Page.State.STORED).order_by("depth", "pk")
        assert ["/", *names] == [each.url.removeprefix(host.url) for each in pages]


def crawl_apart(job: int) -> None:
    """Do a crawl in a thread with a database connection of its own."""
    try:
        run_job(job, CRAWL_SITE.work)
    finally:
        connection.close()
