"""Each step of the chain starts by itself when its condition holds: once, unless it is paused."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from annotation.models import Sample
from clustering.services.clusters import observing
from monitoring.models import ChainStep, Check
from monitoring.services.stream.chain import (
    CHAIN,
    MIN_PAGES_TO_CLUSTER,
    all_steps_paused,
    go_on,
    pause_step,
)
from rules.models import Rule
from rules.services.records.extracting import EXTRACT_RECORDS
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import articles, shop, store
from tests.apps.monitoring.monitored_shop import shop as shop_with_rule
from vertex.celery import app
from vertex.core.models import AuditEntry, Job, Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def tasks() -> list[str]:
    """Return what is under way, by the last word of its task."""
    of_chain = [task for step in CHAIN for task in step.tasks]
    unfinished = Job.objects.unfinished().filter(task__in=of_chain).order_by("pk")
    return [job.task.rpartition(".")[2] for job in unfinished]


def finish(state: str = Job.State.DONE) -> None:
    Job.objects.unfinished().update(state=state, leased_until=None, lease="")


class TestTheDeclaration:
    def test_each_step_leads_to_one_that_there_is(self) -> None:
        keys = [step.key for step in CHAIN]

        assert {step.follower for step in CHAIN} <= set(keys)
        assert len(keys) == len(set(keys))

    def test_each_task_of_a_step_is_one_that_workers_know(self) -> None:
        from vertex.core.tasks import FETCHING_WORK

        app.loader.import_default_modules()
        known = app.tasks.keys() | FETCHING_WORK.keys()
        assert {task for step in CHAIN for task in step.tasks} <= known

    def test_the_clock_asks_for_it(self) -> None:
        assert "monitoring.go_on" in {each["task"] for each in app.conf.beat_schedule.values()}


class TestFromPagesToRecords:
    def test_a_site_with_enough_pages_is_clustered_once(self) -> None:
        site = site_of("new")
        store(site, articles(range(MIN_PAGES_TO_CLUSTER - 1)))
        go_on()
        assert [] == tasks()

        store(site, articles(range(MIN_PAGES_TO_CLUSTER)))
        go_on()
        go_on()
        assert ["cluster_site"] == tasks()
        finish(Job.State.CANCELLED)
        go_on()
        assert [] == tasks()  # it is asked for again when pages come

    def test_pages_are_read_when_nothing_brings_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(observing, "FEW_PAGES", 3)
        site = site_of("new")
        store(site, articles(range(8)))
        crawl = Job.objects.create(
            task="clustering.crawl_site", queue=Job.Queue.FETCH, site=site, title="Crawl"
        )
        go_on()
        assert ["crawl_site"] == tasks()

        crawl.state = Job.State.DONE
        crawl.save()
        go_on()
        assert ["observe_pages"] == tasks()

    def test_samples_are_drawn_where_a_vertical_describes_the_clusters(self) -> None:
        site = shop_with_rule()

        Sample.objects.all().delete()
        go_on()
        assert "draw_samples" in tasks()
        finish()
        go_on()
        assert "draw_samples" not in tasks()
        assert site.chain_steps.filter(step="samples").exclude(started_for=None).exists()

    def test_a_published_rule_is_run_and_run_again_when_pages_come(self) -> None:
        site = shop_with_rule()
        go_on()
        assert 1 == tasks().count("extract_records")
        finish()
        go_on()
        assert [] == tasks()

        store(site, articles([77]))
        go_on()
        assert ["assign_arrivals", "extract_records"] == tasks()

    def test_a_check_that_found_all_well_lets_pass_what_was_held_back(self) -> None:
        site = shop_with_rule()
        go_on()
        finish()
        check = Check.objects.create(
            site=site, state=Check.State.DONE, verdict=Check.Verdict.REDESIGNED
        )
        go_on()
        assert [] == tasks()

        check.verdict = Check.Verdict.AS_IT_WAS
        check.save()
        go_on()
        assert ["extract_records"] == tasks()

    def test_a_site_without_a_rule_is_not_extracted(self) -> None:
        shop_with_rule()
        Rule.objects.update(state=Rule.State.RETIRED)
        go_on()

        assert "extract_records" not in tasks()

    def test_a_site_that_goes_is_left_alone(self) -> None:
        shop_with_rule()
        Site.objects.update(deletion_requested_at=timezone.now())
        go_on()

        assert [] == tasks()


class TestOnce:
    def test_a_step_that_is_under_way_is_started_for_what_came_meanwhile_after_it(self) -> None:
        site = shop_with_rule()
        go_on()
        store(site, articles([77]))
        go_on()
        assert 1 == tasks().count("extract_records")
        finish()
        go_on()

        assert 1 == tasks().count("extract_records")

    @pytest.mark.django_db(transaction=True)
    def test_two_clocks_at_once_start_a_step_once(self) -> None:
        if connection.vendor == "sqlite":
            pytest.skip("SQLite has one writer at a time")
        shop_with_rule()
        barrier = threading.Barrier(2)

        def tick() -> None:
            barrier.wait()
            go_on()
            connection.close()

        threads = [threading.Thread(target=tick) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert 1 == Job.objects.filter(task=EXTRACT_RECORDS.task).count()


class TestPausing:
    def test_a_paused_step_waits_and_goes_on_where_it_was(self) -> None:
        site = shop_with_rule()
        pause_step(site=site, step="extract", is_paused=True, actor=None)
        go_on()
        assert "extract_records" not in tasks()

        pause_step(site=site, step="extract", is_paused=False, actor=None)
        go_on()
        assert "extract_records" in tasks()
        assert ["chain_step.paused", "chain_step.resumed"] == list(
            AuditEntry.objects.filter(subject="extract")
            .order_by("pk")
            .values_list("action", flat=True)
        )

    @pytest.mark.parametrize("step", ["assign", "check"])
    def test_steps_with_conditions_of_their_own_can_be_paused(self, step: str) -> None:
        site = shop_with_rule()
        for each in CHAIN:
            if each.start is not None and each.key != step:
                pause_step(site=site, step=each.key, is_paused=True, actor=None)
        store(site, articles([77]))
        soon = timezone.now() + timedelta(days=2)
        pause_step(site=site, step=step, is_paused=True, actor=None)
        go_on()
        go_on(soon)
        assert [] == tasks()

        pause_step(site=site, step=step, is_paused=False, actor=None)
        go_on(soon)
        assert 1 == len(tasks())

    def test_only_what_the_machine_begins_can_be_paused(self) -> None:
        site = shop()
        for step in ("publish", "dance"):
            with pytest.raises(ValidationError, match="no step that can be paused"):
                pause_step(site=site, step=step, is_paused=True, actor=None)
        assert not ChainStep.objects.exists()

    def test_what_somebody_takes_step_by_step_is_paused_meanwhile(self) -> None:
        site = shop_with_rule()
        pause_step(site=site, step="extract", is_paused=True, actor=None)
        with all_steps_paused(Site.objects.all()):
            go_on()
            assert [] == tasks()

        assert ["extract"] == list(
            ChainStep.objects.filter(is_paused=True).values_list("step", flat=True)
        )
