"""The pages of rules and records: what they tell, and what their buttons do."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clustering.models import Cluster, ClusterFigures, Clustering
from rules.models import Extraction, Record, RecordVersion, Rule
from rules.views.learning.rule_rows import kinds_of
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.rules.record_cast import (
    DEFINITION,
    STYLESHEET,
    record_of,
    rule_of,
    sampled,
    shop_with_records,
    touched,
)
from vertex.core.models import Job, Role, Site
from vertex.core.services.people import people

pytestmark = pytest.mark.django_db


def client_of(role: Role) -> Client:
    user = people.create_user(username=role.value, role=role, site=None, actor=None)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ada() -> Client:
    return client_of(Role.ADMINISTRATOR)


def seen(client: Client, name: str, *parts: object, query: str = "") -> str:
    response = client.get(reverse(name, args=["shop", *parts]) + query)
    assert 200 == response.status_code
    return response.content.decode()


def two_versions() -> tuple[Rule, Rule]:
    """Return a published rule and a draft after it, each with a sample."""
    site = site_of("shop")
    first = rule_of(site)
    second = rule_of(site, state=Rule.State.DRAFT, stylesheet=STYLESHEET.replace("h1", "h1[1]"))
    sampled(first, 1)
    sampled(second, 2)
    return first, second


class TestPlaces:
    """Where values stand: in a sentence, and lit on a stored page."""

    def marks(self, client: Client, name: str, *parts: object) -> list[dict[str, Any]]:
        lit = client.get(reverse(name, args=["shop", *parts])).context["lit"]
        line: list[dict[str, Any]] = json.loads(lit.marks)
        return line

    def test_a_rule_says_it_in_words_and_lights_the_text_alone(self, ada: Client) -> None:
        rule, [record] = shop_with_records(1)
        page = page_of(rule.cluster.site, "lit", b"<h1> Trail <b>R</b>unner </h1>")
        nodes = {"name": "/html/body/h1/text()[2]", "price": "/html/body/h1/b", "sizes": ["//x"]}
        Record.objects.update(snapshot=page.latest_snapshot, nodes=nodes)

        assert "the text in the heading" in seen(ada, "rule", rule.cluster.name)
        for name, key in (("rule", rule.cluster.name), ("record", record.pk)):
            places = {mark["label"]: mark["text"] for mark in self.marks(ada, name, key)}
            assert {"name": [1, 0, 5], "price": None} == places

    def test_a_rule_without_records_has_no_picture(self, ada: Client) -> None:
        rule = rule_of(site_of("shop"))
        assert "data-lit" not in seen(ada, "rule", rule.cluster.name)


class TestRules:
    def test_each_cluster_has_a_line_with_its_rule_and_coverage(self, ada: Client) -> None:
        rule, records = shop_with_records(1)
        Extraction.objects.create(
            site=rule.cluster.site,
            page=records[0].page,
            snapshot_seen=1,
            cluster=rule.cluster,
            rule=rule,
            rules_seen="x",
            n_records=1,
        )
        text = seen(ada, "rules")

        assert "Product pages" in text
        assert "100.0 %" in text
        assert "1 XPath" in text
        assert "1 No rule" in text

    def test_each_row_leads_to_what_can_be_done(self, ada: Client) -> None:
        rule, second = two_versions()
        bare = Cluster.objects.create(site=rule.cluster.site, name="guide", title="Guide")
        current = Clustering.objects.current().get()
        ClusterFigures.objects.create(clustering=current, cluster=bare, n_pages=1)
        text = seen(ada, "rules")

        review = [rule.cluster.site.name, rule.cluster.name, second.version]
        assert reverse("review_rule", args=review) in text
        assert reverse("annotate_page", args=["shop", "guide", 1]) in text

    def test_nobody_is_led_to_annotate_a_log_in(self, ada: Client) -> None:
        rule, _ = two_versions()
        log_in = Cluster.objects.create(site=rule.cluster.site, name="log-in", title="Way in")
        current = Clustering.objects.current().get()
        ClusterFigures.objects.create(
            clustering=current, cluster=log_in, n_pages=1, kind="login", certainty=0.9
        )
        text = seen(ada, "rules")

        assert reverse("annotate_page", args=["shop", "log-in", 1]) not in text
        assert "Log-in</span>" in text

    def test_a_page_and_a_cluster_lead_to_annotating_rule_and_records(self, ada: Client) -> None:
        rule, _ = two_versions()
        page = rule.cluster.site.pages.earliest("pk")
        text = seen(ada, "page", page.pk)
        assert reverse("annotate_page", args=["shop", page.pk]) in text
        assert reverse("cluster", args=["shop", rule.cluster.name]) in text
        assert "data-page-frame" in text
        text = seen(ada, "cluster", rule.cluster.name)
        for view in ("rule", "annotate_page"):
            parts = [1] if view == "annotate_page" else []
            assert reverse(view, args=["shop", rule.cluster.name, *parts]) in text

    def test_attributes_by_hand_are_counted_too(self, ada: Client) -> None:
        rule = rule_of(site_of("shop"))
        rule.figures = [
            {"attribute": "name", "kind": "xpath"},
            {"attribute": "price", "kind": "by_hand"},
        ]
        assert [("XPath", 1), ("By hand", 1)] == [(word, n) for _, word, n in kinds_of(rule)]

        rule.save()
        assert "1 By hand" in seen(ada, "rules")

    def test_a_newer_draft_waits(self, ada: Client) -> None:
        two_versions()

        assert "draft 2 waits" in seen(ada, "rules")

    def test_without_clusters_it_says_what_to_do(self, ada: Client) -> None:
        site_of("shop")
        assert "not grouped into clusters yet" in seen(ada, "rules")

    def test_a_search_that_finds_nothing_is_told(self, ada: Client) -> None:
        two_versions()
        assert "No rule matches" in seen(ada, "rules", query="?q=ghost")


class TestRule:
    def test_it_tells_why(self, ada: Client) -> None:
        two_versions()
        text = seen(ada, "rule", "products")

        for each in (
            "//h1/text()",
            "//div[2]/h1/text()",
            "no conjunction of features tells the price from the old price",
            "https://shop.example/p1",
            "100.0 % of 20",
            "Written by hand.",
        ):
            assert each in text

    def test_attributes_without_a_rule_for_one_reason_say_it_once(self, ada: Client) -> None:
        missing = [f"https://shop.example/p{number}" for number in range(12)]
        unlearnt = {"kind": "none", "n_annotated": 0, "missing_on": missing, "reason": "no page"}
        figures = [{"attribute": name, **unlearnt} for name in ("price", "sizes")]
        rule_of(site_of("shop"), definition={}, figures=figures)
        text = seen(ada, "rule", "products")

        assert "price, sizes" in text
        assert 1 == text.count("Why there is none") == text.count(f"{missing[9]}<")
        assert "and 2 more samples" in text

    def test_a_list_tells_where_its_records_begin(self, ada: Client) -> None:
        boundary = {"first": {"xpath": "//li[@class='row']"}, "n_siblings": 2}
        rule_of(site_of("shop"), definition=DEFINITION | {"boundary": boundary})
        text = seen(ada, "rule", "products")

        assert "//li[@class=&#x27;row&#x27;]" in text
        assert "and takes 2 siblings" in text

    def test_a_draft_of_an_attribute_says_how_many_annotated_pages_it_reads_right(
        self, ada: Client
    ) -> None:
        learnt, _ = two_versions()
        figure = next(row for row in learnt.figures if row["attribute"] == "price")
        figure |= {"draft": True, "n_right": 2, "n_annotated": 3, "reason": "xpath: nothing"}
        learnt.save()
        page = seen(ada, "rule", learnt.cluster.name, query=f"?version={learnt.version}")
        assert "Draft: right on 2 of 3 annotated pages." in page
        assert "Why there is none" not in page

    def test_versions_are_compared_line_by_line(self, ada: Client) -> None:
        two_versions()
        text = seen(ada, "rule", "products", query="?version=2&compare=1")

        assert "From version 1 to 2" in text
        assert "is-added" in text
        assert "h1[1]" in text

    def test_a_version_that_is_not_there_gives_404(self, ada: Client) -> None:
        two_versions()
        address = reverse("rule", args=["shop", "products"])

        assert [404, 404, 200] == [
            ada.get(f"{address}?version={each}").status_code for each in ("9", "x" * 50, "1")
        ]

    def test_a_cluster_without_rule_says_what_is_missing(self, ada: Client) -> None:
        rule = rule_of(site_of("shop"))
        rule.delete()

        assert "Nobody has said what the pages of shop describe" in seen(ada, "rule", "products")

    def test_the_stylesheet_is_a_file(self, ada: Client) -> None:
        two_versions()
        answer = ada.get(reverse("stylesheet", args=["shop", "products", 1]))

        assert STYLESHEET == answer.content.decode()
        assert 'attachment; filename="products-1.xsl"' == answer["Content-Disposition"]

    def test_what_a_hostile_stylesheet_holds_is_shown_as_text(self, ada: Client) -> None:
        rule_of(site_of("shop"), stylesheet="<script>alert(1)</script>", definition={}, figures=[])
        text = seen(ada, "rule", "products")

        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text


class TestChanges:
    def test_publishing_and_rolling_back(self, ada: Client) -> None:
        first, second = two_versions()
        answer = ada.post(reverse("publish_rule", args=["shop", "products", 2]), follow=True)
        assert b"Version 2 serves Product pages now." in answer.content

        answer = ada.post(reverse("roll_back_rule", args=["shop", "products", 2]), follow=True)
        assert b"Version 1 serves Product pages again." in answer.content
        assert [first.pk] == list(Rule.objects.published().values_list("pk", flat=True))
        second.refresh_from_db()
        assert Rule.State.RETIRED == second.state

    def test_why_a_rule_is_not_published_is_told(self, ada: Client) -> None:
        rule_of(site_of("shop"), state=Rule.State.DRAFT)
        answer = ada.post(reverse("publish_rule", args=["shop", "products", 1]), follow=True)

        assert b"extracts nothing from any of its samples" in answer.content
        assert not Rule.objects.published().exists()

    def test_learning_and_extracting_start_jobs_once(self, ada: Client) -> None:
        two_versions()
        ada.post(reverse("learn_rules", args=["shop"]), {"cluster": "products"})
        for _ in range(2):
            answer = ada.post(reverse("extract_records", args=["shop"]), follow=True)

        assert b"is already" in answer.content
        assert ["rules.learn_rules", "rules.extract_records"] == list(
            Job.objects.order_by("pk").values_list("task", flat=True)
        )

    @pytest.mark.parametrize(
        ("name", "parts", "role"),
        [
            ("learn_rules", [], Role.EDITOR),
            ("publish_rule", ["products", 2], Role.REVIEWER),
            ("roll_back_rule", ["products", 1], Role.REVIEWER),
            ("extract_records", [], Role.OPERATOR),
            ("export_records", [], Role.OPERATOR),
        ],
    )
    def test_a_role_too_low_changes_nothing(
        self, name: str, parts: list[object], role: Role
    ) -> None:
        two_versions()
        lower = Role(Role.values[Role.values.index(role) - 1])
        address = reverse(name, args=["shop", *parts])

        assert 403 == client_of(lower).post(address).status_code
        assert 302 == client_of(role).post(address).status_code


class TestRecords:
    @pytest.mark.both_databases
    def test_the_table_shows_values_and_is_searched_by_them(self, ada: Client) -> None:
        _, records = shop_with_records(3)
        touched(records[0], name="Größenwahn")

        assert "$89.00" in seen(ada, "records")
        for query in ("?q=Größenwahn", "?q=/r0"):
            text = seen(ada, "records", query=query)
            assert "Größenwahn" in text
            assert "Trail Runner" not in text
        assert "No record matches" in seen(ada, "records", query="?q=nowhere")

    @pytest.mark.parametrize(
        ("state", "shown"),
        [
            ("", {0, 1, 2}),
            ("least-sure", {1}),
            ("failed", {2}),
            ("problems", {0}),
            ("gone", {3}),
            ("all", {0, 1, 2, 3}),
        ],
    )
    def test_the_states_narrow(self, ada: Client, state: str, shown: set[int]) -> None:
        _, records = shop_with_records(4)
        Record.objects.filter(pk=records[0].pk).update(problems={"price": "it is no price"})
        Record.objects.filter(pk=records[1].pk).update(record_confidence=0.5)
        Record.objects.filter(pk=records[2].pk).update(failed={"price": "the regex refuses it"})
        Record.objects.filter(pk=records[3].pk).update(gone_at=timezone.now())
        text = seen(ada, "records", query=f"?state={state}")

        assert shown == {
            n for n, record in enumerate(records) if f'id="record-{record.pk}"' in text
        }

    def test_values_that_could_not_be_read_are_counted_and_said(self, ada: Client) -> None:
        rule, records = shop_with_records(3)
        for record in records[:2]:
            Record.objects.filter(pk=record.pk).update(problems={"price": "'soon' is no price"})

        assert "Values that could not be read" in seen(ada, "records")
        assert "2 records" in seen(ada, "records")
        assert "Not readable" in seen(ada, "rule", rule.cluster.name)
        assert "soon" in seen(ada, "record", records[0].pk)
        assert "soon" not in seen(ada, "record", records[2].pk)

    def test_parts_of_the_table_follow_each_other(self, ada: Client) -> None:
        shop_with_records(60)
        text = seen(ada, "records")
        after = text.partition("?after=")[2].partition('"')[0]
        rest = seen(ada, "records", query=f"?after={after}")

        assert (50, 10) == (text.count('id="record-'), rest.count('id="record-'))

    def test_without_records_it_says_what_to_do(self, ada: Client) -> None:
        site = site_of("shop")
        assert "has no published rule yet" in seen(ada, "records")
        rule_of(site)
        assert "A rule is published" in seen(ada, "records")

    def test_the_download_holds_what_the_table_shows(self, ada: Client) -> None:
        _, records = shop_with_records(3)
        touched(records[1], name="Red boot")
        answer: Any = ada.get(reverse("download_records", args=["shop"]) + "?format=csv&q=boot")
        rows = list(
            csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline=""))
        )

        assert ["Red boot"] == [row["name"] for row in rows]

    def test_pages_without_a_record_are_counted_by_reason(self, ada: Client) -> None:
        site: Site = site_of("shop")
        page = page_of(site, "list")
        Extraction.objects.create(
            site=site, page=page, snapshot_seen=1, rules_seen="x", reason="no_rule"
        )

        assert "no rule</dt><dd>1 page</dd>" in seen(ada, "records")


class TestRecord:
    def test_it_shows_values_places_failures_and_history(self, ada: Client) -> None:
        rule, (record,) = shop_with_records(1)
        Record.objects.filter(pk=record.pk).update(
            missing=["colour"],
            failed={"colour": "mandatory, but the rule selects no node on this page"},
        )
        RecordVersion.objects.create(
            record=record,
            values=record.values | {"name": "Old name"},
            rule=rule,
            since=timezone.now(),
        )
        text = seen(ada, "record", record.pk)

        for each in (
            "Trail Runner",
            "/html/body/h1/text()",
            "mandatory, but the rule selects no node",
            "Old name",
            "<li>41</li>",
            "89.00",
        ):
            assert each in text

    def test_a_price_is_written_as_people_write_it(self, ada: Client) -> None:
        _, (record,) = shop_with_records(1)
        record.normalized = {"price": {"amount": "89.00", "currency": "EUR"}}
        record.save()

        assert "89.00 EUR" in seen(ada, "record", record.pk)

    def test_a_record_of_another_site_is_not_found(self, ada: Client) -> None:
        _, (record,) = shop_with_records(1)
        guide = site_of("guide")

        assert 404 == ada.get(reverse("record", args=[guide.name, record.pk])).status_code

    def test_what_a_page_says_is_shown_as_text(self, ada: Client) -> None:
        rule, _ = shop_with_records(1)
        hostile = record_of(
            rule,
            page_of(rule.cluster.site, "x"),
            values={"name": "<script>alert(1)</script>", "sizes": ["<b>"]},
        )

        for text in (seen(ada, "record", hostile.pk), seen(ada, "records")):
            assert "<script>alert(1)" not in text
            assert "&lt;script&gt;alert(1)" in text


def test_the_file_of_an_export_is_handed_out(
    ada: Client, settings: object, tmp_path: object
) -> None:
    site = site_of("shop")
    job = Job.objects.create(
        task="rules.export_records",
        site=site,
        state=Job.State.DONE,
        queue="keep",
        result={"file": "../secret"},
    )

    assert 404 == ada.get(reverse("record_file", args=["shop", job.pk])).status_code
    assert 302 == ada.post(reverse("export_records", args=["shop"]), {"format": "csv"}).status_code
