"""Checks over the network: killed workers, silent hosts, errors in any language, second looks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clustering.models import Page, Snapshot
from clustering.services.crawl import errands, hosts
from monitoring.models import (
    Alert,
    Check,
    CheckedPage,
    ErrorPage,
    FetchedPage,
    Schedule,
    SiteChange,
)
from monitoring.services.checks import fetched_pages, fresh_pages
from monitoring.services.checks.checking import check_request, run_checks
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.looking_again import LOOK_AGAIN_AFTER
from monitoring.views.checks.evidence_rows import evidence_of
from rules.models import GoldenRecord, Record
from tests.apps.clustering.fake_host import Answer
from tests.apps.monitoring.monitored_shop import N, redesigned
from tests.apps.monitoring.shop_on_host import Shop, check_as_worker, come_back
from tests.apps.rules.review_cast import person
from tests.apps.rules.shop_cast import extract, product, products_of
from vertex.core.models import Job, Role
from vertex.core.services.jobs.jobs import claim_job, create_job, retry_job, run_job
from vertex.core.services.jobs.requests import create_here, enqueue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
LOST = (
    "<html><head><title>Je nám líto</title></head><body><h1>Je nám líto</h1><p>Nic tu není, "
    "zkuste jinde nebo později {n}</p></body></html>"
)

ON_TRIAL = ({2, 3, 7, 10}, {1, 5, 6, 11})  # pages in another design, at two looks


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands, "HOST_PATIENCE", 0.0)


@pytest.fixture
def shop() -> Iterator[Shop]:
    one = Shop()
    with one.host:
        yield one


def lost(n: int) -> tuple[str, bytes, str]:
    return f"p/{n}", LOST.format(n=chr(96 + n) * 4).encode(), "text/html; charset=utf-8"


@pytest.mark.both_databases
class TestKilled:
    def test_the_next_worker_asks_only_for_what_is_left(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = shop.open()
        job = enqueue(check_request(site=site))
        columns_of = fetched_pages._columns
        n_answered = 0

        def die_in_the_middle(result: FreshPage | str) -> dict[str, Any]:
            nonlocal n_answered
            n_answered += 1
            if n_answered == 6:
                raise SystemExit
            return columns_of(result)

        with monkeypatch.context() as patched:
            patched.setattr(fetched_pages, "_columns", die_in_the_middle)
            with pytest.raises(SystemExit):
                run_job(job.pk, run_checks)
        paths = FetchedPage.objects.values_list("page__url", flat=True)
        stored = {url.removeprefix(shop.host.url) for url in paths}
        assert 5 == len(stored)
        assert Job.State.DONE == run_job(job.pk, run_checks).state

        n_asked = Counter(shop.asked())
        assert {1} == {n_asked[path] for path in stored}
        assert 2 >= max(n_asked.values()), "what was on its way is asked for again, once"
        assert (1, N) == (Check.objects.done().count(), CheckedPage.objects.count())
        assert not FetchedPage.objects.exists()


@pytest.mark.both_databases
class TestTurns:
    """A check and a crawl of one host do not fetch at the same time."""

    def test_a_check_waits_for_a_crawl_and_holds_no_worker(self, shop: Shop) -> None:
        site = shop.open()
        crawl = claim_job(create_job(task="tests.crawl", queue=Job.Queue.FETCH, title="Crawl").pk)
        host = hosts.find_host(origin=shop.host.url)
        assert hosts.lease_host(host=host, job=crawl.job)
        job = check_as_worker(site)

        assert (Job.State.DUE, []) == (job.state, shop.host.asked)
        assert f"waits: job {crawl.job.pk} fetches from {host.name}" == job.message
        hosts.release_hosts(job=crawl.job)
        come_back()
        assert (1, N) == (Check.objects.done().count(), len(shop.asked()))

    def test_a_crawl_finds_the_host_taken_by_a_check_and_free_after_it(self, shop: Shop) -> None:
        site = shop.open()
        site.crawl_delay = 0.01
        site.save()
        crawl = claim_job(create_job(task="tests.crawl", queue=Job.Queue.FETCH, title="Crawl").pk)
        host = hosts.find_host(origin=shop.host.url)
        leased = []
        columns_of = fetched_pages._columns

        def look(result: FreshPage | str) -> dict[str, Any]:
            leased.append(hosts.lease_host(host=host, job=crawl.job))
            return columns_of(result)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(fetched_pages, "_columns", look)
            check_as_worker(site)

        assert [False] * N == leased
        assert hosts.lease_host(host=host, job=crawl.job)
        assert host.next_fetch_at is not None

    def test_a_host_that_asks_to_be_left_alone_is(self, shop: Shop) -> None:
        site = shop.open()
        until = timezone.now() + timedelta(hours=1)
        hosts.keep_pause(host=hosts.find_host(origin=shop.host.url), until=until)
        job = check_as_worker(site)

        assert (Job.State.DUE, until, []) == (job.state, job.due_at, shop.host.asked)

    def test_a_host_that_is_never_free_ends_the_check_with_the_reason(self, shop: Shop) -> None:
        site = shop.open()
        crawl = claim_job(create_job(task="tests.crawl", queue=Job.Queue.FETCH, title="Crawl").pk)
        hosts.lease_host(host=hosts.find_host(origin=shop.host.url), job=crawl.job)
        job = enqueue(check_request(site=site))
        long_ago = timezone.now() - timedelta(hours=7)
        Job.objects.filter(pk=job.pk).update(created_at=long_ago)
        waiting = run_job(job.pk, run_checks)
        assert Job.State.DUE == waiting.state, "it has not waited, old as it is"
        Job.objects.filter(pk=job.pk).update(waits_since=long_ago, due_at=timezone.now())
        done = run_job(job.pk, run_checks)

        assert (Job.State.FAILED, True) == (done.state, "for more than 6 hours" in done.error)
        retry_job(job=done, actor=None)
        assert Job.State.DUE == run_job(job.pk, run_checks).state, "its time begins anew"


class TestSilentHost:
    def test_a_host_that_hangs_is_given_up(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = shop.open()
        site.obey_robots = False
        site.save()
        monkeypatch.setattr(fresh_pages, "PAGE_SECONDS", 0.2)
        shop.routes.update(
            {path: Answer(raw=lambda _handler: time.sleep(1.0)) for path in shop.routes}
        )
        job = run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        assert (Job.State.DONE, False) == (job.state, (job.result or {})["site_changed"])
        assert {"silent"} < set(CheckedPage.objects.values_list("why", flat=True))
        assert len(set(shop.asked())) <= 3
        assert "cannot be reached" in Alert.objects.get().text


class TestInDoubt:
    def test_an_outage_is_waited_for_before_it_counts(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = None
        job = check_as_worker(site)
        assert {"waits_for": N, "check": Check.objects.get().pk} == job.result
        assert not Alert.objects.exists()
        shop.make = product
        come_back()

        check = Check.objects.done().get()
        assert (2, N, False) == (check.n_rounds, check.n_reachable, check.site_changed)
        assert not Alert.objects.exists()

    def test_after_the_last_wait_it_counts(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = None
        check_as_worker(site)
        come_back()
        come_back()

        assert {("forbidden", 3)} == set(CheckedPage.objects.values_list("why", "n_tries"))
        alert = Alert.objects.get()
        assert (
            Alert.Kind.UNREACHABLE,
            f"{N} of {N} bellwethers cannot be reached: {N} forbidden",
        ) == (
            alert.kind,
            alert.text,
        )
        assert not SiteChange.objects.exists()

    def test_a_change_counts_when_it_is_found_twice(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = redesigned
        check_as_worker(site)
        assert not SiteChange.objects.exists()
        come_back()

        change = SiteChange.objects.get()
        assert products_of(site) == change.cluster
        assert [change.cluster.name] == Alert.objects.get(kind=Alert.Kind.SITE_CHANGED).clusters

    def test_one_that_is_gone_by_then_does_not(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = redesigned
        check_as_worker(site)
        shop.make = product
        come_back()

        assert not SiteChange.objects.exists()
        assert not Alert.objects.exists()


class TestErrorsOfTheSite:
    def test_what_it_answers_to_a_random_address_is_no_redesign(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = lost
        shop.routes.other = Answer(lost(9)[1], headers={"Content-Type": "text/html; charset=utf-8"})
        job = run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        assert not (job.result or {})["site_changed"]
        assert {"soft_404"} == set(CheckedPage.objects.values_list("why", flat=True))
        assert ("soft_404", "asked") in ErrorPage.objects.values_list("kind", "source")

    def test_pages_that_lost_all_they_showed_leave_the_site_undecided(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = lost
        job = run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        assert "undecided" == (job.result or {})["state"]
        assert {"not_found"} == set(ErrorPage.objects.values_list("kind", flat=True))


class TestKeptPages:
    def test_changed_pages_are_kept_beside_the_old_ones_and_nothing_is_extracted(
        self, shop: Shop
    ) -> None:
        site = shop.open()
        extract(site)
        latest = dict(Page.objects.values_list("pk", "latest_snapshot"))
        n_records, n_snapshots = Record.objects.there().count(), Snapshot.objects.count()
        shop.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        remaining = CheckedPage.objects.filter(snapshot__isnull=False).select_related("snapshot")
        assert N == remaining.count()
        assert all(each.snapshot and each.snapshot.pk != latest[each.page_id] for each in remaining)
        assert latest == dict(Page.objects.values_list("pk", "latest_snapshot"))
        assert (n_snapshots + N, n_records) == (
            Snapshot.objects.count(),
            Record.objects.there().count(),
        )

    def test_three_pages_show_on_both_sides_what_the_verdict_rests_on(
        self, shop: Shop, client: Client
    ) -> None:
        site = shop.open()
        shop.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
        check = Check.objects.get(site=site)
        client.force_login(person("ada", Role.VIEWER))
        page = client.get(reverse("check", args=[site.name, check.pk])).content.decode()
        shown = page.split('<article class="evidence-page"')[1:]
        old, new = evidence_of(check)[0][1:3]

        assert 3 == len(shown)
        for said in ("As it was", "As it is", "The rule lost"):
            assert all(said in each for each in shown)
        assert old is not None
        assert new is not None
        assert old.fetched_at < new.fetched_at

    def test_what_both_sides_of_a_change_are_drawn_with_is_fetched(self, shop: Shop) -> None:
        site = shop.open()
        Job.objects.filter(task="clustering.fetch_assets").delete()
        shop.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        dressed = set(Job.objects.get(task="clustering.fetch_assets").params["snapshots"])
        new = set(CheckedPage.objects.exclude(snapshot=None).values_list("snapshot", flat=True))
        old = set(GoldenRecord.objects.values_list("snapshot", flat=True))
        assert new | old == dressed

    def test_the_same_bytes_are_kept_once(self, shop: Shop) -> None:
        site = shop.open()
        shop.make = redesigned
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
        n_snapshots = Snapshot.objects.count()
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        assert n_snapshots == Snapshot.objects.count()

    def test_pages_as_they_were_are_not_kept(self, shop: Shop) -> None:
        site = shop.open()
        n_snapshots = Snapshot.objects.count()
        run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        assert n_snapshots == Snapshot.objects.count()


class TestUndecided:
    def test_two_designs_on_trial_are_looked_at_again_until_the_same_pages_fail(
        self, shop: Shop
    ) -> None:
        site = shop.open()
        Schedule.objects.update_or_create(
            site=site, defaults={"next_at": timezone.now() + timedelta(days=1)}
        )
        shop.make = lambda n: redesigned(n) if n in ON_TRIAL[0] else product(n)
        first = run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)
        undecided = Check.objects.latest_of(site)

        assert undecided is not None
        assert ("undecided", False) == (undecided.verdict, (first.result or {})["site_changed"])
        assert undecided.again_at is not None
        assert undecided.again_at <= timezone.now() + LOOK_AGAIN_AFTER
        assert undecided.again_at == Schedule.objects.get(site=site).next_at
        assert not SiteChange.objects.exists()

        again = run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

        assert "partly_redesigned" == (again.result or {})["state"]
        assert SiteChange.objects.open().exists()

    def test_one_that_shows_the_new_design_to_others_each_time_stays_undecided(
        self, shop: Shop
    ) -> None:
        site = shop.open()
        for numbers in ON_TRIAL:
            shop.make = lambda n, numbers=numbers: redesigned(n) if n in numbers else product(n)
            job = run_job(create_here(check_request(site=site, is_patient=False)).pk, run_checks)

            assert "undecided" == (job.result or {})["state"]
