"""One process crawls many sites side by side; one that fails or is stopped harms no other."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clustering.models import Host, Link, Page, Snapshot
from clustering.services.crawl import crawl_results, crawling, engine, fetch_service, hosts
from clustering.services.crawl.fetch_service import MANY_DEATHS, FetchService
from clustering.services.pages import pages
from tests.apps.clustering.fake_host import LONG_BEFORE, Answer, FakeHost, drip, hang, page
from tests.conftest import IS_FULL
from vertex.core.models import Heartbeat, Job, Site
from vertex.core.services.jobs import held_jobs, jobs
from vertex.core.services.jobs.held_jobs import JobProgress
from vertex.core.services.jobs.requests import enqueue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

N_SITES = 12
PATIENCE = 60.0
LONG_AGO = timedelta(minutes=10)


@pytest.fixture
def service() -> Iterator[FetchService]:
    made = FetchService({crawling.CRAWL_SITE.task: crawling.crawl})
    with made.engine:
        yield made
    engine.stopping.clear()


def tree(n: int, name: str = "") -> dict[str, Any]:
    """Routes of n pages, each of which links to three others."""
    routes = {"/": page("/1", "/2", "/3", text=f"{name} 0")}
    for number in range(1, n):
        below = range(number * 3 + 1, min(number * 3 + 4, n))
        routes[f"/{number}"] = page("/", *(f"/{each}" for each in below), text=f"{name} {number}")
    return routes


@contextlib.contextmanager
def sites(n: int, n_pages: int = 20) -> Iterator[list[tuple[Site, FakeHost]]]:
    with contextlib.ExitStack() as stack:
        created = []
        for number in range(n):
            host = stack.enter_context(FakeHost(tree(n_pages, f"site {number}")))
            site = Site.objects.create(
                name=f"site-{number}", root_url=f"{host.url}/", crawl_delay=0.0
            )
            created.append((site, host))
        yield created


def ask_for_crawl(site: Site, **options: Any) -> Job:
    return enqueue(crawling.crawl_request(site=site, **options))


def go_on_until(service: FetchService, is_so: Any, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, list(Job.objects.values_list("state", "error"))
        service.go_on()


def end_threads(service: FetchService) -> None:
    """Have the jobs that have threads handed back, and wait until that is done."""
    engine.stopping.set()
    try:
        for thread in service._threads.values():
            thread.join()
    finally:
        engine.stopping.clear()
        engine.threads_wanted.clear()


def all_ended() -> bool:
    return not Job.objects.unfinished().exists()


@pytest.mark.both_databases
def test_many_sites_are_crawled_as_each_would_be_alone(service: FetchService) -> None:
    with sites(N_SITES) as hosts:
        made_jobs = [ask_for_crawl(site) for site, _ in hosts]
        go_on_until(service, all_ended)

    for (site, host), job in zip(hosts, made_jobs, strict=True):
        job.refresh_from_db()
        assert (job.state, job.result) == (Job.State.DONE, {"stored": 20, "left": 0})
        assert (job.n_done, job.n_total) == (20, 20)
        urls = list(Page.objects.filter(site=site).order_by("id").values_list("url", flat=True))
        assert urls == [f"{host.url}/"] + [f"{host.url}/{n}" for n in range(1, 20)]
        assert Snapshot.objects.filter(page__site=site).count() == 20
        assert Link.objects.filter(page__url=f"{host.url}/", page__site=site).count() == 3
        site.refresh_from_db()
        assert (site.n_pages, site.last_snapshot_at is not None) == (20, True)
    assert not Host.objects.exclude(leased_by="").exists()


def test_the_answers_of_many_sites_are_stored_together(
    service: FetchService, django_assert_max_num_queries: Any
) -> None:
    with sites(N_SITES, n_pages=4) as hosts:
        for site, _ in hosts:
            ask_for_crawl(site, delay=1)
        go_on_until(
            service, lambda: Page.objects.filter(state=Page.State.STORED).count() >= N_SITES
        )
        with django_assert_max_num_queries(N_SITES * 8):
            go_on_until(
                service, lambda: Page.objects.filter(state=Page.State.STORED).count() >= 2 * N_SITES
            )


def test_a_step_stores_few_answers_however_many_wait(
    service: FetchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two batches the process looks for cancelled crawls and whether it has to end."""
    stored_in_step: list[int] = []

    def count_and_prepare(answers: Any, do: Any) -> Any:
        stored_in_step.append(sum(len(of_crawl) for _, of_crawl in answers))
        return crawl_results.prepare_answers(answers, do)

    monkeypatch.setattr(engine, "prepare_answers", count_and_prepare)
    monkeypatch.setattr(engine, "MAX_BATCH", 5)
    most_in_step: list[int] = []

    def is_over() -> bool:
        most_in_step.append(len(stored_in_step))
        assert max(stored_in_step, default=0) <= 5
        stored_in_step.clear()
        return all_ended()

    with sites(N_SITES, n_pages=8) as hosts:
        for site, _ in hosts:
            ask_for_crawl(site)
        go_on_until(service, is_over)

    assert max(most_in_step) == 1
    for site, host in hosts:
        urls = list(Page.objects.filter(site=site).order_by("id").values_list("url", flat=True))
        assert urls == [f"{host.url}/"] + [f"{host.url}/{n}" for n in range(1, 8)]


def test_a_page_that_takes_long_to_read_holds_up_no_request(
    service: FetchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse_and_keep = pages._parse_and_keep
    names = [f"/{number}" for number in range(400)]  # more than are fetched until it is seen
    n_meanwhile: list[int] = []
    with (
        FakeHost({"/": page(*names)} | dict.fromkeys(names, page())) as host,
        FakeHost({"/": page()}) as heavy,
    ):

        def read_slowly(store: Any, visits: Any) -> Any:
            """Read the heavy page only once the other host was asked for three pages more."""
            n_before, deadline = len(host.paths), time.monotonic() + PATIENCE
            if any(visit.url.startswith(heavy.url) for visit in visits):
                while len(host.paths) < n_before + 3 and time.monotonic() < deadline:
                    time.sleep(0.01)
                n_meanwhile.append(len(host.paths) - n_before)
            return parse_and_keep(store, visits)

        monkeypatch.setattr(pages, "_parse_and_keep", read_slowly)
        for name, each in (("other", host), ("heavy", heavy)):
            site = Site.objects.create(name=name, root_url=f"{each.url}/", crawl_delay=0.05)
            ask_for_crawl(site)
            go_on_until(service, lambda: Page.objects.filter(state=Page.State.STORED).exists())
        go_on_until(service, lambda: Job.objects.filter(state=Job.State.DONE).exists())

    assert n_meanwhile[0] >= 3
    assert "heavy" == Job.objects.get(state=Job.State.DONE).site.name  # type: ignore[union-attr] # it has one


@pytest.mark.both_databases
def test_a_crawl_that_fails_holds_up_no_other(service: FetchService) -> None:
    with sites(3) as hosts, FakeHost({"/": Answer(raw=hang)}) as stuck:
        (good, _), (gone, gone_host), (lost, lost_host) = hosts
        stuck_site = Site.objects.create(name="stuck", root_url=f"{stuck.url}/", crawl_delay=0.0)
        gone_host.routes = {"/": Answer(b"", 404, {"Content-Type": "text/plain"})}
        lost_host.routes["/"] = page("/1", text="slow")
        lost_host.routes["/1"] = Answer(raw=hang)
        done = [ask_for_crawl(site) for site in (good, gone, lost, stuck_site)]

        go_on_until(service, lambda: Job.objects.filter(pk=done[0].pk, state="done").exists())
        Job.objects.filter(pk=done[2].pk).update(lease="another worker's")
        jobs.cancel_job(job=Job.objects.get(pk=done[3].pk), actor=None)
        go_on_until(service, lambda: not service.engine.crawlers)

    assert [Job.objects.get(pk=job.pk).state for job in done] == [
        Job.State.DONE,
        Job.State.FAILED,
        Job.State.RUNNING,
        Job.State.CANCELLED,
    ]
    assert Page.objects.filter(site=lost, state=Page.State.DUE).exists()


def test_crawls_that_saw_many_deaths_are_tried_one_by_one_before_all_others(
    service: FetchService,
) -> None:
    """The fourth stands for the many whose process died once: they wait until it is known why."""
    with FakeHost({"/": Answer(raw=hang)}) as host, FakeHost(tree(3)) as well:
        roots = [f"{host.url}/", f"{host.url}/", f"{well.url}/", f"{well.url}/"]
        left = [
            ask_for_crawl(Site.objects.create(name=f"left-{n}", root_url=root, crawl_delay=0.0))
            for n, root in enumerate(roots)
        ]
        abandon(left[0], left[2], n_tries=MANY_DEATHS)
        abandon(left[1], n_tries=MANY_DEATHS + 1)
        abandon(left[3], n_tries=1)

        go_on_until(service, lambda: len(service.engine.crawlers) == 1)
        go_on_for_looks(service, 2)
        assert service.engine.crawlers.keys() == {left[0].pk}
        assert n_tries_of(left[0]) == MANY_DEATHS + 1

        end_trial(service)
        go_on_until(service, lambda: left[1].pk in service.engine.crawlers)
        assert not is_unfinished(left[2]), "of those left, it was farther from being given up"
        assert n_tries_of(left[0]) == MANY_DEATHS, "it outlived its trial"
        assert n_tries_of(left[1]) == MANY_DEATHS + 2

        end_trial(service)
        go_on_until(service, lambda: not is_unfinished(left[3]))


def test_crawls_that_saw_many_deaths_are_tried_one_by_one_beside_others(
    service: FetchService,
) -> None:
    """If only the leases show that a process is gone, the next one is already at work by then."""
    with FakeHost({"/": Answer(raw=hang)}) as host:
        held, first, second = (
            ask_for_crawl(Site.objects.create(name=name, root_url=f"{host.url}/", crawl_delay=0.0))
            for name in ("held", "first", "second")
        )
        abandon(first, second, n_tries=MANY_DEATHS)
        Job.objects.filter(pk__in=[first.pk, second.pk]).update(
            leased_until=timezone.now() + LONG_AGO
        )
        go_on_until(service, lambda: service.engine.crawlers.keys() == {held.pk})
        abandon(first, second, n_tries=MANY_DEATHS)
        go_on_for_looks(service, 2)
        assert service.engine.crawlers.keys() == {held.pk, first.pk}
        assert n_tries_of(first) == MANY_DEATHS + 1

        end_trial(service)
        go_on_for_looks(service, 1)
        assert service.engine.crawlers.keys() == {held.pk, first.pk, second.pk}

    assert [n_tries_of(job) for job in (held, first, second)] == [1, MANY_DEATHS, MANY_DEATHS + 1]


def test_no_crawl_is_tried_in_the_moment_after_another_got_further(
    service: FetchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends then is the fault of what was brought just before."""
    monkeypatch.setattr(fetch_service, "SECONDS_AFTER_PROGRESS", 3600.0)
    with FakeHost(tree(3)) as host:
        first, second = (
            ask_for_crawl(Site.objects.create(name=name, root_url=f"{host.url}/", crawl_delay=0.0))
            for name in ("first", "second")
        )
        abandon(first, second, n_tries=MANY_DEATHS)
        go_on_until(service, lambda: not is_unfinished(first))
        go_on_for_looks(service, 2)
        assert n_tries_of(second) == MANY_DEATHS

        service._next_trial_at = 0.0
        go_on_until(service, lambda: not is_unfinished(second))


def test_a_clock_that_is_set_back_prolongs_no_trial(service: FetchService) -> None:
    with FakeHost({"/": Answer(raw=hang)}) as host, FakeHost(tree(3)) as well:
        tried, other = (
            ask_for_crawl(Site.objects.create(name=name, root_url=f"{url}/", crawl_delay=0.0))
            for name, url in (("tried", host.url), ("other", well.url))
        )
        abandon(tried, n_tries=MANY_DEATHS)
        go_on_until(service, lambda: tried.pk in service.engine.crawlers)
        Job.objects.filter(pk=tried.pk).update(claimed_at=timezone.now() + LONG_AGO)
        end_trial(service)
        go_on_until(service, lambda: not is_unfinished(other))


def test_an_answer_that_gets_a_crawl_no_further_leaves_its_trial_outlived() -> None:
    """What the process knows of its tries is older than the row."""
    site = Site.objects.create(name="left", root_url="https://left.example/", crawl_delay=0.0)
    job = ask_for_crawl(site)
    abandon(job, n_tries=MANY_DEATHS)
    run = jobs.claim_job(job.pk)
    Job.objects.filter(pk=job.pk).update(n_tries=MANY_DEATHS)

    held_jobs.save_progress([JobProgress(run, 0, 1, "tries again")])
    assert n_tries_of(job) == MANY_DEATHS
    held_jobs.save_progress([JobProgress(run, 1, 1, "one page")])
    assert n_tries_of(job) == 1


def test_hosts_that_a_process_left_behind_are_released(service: FetchService) -> None:
    """It died after the job was done. A job that still runs may renew its lease, however late."""
    site = Site.objects.create(name="left", root_url="https://left.example/")
    done, over = ask_for_crawl(site), timezone.now() - LONG_AGO
    Job.objects.filter(pk=done.pk).update(state=Job.State.DONE)
    running = Job.objects.create(
        task="x", state="running", lease="x", leased_until=timezone.now() + LONG_AGO
    )
    for job in (done, running):
        Host.objects.create(name=f"h{job.pk}", leased_by=f"job {job.pk}", leased_until=over)
    go_on_for_looks(service, 2)

    assert [f"job {running.pk}"] == list(
        Host.objects.exclude(leased_by="").values_list("leased_by", flat=True)
    )


def go_on_for_looks(service: FetchService, n_looks: int) -> None:
    """Let the service look for jobs some times more."""
    for _ in range(n_looks):
        service._looked_at = service._looked_for_abandoned_at = 0.0
        service.go_on()


def end_trial(service: FetchService) -> None:
    service._trial_ends_at = 0.0


def n_tries_of(job: Job) -> int:
    return Job.objects.get(pk=job.pk).n_tries


def abandon(*made_jobs: Job, n_tries: int) -> None:
    """Leave jobs as a process of long ago would that was killed."""
    Job.objects.filter(pk__in=[job.pk for job in made_jobs]).update(
        state=Job.State.RUNNING,
        lease="of a dead one",
        leased_until=timezone.now() - LONG_AGO,
        started_at=timezone.now() - 2 * LONG_AGO,
        n_tries=n_tries,
    )


def is_unfinished(job: Job) -> bool:
    return Job.objects.unfinished().filter(pk=job.pk).exists()


def test_hostile_sites_change_nothing_for_their_neighbours(service: FetchService) -> None:
    """One hangs, one drips, one sends a bomb, one has endless links: the others are as if alone."""
    bomb = gzip.compress(bytes(64 * 2**20))
    hostile = {
        "hangs": {"/": Answer(raw=hang)},
        "drips": {"/": Answer(raw=drip(b"X", 0.05, b"HTTP/1.1 200 OK\r\n"))},
        "bombs": {
            "/": page("/bomb"),
            "/bomb": Answer(bomb, 200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}),
        },
        "loops": {f"/{'a/' * n}": page("a/", text=str(n)) for n in range(12)},
    }
    with contextlib.ExitStack() as stack:
        good = stack.enter_context(sites(3))
        for name, routes in hostile.items():
            host = stack.enter_context(FakeHost(routes))
            ask_for_crawl(Site.objects.create(name=name, root_url=f"{host.url}/", crawl_delay=0.0))
        good_jobs = [ask_for_crawl(site) for site, _ in good]
        go_on_until(
            service,
            lambda: (
                Page.objects.filter(state=Page.State.REFUSED).exists()
                and not Job.objects.unfinished().filter(pk__in=[j.pk for j in good_jobs]).exists()
            ),
        )

    for job in good_jobs:
        job.refresh_from_db()
        assert (job.state, job.result) == (Job.State.DONE, {"stored": 20, "left": 0})
    assert "larger than" in Page.objects.get(site__name="bombs", url__endswith="/bomb").reason
    stuck = Page.objects.filter(site__name__in=["hangs", "drips"])
    assert {Page.State.DUE} == set(stuck.values_list("state", flat=True)), (
        "they hang to this moment"
    )


@pytest.mark.both_databases
def test_what_cannot_be_stored_of_one_site_is_stored_of_the_others(
    service: FetchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = crawl_results.CrawlWriter.store_judged

    def break_down(self: Any, *arguments: Any) -> Any:
        if self.site.name == "site-1":
            raise ValueError("broken")
        return store(self, *arguments)

    monkeypatch.setattr(crawl_results.CrawlWriter, "store_judged", break_down)
    with sites(3) as hosts:
        requested = [ask_for_crawl(site) for site, _ in hosts]
        go_on_until(service, lambda: Job.objects.filter(state=Job.State.DONE).count() == 2)
        go_on_until(service, lambda: not service.engine.crawlers)

    broken = Job.objects.get(pk=requested[1].pk)
    assert (broken.state, "broken" in broken.error) == (Job.State.DUE, True)
    assert Page.objects.filter(site=hosts[0][0], state=Page.State.STORED).count() == 20
    assert not Page.objects.filter(site=hosts[1][0], state=Page.State.STORED).exists()


def test_a_process_that_is_told_to_end_gives_its_jobs_back(service: FetchService) -> None:
    with sites(4, n_pages=60) as hosts:
        requested = [ask_for_crawl(site, delay=0.2) for site, _ in hosts]
        go_on_until(service, lambda: Page.objects.filter(state=Page.State.STORED).count() > 4)
        engine.stopping.set()
        begun = time.monotonic()
        service.run()

    assert time.monotonic() - begun < (10 if IS_FULL else LONG_BEFORE)
    for job in requested:
        job.refresh_from_db()
        assert (job.state, job.lease, job.due_at <= timezone.now()) == (Job.State.DUE, "", True)
        assert job.n_done > 0
    assert not Host.objects.exclude(leased_by="").exists()


def test_the_next_process_goes_on_where_one_was_stopped(service: FetchService) -> None:
    with sites(2, n_pages=30) as hosts:
        for site, _ in hosts:
            ask_for_crawl(site)
        go_on_until(service, lambda: Page.objects.filter(state=Page.State.STORED).exists())
        engine.stopping.set()
        service.run()
        engine.stopping.clear()

        successor = FetchService({crawling.CRAWL_SITE.task: crawling.crawl})
        with successor.engine:
            go_on_until(successor, all_ended)

    for site, host in hosts:
        assert Page.objects.filter(site=site, state=Page.State.STORED).count() == 30
        assert Snapshot.objects.filter(page__site=site).count() == 30
        urls = list(Page.objects.filter(site=site).order_by("id").values_list("url", flat=True))
        assert urls == [f"{host.url}/"] + [f"{host.url}/{n}" for n in range(1, 30)]


def test_two_sites_on_one_host_take_turns_and_keep_its_pause(service: FetchService) -> None:
    with FakeHost(tree(4)) as host:
        created = [
            Site.objects.create(name=name, root_url=f"{host.url}/", crawl_delay=0.2)
            for name in ("first", "second")
        ]
        for site in created:
            ask_for_crawl(site)
        go_on_until(service, all_ended)
        times = sorted(request.at for request in host.asked)

    assert Job.objects.filter(state=Job.State.DONE).count() == 2
    assert min(after - before for before, after in itertools.pairwise(times)) >= 0.19


def test_a_process_without_crawls_waits(service: FetchService) -> None:
    """Each step sleeps until it is time to look for jobs again; it does not spin."""
    for _ in range(2):
        begun = time.monotonic()
        service.go_on()
        assert time.monotonic() - begun >= engine.MAX_SLEEP / 2


def test_the_process_shows_that_it_lives(service: FetchService) -> None:
    with sites(1) as hosts:
        ask_for_crawl(hosts[0][0])
        go_on_until(service, all_ended)

    assert Heartbeat.objects.filter(name=Job.Queue.FETCH).exists()


def test_a_host_that_another_process_took_over_ends_the_crawl_for_now(
    service: FetchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LEASE_BEAT_SECONDS", 0.0)
    with sites(1, n_pages=60) as made:
        job = ask_for_crawl(made[0][0], delay=0.2)
        go_on_until(service, lambda: Page.objects.filter(state=Page.State.STORED).exists())
        Host.objects.update(leased_by="job 0", leased_until=timezone.now() + hosts.LEASE)
        go_on_until(service, lambda: not service.engine.crawlers)

    job.refresh_from_db()
    assert (job.state, "took a host over" in job.error) == (Job.State.DUE, True)
    assert Host.objects.get().leased_by == "job 0"
