"""Fields that nobody annotated become attributes, annotations and a rule."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Attribute
from clustering.models import Cluster
from clustering.services.clusters.found_fields import cluster_fields
from rules.models import Record, Rule
from rules.services.fields.accepting_fields import (
    ACCEPT_FIELDS,
    ChosenField,
    accept_fields,
    fields_request,
    undo_fields,
)
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster as cluster_pages
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.shop_cast import annotate_product, extract, products_of, shop
from vertex.core.models import Job, Role, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def ada() -> User:
    return people.create_user(username="ada", role=Role.ADMINISTRATOR, site=None, actor=None)


def chosen(cluster: Cluster) -> list[ChosenField]:
    """Return the fields of the products' price and weight."""
    by_example = {
        example: field
        for field in reversed(cluster_fields(cluster).shown())
        for example in field.examples
    }
    return [
        ChosenField(by_example["1.50 EUR"].identifier, "price", "price"),
        ChosenField(by_example["15 g"].identifier, "weight", "text"),
    ]


def accepted(cluster: Cluster, actor: User, vertical: str = "product") -> Job:
    request = fields_request(cluster=cluster, fields=chosen(cluster), vertical=vertical)
    job = run_job(create_here(request, actor=actor).pk, accept_fields)
    assert Job.State.DONE == job.state, job.error
    return job


def result_of(job: Job) -> dict[str, Any]:
    assert isinstance(job.result, dict)
    return job.result


def texts_of(attribute: str) -> list[str]:
    rows = Annotation.objects.live().filter(attribute__name=attribute, kind="value")
    return sorted(rows.values_list("text", flat=True))


def test_the_samples_are_annotated_and_the_rule_is_a_draft(ada: User) -> None:
    cluster = products_of(shop())
    result = result_of(accepted(cluster, ada))

    assert result["pages"] == len(texts_of("price")) > 1
    assert all(text.endswith("EUR") for text in texts_of("price"))
    assert {"suggestion"} == set(Annotation.objects.live().values_list("source", flat=True))
    rule = Rule.objects.get(cluster=cluster)
    assert (Rule.State.DRAFT, result["version"]) == (rule.state, rule.version)
    figures = {figure["attribute"]: figure for figure in rule.figures}
    assert ("xpath", 1.0) == (figures["price"]["kind"], figures["price"]["precision"])


def test_a_page_that_does_not_show_a_field_is_left_unknown(ada: User) -> None:
    accepted(products_of(shop()), ada)
    assert not Annotation.objects.live().filter(kind="absent").exists()
    assert len(texts_of("weight")) < len(texts_of("price"))


def test_a_new_vertical_is_made_of_the_fields(ada: User) -> None:
    accepted(products_of(shop()), ada, vertical="rope")
    assert [("price", "price"), ("weight", "text")] == list(
        Attribute.objects.filter(vertical__name="rope").values_list("name", "type")
    )


def test_what_a_person_annotated_stays(ada: User) -> None:
    site = shop()
    annotate_product(site, 1)
    before = set(Annotation.objects.live().values_list("pk", flat=True))
    accepted(products_of(site), ada)
    assert before <= set(Annotation.objects.live().values_list("pk", flat=True))


def test_it_can_be_undone_but_for_what_somebody_changed_since(ada: User) -> None:
    site = shop()
    job = accepted(products_of(site), ada)
    annotated = result_of(job)["annotated"]
    Annotation.objects.filter(attribute=annotated[0][1], page=annotated[0][0]).update(revision=9)

    assert len(annotated) - 1 == undo_fields(job=job, actor=ada)
    rest = Annotation.objects.live().filter(kind="value")
    assert {9} == set(rest.values_list("revision", flat=True))


def test_nothing_ticked_and_pages_that_changed_are_told(ada: User) -> None:
    cluster = products_of(shop())
    with pytest.raises(ValidationError, match="Tick at least one"):
        fields_request(cluster=cluster, fields=[], vertical="product")

    gone = [ChosenField("0123456789", "price", "price")]
    request = fields_request(cluster=cluster, fields=gone, vertical="product")
    job = run_job(create_here(request, actor=ada).pk, accept_fields)
    assert (Job.State.FAILED, True) == (job.state, "open their fields again" in job.error)


class TestPage:
    def browser(self, role: Role) -> Client:
        person = people.create_user(username=f"p-{role}", role=role, site=None, actor=None)
        client = Client()
        client.force_login(person)
        return client

    def test_shows_the_fields_and_lets_an_editor_tick_them(self) -> None:
        cluster = products_of(shop())
        address = reverse("found_fields", args=["shop", cluster.name])
        viewer = self.browser(Role.VIEWER).get(address).content.decode()
        editor = self.browser(Role.EDITOR).get(address).content.decode()

        assert "1.50 EUR" in viewer
        assert "Our price" in viewer
        assert 'aria-label="Take' not in viewer
        assert 'aria-label="Take our_price"' in editor

    def test_what_is_ticked_becomes_a_job(self) -> None:
        cluster = products_of(shop())
        client = self.browser(Role.EDITOR)
        address = reverse("found_fields", args=["shop", cluster.name])
        form = self.form_of(client, address)
        price = next(n for n, (name, _) in enumerate(form) if name == "our_price")
        answer = client.post(address, self.posted(form, {price: "price"}))
        job = Job.objects.get(task=ACCEPT_FIELDS.task)

        assert reverse("field_job", args=["shop", job.pk]) == answer["Location"]
        assert [[form[price][1], "price", "price"]] == job.params["fields"]
        assert b"The job goes on when you leave" in client.get(answer["Location"]).content

        run_job(job.pk, accept_fields)
        done = client.get(answer["Location"])
        assert done["Location"].startswith(reverse("rule", args=["shop", cluster.name]))
        undone = client.post(reverse("undo_fields", args=["shop", job.pk]), follow=True)
        assert "annotations are taken back" in undone.content.decode()
        assert not texts_of("price")

    def test_says_what_is_wrong(self) -> None:
        cluster = products_of(shop())
        client = self.browser(Role.EDITOR)
        address = reverse("found_fields", args=["shop", cluster.name])
        form = self.form_of(client, address)
        nothing = client.post(address, self.posted(form, {}))
        nameless = client.post(address, self.posted(form, {0: ""}))

        assert (400, True) == (nothing.status_code, b"Tick at least one" in nothing.content)
        assert (400, True) == (nameless.status_code, b"needs a name" in nameless.content)

    def form_of(self, client: Client, address: str) -> list[tuple[str, str]]:
        """Return name and slot of each row."""
        forms = client.get(address).context["formset"].forms
        return [(row.initial["name"], row.initial["slot"]) for row in forms]

    def posted(self, form: list[tuple[str, str]], ticked: dict[int, str]) -> dict[str, str]:
        entered = {
            "vertical": "product",
            "fields-TOTAL_FORMS": str(len(form)),
            "fields-INITIAL_FORMS": str(len(form)),
        }
        for number, (name, slot) in enumerate(form):
            entered[f"fields-{number}-slot"] = slot
            entered[f"fields-{number}-name"] = ticked.get(number, name)
            entered[f"fields-{number}-type"] = "price" if name == "our_price" else "text"
            if number in ticked:
                entered[f"fields-{number}-takes"] = "on"
        return entered


def test_a_cluster_of_equal_pages_says_that_nothing_varies(ada: User) -> None:
    site = shop()
    cluster = Cluster.objects.create(site=site, name="empty", title="Empty")
    client = Client()
    client.force_login(ada)
    page = client.get(reverse("found_fields", args=["shop", cluster.name])).content.decode()
    assert "Nothing varies on these pages" in page


def test_fields_of_one_list_are_attributes_of_it_and_keep_their_gaps(
    ada: User, client: Client
) -> None:
    site = site_of("tents")
    store(site, [(f"p/{n}", tent(n), "text/html") for n in range(8)])
    cluster_pages(site)
    cluster = Cluster.objects.present().get(site=site)
    found = cluster_fields(cluster).shown()
    name, price = (next(f for f in found if f.examples[0] == text) for text in ("A 0", "0 EUR"))

    client.force_login(ada)
    shown = client.get(reverse("found_fields", args=[site.name, cluster.name])).content.decode()
    assert f'value="offers.{price.name}"' in shown
    assert "each entry of offers" in shown

    choices = [
        ChosenField(name.identifier, "offers.name", "text"),
        ChosenField(price.identifier, "offers.price", "price"),
    ]
    request = fields_request(cluster=cluster, fields=choices, vertical="tent")
    job = run_job(create_here(request, actor=ada).pk, accept_fields)
    assert Job.State.DONE == job.state, job.error
    publish_rule(rule=Rule.objects.get(cluster=cluster))
    extract(site)
    records = Record.objects.filter(page__url__endswith="p/7")
    assert [{"offers.name": ["A 7", "B 7", "C 7"], "offers.price": ["7 EUR", None, "21 EUR"]}] == [
        record.values for record in records
    ]


def tent(n: int) -> bytes:
    """Return a page with three offers, of which the second has no price."""
    prices = (f"<b>{n} EUR</b>", "ask us", f"<b>{3 * n} EUR</b>")
    rows = "".join(
        f"<tr><td>{size} {n}</td><td>{price}</td></tr>"
        for size, price in zip("ABC", prices, strict=True)
    )
    return f"<html><body><h1>Tent {n}</h1><table class=offers>{rows}</table></body></html>".encode()
