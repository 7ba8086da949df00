"""Running the published rules on the stored pages."""

from __future__ import annotations

import shutil

import pytest
from django.utils import timezone
from pytest_django import Settings

from clustering.models import Page, Snapshot
from clustering.services.clusters.cluster_changes import merge_clusters, move_pages
from clustering.services.pages.stored_pages import stored_pages
from rules.algorithms.running.matching import BY_SIGNATURE, NO_SIGNATURE, VARIANTS
from rules.algorithms.running.record_lines import Line, NoRecord
from rules.models import Extraction, Record, RecordVersion, Rule
from rules.services.learning.learning import learn_rule
from rules.services.records.extracting import extract_records, extraction_request, stored_lines
from rules.services.records.published_rules import published_rules
from rules.services.records.storing import ExtractedPage, store_extracted
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.demo_sites import articles, store
from tests.apps.rules.shop_cast import extract, learnt_shop, product, products_of, shop
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import page_store, write_owner

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def line(site_lines: list[dict[str, object]], end: str) -> dict[str, object]:
    return next(site_line for site_line in site_lines if str(site_line["url"]).endswith(end))


class TestRecords:
    def test_every_page_has_a_record_or_a_reason(self) -> None:
        site, rule = learnt_shop()
        assert {"pages": 18, "new": 12, "changed": 0, "gone": 0, "same": 0} == extract(site)
        lines = list(stored_lines(site))

        result = line(lines, "/p/2")
        assert {"name": "Rope 2", "price": "2.50 EUR", "weight": "25 g"} == result["record"]
        assert ["weight"] == line(lines, "/p/3")["missing"]
        assert f"{rule.cluster.name}@1" == result["rule"]
        assert ("no_rule", None) == (
            line(lines, "/news/2")["reason"],
            line(lines, "/news/2")["rule"],
        )

    def test_nothing_is_done_again_while_nothing_is_new(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        numbers = set(Record.objects.values_list("pk", "change_number"))

        assert 0 == extract(site)["pages"]
        assert numbers == set(Record.objects.values_list("pk", "change_number"))

    def test_what_a_rule_finds_on_a_page_that_came_with_an_error_is_no_record(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        store(site, [product(2, name="Nothing here"), product(21, name="Nothing here")])
        new = Snapshot.objects.filter(page__url__in=[f"{site.root_url}p/{n}" for n in (2, 21)])
        new.update(status=404)

        assert {"pages": 2, "new": 0, "changed": 0, "gone": 0, "same": 0} == extract(site)
        assert "Rope 2" == Record.objects.get(page__url=f"{site.root_url}p/2").values["name"]
        assert not Record.objects.filter(page__url=f"{site.root_url}p/21").exists()
        outcome = Extraction.objects.get(page__url=f"{site.root_url}p/21")
        assert ("error_page", "The host answered 404.") == (outcome.reason, outcome.why)

    def test_a_new_value_that_looks_unlike_the_usual_ones_is_doubted(self) -> None:
        site, rule = learnt_shop()
        extract(site)
        store(site, [product(21, price="3.50"), product(22, price="Call us, or 3 shops near")])
        extract(site)
        usual, odd = (Record.objects.get(page__url=f"{site.root_url}p/{n}") for n in (21, 22))

        assert {"name", "price", "weight"} == set(rule.value_looks)
        assert "Call us, or 3 shops near EUR" == odd.values["price"]
        assert 0.97 > odd.confidence["price"] < usual.confidence["price"]
        assert odd.confidence["name"] == usual.confidence["name"]
        assert odd == Record.objects.order_by("record_confidence").first()

    def test_a_changed_page_changes_its_record_and_keeps_what_it_was(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        store(site, [product(2, price="99.00")])
        last = Record.objects.order_by("-change_number").first()

        assert {"pages": 1, "new": 0, "changed": 1, "gone": 0, "same": 0} == extract(site)
        record = Record.objects.get(page__url=f"{site.root_url}p/2")
        assert "99.00 EUR" == record.values["price"]
        assert ["2.50 EUR"] == [version.values["price"] for version in record.versions.all()]
        assert last is not None
        assert record.change_number > last.change_number

    def test_a_page_that_is_no_product_any_more_loses_its_record_but_not_its_history(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        store(site, [("p/2", articles([2])[0][1], "text/html")])

        assert 1 == extract(site)["gone"]
        record = Record.objects.get(page__url=f"{site.root_url}p/2")
        assert record.gone_at is not None
        assert "no_rule" == line(list(stored_lines(site)), "/p/2")["reason"]
        assert RecordVersion.objects.filter(record=record).exists()

    def test_a_page_on_which_a_rule_was_stopped_keeps_its_record(self) -> None:
        site, rule = learnt_shop()
        extract(site)
        page = Page.objects.get(url=f"{site.root_url}p/2")
        stopped = Line(page.url, rule.cluster.name, None, NoRecord("stopped", "slow"))
        store_extracted(
            [ExtractedPage(next(iter(stored_pages(site, [page.pk]))), [stopped], agrees=True)],
            site_id=site.pk,
            published=published_rules(site),
        )

        assert Record.objects.get(page=page).gone_at is None
        assert "stopped" == Extraction.objects.get(page=page).reason

    def test_a_page_that_cannot_be_read_keeps_its_record_and_stays_due(self) -> None:
        site, rule = learnt_shop()
        extract(site)
        page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}p/2")
        assert page.latest_snapshot is not None
        body = page_store().read(page.latest_snapshot.body)
        page_store().delete(page.latest_snapshot.body)
        publish_rule(rule=learn_rule(cluster=rule.cluster))

        assert {
            "pages": 18,
            "same": 11,
            "new": 0,
            "changed": 0,
            "gone": 0,
            "unreadable": 1,
        } == extract(site)
        assert Record.objects.get(page=page).gone_at is None

        page_store().put(body)
        assert {"pages": 1, "same": 1, "new": 0, "changed": 0, "gone": 0} == extract(site)

    @pytest.mark.parametrize("is_another", [False, True])
    def test_without_the_page_store_nothing_is_gone_and_the_job_waits(
        self, settings: Settings, *, is_another: bool
    ) -> None:
        site, rule = learnt_shop()
        extract(site)
        publish_rule(rule=learn_rule(cluster=rule.cluster))
        away = settings.PAGE_STORE_DIR.with_name("away")
        shutil.move(settings.PAGE_STORE_DIR, away)
        if is_another:
            write_owner(settings.PAGE_STORE_DIR, "somebody-elses")
        job = create_here(extraction_request(site=site))

        waiting = run_job(job.pk, extract_records)

        assert (Job.State.DUE, 0) == (waiting.state, waiting.n_tries)
        assert "page store" in waiting.error
        assert 12 == Record.objects.there().count()

        shutil.rmtree(settings.PAGE_STORE_DIR, ignore_errors=True)
        shutil.move(away, settings.PAGE_STORE_DIR)
        Job.objects.filter(pk=job.pk).update(due_at=timezone.now())
        done = run_job(job.pk, extract_records)

        assert (Job.State.DONE, 12) == (done.state, (done.result or {})["same"])

    def test_many_bodies_that_are_lost_fail_the_job_and_no_record_goes(self) -> None:
        site, rule = learnt_shop()
        extract(site)
        publish_rule(rule=learn_rule(cluster=rule.cluster))
        for name in list(page_store().names())[::2]:
            page_store().delete(name)

        job = run_job(create_here(extraction_request(site=site)).pk, extract_records)

        assert Job.State.FAILED == job.state
        assert "cannot be read" in job.error
        assert 12 == Record.objects.there().count()

    def test_a_new_page_is_assigned_and_extracted(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        store(site, [product(20)])

        assert 1 == extract(site)["new"]

    def test_another_published_rule_lets_all_pages_be_extracted_again(self) -> None:
        site, rule = learnt_shop()
        extract(site)
        publish_rule(rule=learn_rule(cluster=rule.cluster))

        assert {"pages": 18, "same": 12, "new": 0, "changed": 0, "gone": 0} == extract(site)
        assert {2} == set(Record.objects.values_list("rule__version", flat=True))

    def test_change_numbers_are_unique_and_grow(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        numbers = sorted(Record.objects.values_list("change_number", flat=True))

        assert list(range(1, 13)) == numbers

    def test_without_a_published_rule_the_job_says_what_to_do(self) -> None:
        job = run_job(create_here(extraction_request(site=shop())).pk, extract_records)

        assert "learn one first" in job.error


class TestChangesByHand:
    def test_a_page_that_a_person_moved_is_served_by_its_new_cluster(self) -> None:
        site, rule = learnt_shop()
        article = Page.objects.get(site=site, url=f"{site.root_url}news/1")
        move_pages(site=site, pages=[article.pk], to=rule.cluster, actor=None)
        extract(site)

        assert rule.cluster == Extraction.objects.get(page=article).cluster
        assert ["name", "price", "weight"] == line(list(stored_lines(site)), "/news/1")["missing"]

    def test_merged_clusters_are_served_by_the_survivor(self) -> None:
        site, rule = learnt_shop()
        other = site.clusters.exclude(pk=rule.cluster_id).get()
        merge_clusters(cluster=other, into=products_of(site), actor=None)

        names = {name for names in _groups(rule) for name in names}
        assert {rule.cluster.name} == names


class TestTheCountryOfASite:
    def test_pages_are_due_again_and_values_are_read_as_there(self) -> None:
        site, _ = learnt_shop()
        extract(site)
        Site.objects.update(country="DE")
        site.refresh_from_db()

        assert "DE" == next(iter(published_rules(site).rules.rules.values())).country
        assert 18 == extract(site)["pages"]


class TestTheOrderOfThePaper:
    def test_a_site_may_be_matched_by_address_and_signature(self) -> None:
        site, rule = learnt_shop()
        assert 18 == extract(site)["pages"]
        Site.objects.update(match_by=Site.MatchBy.SIGNATURE)
        site.refresh_from_db()
        strange = product(77)[1].replace(b"<body>", b"<body><form><input><input></form>")
        store(site, [("p/77", strange, "text/html"), product(79)])

        # All pages are due, for other pages may be served now.
        assert 20 == extract(site)["pages"]
        lines = list(stored_lines(site))
        assert f"{rule.cluster.name}@1" == line(lines, "/p/79")["rule"]
        assert NO_SIGNATURE == line(lines, "/p/77")["reason"]

    def test_so_is_its_bundle(self) -> None:
        site, _ = learnt_shop()
        Site.objects.update(match_by=Site.MatchBy.SIGNATURE)
        site.refresh_from_db()

        assert BY_SIGNATURE == published_rules(site).rules.clusters.variant

    def test_pages_of_a_merged_cluster_are_those_of_the_survivor(self) -> None:
        site, rule = learnt_shop()
        other = site.clusters.exclude(pk=rule.cluster_id).get()
        merge_clusters(cluster=other, into=products_of(site), actor=None)
        Site.objects.update(match_by=Site.MatchBy.SIGNATURE)
        site.refresh_from_db()
        extract(site)

        assert rule.cluster.name == line(list(stored_lines(site)), "/news/2")["cluster"]

    def test_the_ways_of_a_site_are_those_of_the_algorithm(self) -> None:
        assert set(Site.MatchBy.values) == set(VARIANTS)


def _groups(rule: Rule) -> list[list[str]]:
    grouping = published_rules(rule.cluster.site).rules.clusters.grouping
    assert grouping is not None
    return [list(names) for names in grouping.clusters_by_group.values()]
