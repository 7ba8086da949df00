"""The table of a list becomes a rule: vertical, cluster, annotations, and what the rule finds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Attribute, Vertical
from annotation.services.verticals.policies import change_policy
from annotation.services.verticals.verticals import BadVertical, save_vertical
from clustering.models import Cluster, Page
from clustering.services.clusters.arrivals import assign_arrivals
from rules.models import Record, Rule
from rules.services.lists.accepting_lists import ChosenColumn, accept_list, acceptance_request
from rules.services.lists.shown_tables import shown_tables
from rules.services.records.extracting import extract_records
from tests.apps.clustering.demo_sites import cluster as cluster_pages
from tests.apps.clustering.demo_sites import details, store
from tests.apps.rules.list_cast import N_RECORDS, latest, list_page, rule_of_list, stored_list
from vertex.core.models import Job, Role, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here, enqueue
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def ada() -> User:
    return people.create_user(username="ada", role=Role.ADMINISTRATOR, site=None, actor=None)


def accepted(page: Page, actor: User, *, publishes: bool = False, vertical: str = "thing") -> Job:
    """Accept the columns name and price of a page's best list."""
    assert page.latest_snapshot is not None
    page.latest_snapshot.page = page
    job = create_here(
        acceptance_request(
            snapshot=page.latest_snapshot,
            rank=1,
            columns=[
                ChosenColumn("name", "title", "text"),
                ChosenColumn("price", "price", "price"),
            ],
            vertical=vertical,
            publishes=publishes,
        ),
        actor=actor,
    )
    return run_job(job.pk, accept_list)


def result_of(job: Job) -> dict[str, Any]:
    assert Job.State.DONE == job.state, job.error
    assert isinstance(job.result, dict)
    return job.result


class TestSiteWithOnePage:
    def test_is_clustered_and_its_list_has_a_rule_that_gives_the_table_back(
        self, ada: User
    ) -> None:
        page = stored_list()
        result = result_of(accepted(page, ada))

        assert (N_RECORDS, 0, 0) == (result["records"], result["different"], result["left_out"])
        assert Rule.State.DRAFT == rule_of_list(page.site).state
        assert ["title", "price"] == list(
            Vertical.objects.get(name="thing").attributes.values_list("name", flat=True)
        )

    def test_records_and_values_are_annotated_as_accepted_suggestions(self, ada: User) -> None:
        page = stored_list()
        accepted(page, ada)
        annotations = Annotation.objects.live().filter(page=page)

        assert {Annotation.Source.SUGGESTION} == set(annotations.values_list("source", flat=True))
        assert N_RECORDS == annotations.filter(kind="record").count()
        assert N_RECORDS == annotations.filter(attribute__name="title", kind="value").count()
        prices = annotations.filter(attribute__name="price")
        lacking = len([k for k in range(N_RECORDS) if k % 3 == 0])
        assert (N_RECORDS - lacking, lacking) == tuple(
            prices.filter(kind=kind).count() for kind in ("value", "absent")
        )

    def test_done_again_it_says_the_same(self, ada: User) -> None:
        page = stored_list()
        accepted(page, ada)
        n_before = Annotation.objects.count()
        accepted(page, ada)

        assert n_before == Annotation.objects.count()
        assert [1, 2] == list(Rule.objects.order_by("version").values_list("version", flat=True))

    def test_published_at_once_its_records_come_without_a_shifted_price(self, ada: User) -> None:
        page = stored_list()
        change_policy(site=page.site, publishing="anybody", second_share=0, actor=None)

        assert result_of(accepted(page, ada, publishes=True))["published"]
        run_job(Job.objects.get(task="rules.extract_records").pk, extract_records)
        prices = {
            record.values["title"]: record.values.get("price") for record in Record.objects.all()
        }
        assert {
            f"The thing {k}": f"{k}.50 EUR" if k % 3 else None for k in range(N_RECORDS)
        } == prices

    def test_where_a_second_person_is_asked_for_the_rule_is_proposed(self, ada: User) -> None:
        page = stored_list()
        change_policy(site=page.site, publishing="second", second_share=0, actor=None)
        result = result_of(accepted(page, ada, publishes=True))

        assert not result["published"]
        assert "second person" in result["why"]
        assert Rule.State.PROPOSED == rule_of_list(page.site).state


class TestCluster:
    def test_is_the_pages_own_where_it_has_one(self, ada: User) -> None:
        page = stored_list()
        cluster_pages(page.site)
        names = set(Cluster.objects.values_list("name", flat=True))

        assert result_of(accepted(page, ada))["cluster"] in names
        assert names == set(Cluster.objects.values_list("name", flat=True))

    def test_of_another_vertical_keeps_its_other_pages(self, ada: User) -> None:
        first = stored_list()
        store(first.site, [("list2", list_page(1), "text/html")])
        things = result_of(accepted(first, ada))["cluster"]
        others = result_of(accepted(latest(first.site, "list2"), ada, vertical="other"))["cluster"]

        assert things != others
        assert ["other", "thing"] == list(
            Rule.objects.order_by("-pk").values_list("vertical__name", flat=True)
        )

    def test_with_one_page_alone_may_change_its_vertical(self, ada: User) -> None:
        page = stored_list()
        things = result_of(accepted(page, ada))["cluster"]

        assert things == result_of(accepted(page, ada, vertical="other"))["cluster"]

    def test_of_a_new_page_of_a_clustered_site_is_found(self, ada: User) -> None:
        page = stored_list()
        site = page.site
        store(site, details(range(6)))
        cluster_pages(site)

        assert N_RECORDS == result_of(accepted(page, ada))["records"]


class TestPagesThatComeLater:
    def test_do_not_count_as_lists_because_the_site_had_only_one(self, ada: User) -> None:
        page = stored_list()
        change_policy(site=page.site, publishing="anybody", second_share=0, actor=None)
        accepted(page, ada, publishes=True)
        store(page.site, [*details(range(6)), ("list?page=2", list_page(1), "text/html")])
        assign_arrivals(site=page.site)
        run_job(Job.objects.get(task="rules.extract_records").pk, extract_records)

        urls = Counter(Record.objects.values_list("page__url", flat=True))
        root = page.site.root_url
        assert {f"{root}list": N_RECORDS, f"{root}list?page=2": N_RECORDS} == urls


class TestVertical:
    def test_of_that_name_keeps_what_it_has(self, ada: User) -> None:
        save_vertical(
            name="thing", attributes=[AttributeType("title", is_constant=True)], actor=None
        )
        accepted(stored_list(), ada)

        attributes = Attribute.objects.filter(vertical__name="thing").live()
        assert [("title", True), ("price", False)] == list(
            attributes.values_list("name", "is_constant")
        )

    def test_names_that_cannot_be_used_are_refused(self, ada: User) -> None:
        with pytest.raises(BadVertical, match="no thing"):
            accepted(stored_list(), ada, vertical="no thing")

    def test_without_columns_nothing_is_asked_for(self, ada: User) -> None:
        page = stored_list()
        assert page.latest_snapshot is not None
        with pytest.raises(ValidationError, match="at least one column"):
            enqueue(
                acceptance_request(
                    snapshot=page.latest_snapshot, rank=1, columns=[], vertical="x", publishes=False
                ),
                actor=ada,
            )


class TestForm:
    def filled(self, client: Client, address: str) -> dict[str, Any]:
        """Return what the form sends as it is opened."""
        context = client.get(address).context
        sent = {field.html_name: field.value() for field in context["form"]}
        for row in (context["columns"].management_form, *context["columns"].forms):
            sent |= {field.html_name: field.value() for field in row}
        return {name: value for name, value in sent.items() if value not in (None, False)}

    def test_sent_as_it_is_opened_makes_a_rule_of_all_columns(self, ada: User) -> None:
        page = stored_list()
        client = Client()
        client.force_login(ada)
        address = reverse("accept_list", args=["shop", page.pk]) + "?list=1"
        answer = client.post(address, self.filled(client, address))

        job = run_job(Job.objects.get(task="rules.accept_list").pk, accept_list)
        assert answer["Location"] == reverse("table_job", args=["shop", job.pk])
        result = result_of(job)
        assert 0 == result["different"]
        lead = client.get(answer["Location"])["Location"]
        assert lead == reverse("rule", args=["shop", result["cluster"]]) + "?version=1"
        assert shown_tables(page.latest_snapshot)[0].n_records == result["records"]  # type: ignore[arg-type]

    def test_a_bad_name_is_told_at_its_column(self, ada: User) -> None:
        page = stored_list()
        client = Client()
        client.force_login(ada)
        address = reverse("accept_list", args=["shop", page.pk]) + "?list=1"
        sent = self.filled(client, address) | {"columns-0-name": "no name"}
        answer = client.post(address, sent)

        assert 400 == answer.status_code
        assert b"id_columns-0-name_error" in answer.content
        assert not Job.objects.exists()
