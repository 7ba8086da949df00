"""Learning a cluster's rule from what is annotated, and publishing it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError
from django.utils import timezone

from annotation.models import Annotation, Assignment, Attribute
from clustering.models import Page, Snapshot
from clustering.services.sites.retention import sweep, sweep_request
from rules.models import Bellwether, GoldenRecord, Record, Rule, RuleSample
from rules.services.learning import learning
from rules.services.learning.learning import learn_rule, learn_rules, learning_request
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.shop_cast import (
    annotate_product,
    extract,
    learnt_shop,
    listing,
    product,
    products_of,
    shop,
)
from vertex.core.models import AuditEntry, Job, Site
from vertex.core.services.jobs.jobs import JobFailed, run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def refused_job(site: Site, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Return a job whose rule was learnt, and could not be published the first time."""
    job = create_here(learning_request(site=site, is_draft=False))
    monkeypatch.setattr(learning, "publish_rule", refuse_once(monkeypatch))
    run_job(job.pk, learn_rules)
    return job


def refuse_once(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what loses the database where a rule is published, and publishes the next time."""

    def lose(**_: object) -> None:
        monkeypatch.setattr(learning, "publish_rule", publish_rule)
        raise OperationalError("terminating connection")

    return lose


class TestLearning:
    def test_a_rule_tells_how_each_attribute_is_found(self) -> None:
        site = shop()
        annotate_product(site, 1)
        annotate_product(site, 3)
        rule = learn_rule(cluster=products_of(site))

        told = {line["attribute"]: line for line in rule.figures}
        assert ["xpath"] * 3 == [line["kind"] for line in rule.figures]
        assert 2 == told["name"]["n_annotated"]
        assert [] == told["price"]["missing_on"]
        assert {f"{site.root_url}p/{n}" for n in (3, 6, 9, 12)} == set(told["weight"]["missing_on"])

    def test_each_rule_of_a_cluster_is_a_further_version(self) -> None:
        _, first = learnt_shop()

        assert (1, 2) == (first.version, learn_rule(cluster=first.cluster).version)
        assert Rule.State.PUBLISHED == Rule.objects.get(pk=first.pk).state

    def test_a_job_that_was_cut_off_before_it_published_learns_no_further_version(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = shop()
        for number in (1, 3):
            annotate_product(site, number)
        job = create_here(learning_request(site=site, is_draft=False))
        monkeypatch.setattr(learning, "publish_rule", refuse_once(monkeypatch))

        assert Job.State.DUE == run_job(job.pk, learn_rules).state
        assert [(1, Rule.State.DRAFT)] == list(Rule.objects.values_list("version", "state"))
        Job.objects.update(due_at=timezone.now())
        assert Job.State.DONE == run_job(job.pk, learn_rules).state
        assert [(1, Rule.State.PUBLISHED)] == list(Rule.objects.values_list("version", "state"))

    def test_a_job_that_is_tried_again_learns_what_was_annotated_since(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = shop()
        annotate_product(site, 1)
        job = refused_job(site, monkeypatch)
        annotate_product(site, 3)
        Job.objects.update(due_at=timezone.now())

        assert Job.State.DONE == run_job(job.pk, learn_rules).state
        assert [2] == list(Rule.objects.published().values_list("version", flat=True))

    def test_a_job_that_is_tried_again_heeds_a_changed_vertical(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = shop()
        annotate_product(site, 1)
        job = refused_job(site, monkeypatch)
        Attribute.objects.filter(name="name").update(is_constant=False)
        Job.objects.update(due_at=timezone.now())

        assert Job.State.DONE == run_job(job.pk, learn_rules).state
        assert [2] == list(Rule.objects.published().values_list("version", flat=True))

    def test_an_attribute_that_nobody_annotated_says_so(self) -> None:
        site = shop()
        annotate_product(site, 1)
        Annotation.objects.filter(attribute__name="price").delete()
        told = {line["attribute"]: line for line in learn_rule(cluster=products_of(site)).figures}

        assert "none" == told["price"]["kind"]
        assert "no page was annotated" in told["price"]["reason"]

    def test_the_samples_stay_as_they_were_when_the_rule_was_learnt(self) -> None:
        site, rule = learnt_shop()
        before = set(RuleSample.objects.filter(rule=rule).values_list("snapshot", flat=True))
        for round_ in range(3):
            store(site, [product(n, price=f"{round_}{n}.00") for n in range(1, 13)])
        run_job(create_here(sweep_request()).pk, sweep)

        assert before == set(Snapshot.objects.filter(pk__in=before).values_list("pk", flat=True))

    def test_without_a_vertical_nobody_knows_what_to_learn(self) -> None:
        site = shop()
        annotate_product(site, 1)
        Assignment.objects.all().delete()

        with pytest.raises(JobFailed, match="assign one first"):
            learn_rule(cluster=products_of(site))

    def test_a_job_without_annotations_fails_with_what_to_do(self) -> None:
        site = shop()
        job = run_job(create_here(learning_request(site=site)).pk, learn_rules)

        assert "failed" == job.state
        assert "annotate a page first" in job.error

    def test_a_job_learns_only_annotated_clusters(self) -> None:
        site = shop()
        annotate_product(site, 2)
        job = run_job(create_here(learning_request(site=site, is_draft=False)).pk, learn_rules)

        assert {"rules": 1, "published": 1} == job.result
        assert [products_of(site).name] == [rule.cluster.name for rule in Rule.objects.published()]

    def test_an_unknown_cluster_is_refused_with_those_there_are(self) -> None:
        site = shop()

        with pytest.raises(ValidationError, match=products_of(site).name):
            create_here(learning_request(site=site, cluster="nothing"))


class TestRecordsOfAList:
    def test_each_annotated_record_becomes_a_record(self) -> None:
        site = listing()
        rule = learn_rule(cluster=site.clusters.get())
        publish_rule(rule=rule)
        extract(site)

        page = Page.objects.get(site=site, url=f"{site.root_url}list/4")
        results = [record.values for record in Record.objects.filter(page=page).order_by("index")]
        assert [
            {"name": "Item 41", "price": "41 EUR"},
            {"name": "Item 42"},
            {"name": "Item 43", "price": "43 EUR"},
        ] == results


class TestPublishing:
    def test_bellwethers_and_golden_records_come_with_it(self) -> None:
        site, rule = learnt_shop()
        golden = GoldenRecord.objects.get(rule=rule, page__url=f"{site.root_url}p/1")

        assert 12 == Bellwether.objects.filter(cluster=rule.cluster).count()
        assert "Rope 1" == golden.records[0]["record"]["name"]
        assert AuditEntry.objects.filter(action="rule.published", subject=str(rule)).exists()

    def test_the_rule_before_retires(self) -> None:
        _, first = learnt_shop()
        second = learn_rule(cluster=first.cluster)
        publish_rule(rule=second)
        first.refresh_from_db()

        assert (Rule.State.RETIRED, Rule.State.PUBLISHED) == (first.state, second.state)

    def test_an_earlier_version_serves_again(self) -> None:
        _, first = learnt_shop()
        publish_rule(rule=learn_rule(cluster=first.cluster))
        publish_rule(rule=first)

        assert [first.pk] == [rule.pk for rule in Rule.objects.published()]

    def test_a_changed_constant_value_is_refused_unless_forced(self) -> None:
        _, first = learnt_shop()
        wrong = learn_rule(cluster=first.cluster)
        wrong.stylesheet = wrong.stylesheet.replace("'name'", "'text'")
        wrong.save()

        with pytest.raises(ValidationError, match=r"name of .* was 'Rope"):
            publish_rule(rule=wrong)
        assert [first.pk] == [rule.pk for rule in Rule.objects.published()]
        publish_rule(rule=wrong, is_forced=True)
        assert [wrong.pk] == [rule.pk for rule in Rule.objects.published()]

    def test_a_rule_that_extracts_nothing_is_not_published(self) -> None:
        _, first = learnt_shop()
        empty = learn_rule(cluster=first.cluster)
        empty.stylesheet = (
            '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
            '<xsl:template match="/"><record/></xsl:template></xsl:stylesheet>'
        )
        empty.save()

        with pytest.raises(ValidationError, match="extracts nothing"):
            publish_rule(rule=empty)
        assert extract(first.cluster.site)["new"] == 12
