"""A new site of a vertical is drafted from the published rules of other sites."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Attribute, Vertical
from annotation.services.verticals.verticals import assign_vertical
from clustering.models import Annotating, Cluster, Page
from rules.models import FieldProfile, Record, Rule
from rules.services.fields.field_drafts import draft_rules, drafting_request
from rules.services.fields.field_profiles import (
    PROFILE_RULE,
    profile_published,
    train_vertical,
    training_request,
)
from rules.services.learning.learning import learn_rule
from rules.services.learning.prefilling import prefill
from rules.services.review.publishing import publish_rule
from rules.tasks import KINDS
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.clustering.demo_sites import cluster as cluster_pages
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.shop_cast import annotate_product, extract, learnt_shop, products_of
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ROPE = (
    "<html><head><title>{name} at Knots</title></head><body><div id='head'><a>Start</a></div>"
    "<div class='box'><span "
    "class='title'>{name}</span><table><tr><td>Weight</td><td>{weight} g</td></tr>"
    "<tr><td>Price</td><td><b>{price} EUR</b></td></tr></table></div></body></html>"
)


DECLARED = (
    '<script type="application/ld+json">{{"@type": "Product", "name": "{name}",'
    ' "offers": {{"@type": "Offer", "price": "{price}"}}}}</script>'
)


def knots(declared: str = "", *, name: str = "") -> Site:
    """Return a site of the shop's vertical with another template, clustered and not annotated."""
    site = site_of("knots")
    template = ROPE.replace("</title>", f"</title>{declared}")
    pages = []
    for n in range(2, 14):
        title = name.format(n=n) if name else f"Rope {n * 3}"
        body = template.format(name=title, weight=n * 10 + 5, price=f"{n}.50")
        pages.append((f"r/{n}", body.encode(), "text/html"))
    store(site, pages)
    assign_vertical(site=site, vertical=Vertical.objects.get(name="product"), actor=None)
    cluster_pages(site)
    return site


def annotate_rope(site: Site, n: int) -> None:
    """Say where a page shows its name and its price."""
    page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}r/{n}")
    assert page.latest_snapshot is not None
    marks = {"name": "/html/body/div[2]/span", "price": "/html/body/div[2]/table/tr[2]/td[2]/b"}
    for name, xpath in marks.items():
        Annotation.objects.create(
            page=page,
            snapshot=page.latest_snapshot,
            attribute=Attribute.objects.get(name=name),
            kind=Annotation.Kind.VALUE,
            xpath=xpath,
            text="",
        )


def drafted(site: Site) -> Job:
    return run_job(create_here(drafting_request(site=site)).pk, draft_rules)


def ropes_of(site: Site) -> Cluster:
    return Cluster.objects.present().get(site=site)


class TestTraining:
    def test_a_published_rule_tells_how_its_fields_look(self) -> None:
        learnt_shop()
        vertical = Vertical.objects.get(name="product")
        lines: list[dict[str, object]] = []

        run_job(
            create_here(training_request(vertical=vertical)).pk, train_vertical, report=lines.append
        )

        assert lines == [
            {
                "vertical": "product",
                "sites": 1,
                "pages": 12,
                "attributes": {
                    "name": {"n_values": 12, "n_sites": 1},
                    "price": {"n_values": 12, "n_sites": 1},
                    "weight": {"n_values": 8, "n_sites": 1},
                },
            }
        ]
        assert sorted(FieldProfile.objects.get().profile["examples"]) == [
            "name",
            "price",
            "weight",
        ]

    def test_a_published_rule_is_learnt_from_by_itself(self) -> None:
        site, _ = learnt_shop()
        job = Job.objects.get(task=PROFILE_RULE.task)
        again = learn_rule(cluster=products_of(site))
        publish_rule(rule=again)  # the job that waits serves it, too
        run_job(job.pk, profile_published)

        assert [again.pk] == list(FieldProfile.objects.values_list("rule", flat=True))
        job.refresh_from_db()
        assert ({"pages": 12}, 1) == (
            job.result,
            Job.objects.filter(task=PROFILE_RULE.task).count(),
        )

    def test_sites_that_are_kept_apart_are_not_learnt_from(self) -> None:
        guest_site = site_of("elsewhere")
        people.create_user(username="guest", role=Role.VIEWER, site=guest_site, actor=None)
        learnt_shop()

        assert not Job.objects.filter(task=PROFILE_RULE.task).exists()

    def test_without_a_published_rule_there_is_nothing_to_learn_from(self) -> None:
        _, rule = learnt_shop()
        Rule.objects.update(state=Rule.State.RETIRED)

        with pytest.raises(ValidationError, match="publish one first"):
            training_request(vertical=rule.vertical)
        with pytest.raises(CommandError, match="publish one first"):
            call_command("train_vertical", "product")

    def test_an_unknown_vertical_is_named(self) -> None:
        with pytest.raises(CommandError, match="no vertical 'boats'"):
            call_command("train_vertical", "boats")


class TestDrafting:
    def test_a_new_site_is_drafted_without_an_annotation(self) -> None:
        learnt_shop()
        site = knots()

        job = drafted(site)

        assert (job.state, job.error) == (Job.State.DONE, "")
        rule = Rule.objects.get(cluster=ropes_of(site))
        assert (rule.state, rule.origin) == (Rule.State.DRAFT, Rule.Origin.DRAFTED)
        figures = {figure["attribute"]: figure for figure in rule.figures}
        assert figures["price"]["source"] == "vertical"
        assert "looks like a price" in figures["price"]["why"] or "label" in figures["price"]["why"]
        assert 0 < figures["price"]["certainty"] <= 1

    def test_the_draft_extracts_what_the_pages_show(self) -> None:
        learnt_shop()
        site = knots()
        drafted(site)
        out = StringIO()

        call_command("extract_records", site.name, "--drafts", stdout=out)

        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        assert {line["rule"] for line in lines} == {f"{ropes_of(site).name}@draft"}
        assert lines[0]["record"] == {"name": "Rope 6", "price": "2.50 EUR", "weight": "25 g"}
        assert not Record.objects.filter(site=site).exists()

    def test_what_pages_declare_is_drafted_without_another_site(self) -> None:
        learnt_shop()
        Rule.objects.all().delete()
        site = knots(DECLARED)

        assert drafted(site).state == Job.State.DONE

        figures = {f["attribute"]: f for f in Rule.objects.get(cluster=ropes_of(site)).figures}
        assert figures["price"]["source"] == "declared"
        assert figures["price"]["why"].startswith("the pages declare it")
        assert (figures["weight"]["kind"], figures["weight"]["certainty"]) == ("none", 0.0)

    def test_records_of_the_same_things_tell_where_the_values_stand(self) -> None:
        shop, _ = learnt_shop()
        extract(shop)
        site = knots(name="Rope {n}")
        Rule.objects.exclude(cluster__site=shop).delete()

        drafted(site)

        figures = {f["attribute"]: f for f in Rule.objects.get(cluster=ropes_of(site)).figures}
        assert figures["price"]["source"] == "known"
        assert "records of the same things" in figures["price"]["why"]

    def test_an_annotated_page_counts_where_the_cluster_is_named(self) -> None:
        learnt_shop()
        site = knots()
        annotate_rope(site, 2)
        cluster = ropes_of(site)

        request = drafting_request(site=site, cluster=cluster.name)
        assert run_job(create_here(request).pk, draft_rules).state == Job.State.DONE

        rule = Rule.objects.get(cluster=cluster)
        assert [sample.snapshot.page.url for sample in rule.samples.filter(use="annotated")] == [
            f"{site.root_url}r/2"
        ]
        out = StringIO()
        call_command("extract_records", site.name, "--drafts", stdout=out)
        last = json.loads(out.getvalue().splitlines()[-1])
        assert last["record"] == {"name": "Rope 39", "price": "13.50 EUR", "weight": "135 g"}

    def test_a_rule_published_later_is_learnt_from_by_itself(self) -> None:
        _, first = learnt_shop()
        site = knots()
        drafted(site)
        again = learn_rule(cluster=first.cluster)
        publish_rule(rule=again)

        drafted(site)

        assert FieldProfile.objects.get().rule == again

    def test_drafting_again_replaces_the_draft(self) -> None:
        learnt_shop()
        site = knots()
        drafted(site)
        drafted(site)

        assert [1] == [rule.version for rule in Rule.objects.filter(cluster=ropes_of(site))]

    def test_what_people_annotated_is_left_to_them(self) -> None:
        site, rule = learnt_shop()
        other = knots()
        annotation = Annotation.objects.filter(attribute__name="name").first()
        assert annotation is not None
        page = Page.objects.filter(site=other).select_related("latest_snapshot").first()
        assert page is not None
        Annotation.objects.filter(pk=annotation.pk).update(page=page, snapshot=page.latest_snapshot)

        job = drafted(other)

        assert job.state == Job.State.FAILED
        assert "left to people" in job.error
        assert not Rule.objects.filter(cluster__site=other).exists()
        assert rule.cluster.site == site

    def test_what_is_not_worth_annotating_is_left_out(self) -> None:
        learnt_shop()
        site = knots()
        Cluster.objects.filter(site=site).update(annotating=Annotating.DISMISSED)

        job = drafted(site)

        assert job.state == Job.State.FAILED
        assert "not worth annotating" in job.error

    def test_where_no_other_site_is_known_the_job_says_what_to_do(self) -> None:
        site, _ = learnt_shop()
        Rule.objects.update(state=Rule.State.RETIRED)
        other = knots()

        job = drafted(other)

        assert job.state == Job.State.FAILED
        assert "publish one first, or annotate a page" in job.error
        assert site.name != other.name

    def test_uncertain_fields_can_be_left_out(self) -> None:
        learnt_shop()
        site = knots()

        run_job(create_here(drafting_request(site=site, min_certainty=1.0)).pk, draft_rules)

        assert not Rule.objects.filter(cluster__site=site).exists()

    @pytest.mark.parametrize("cluster", ["nowhere"])
    def test_an_unknown_cluster_is_refused(self, cluster: str) -> None:
        learnt_shop()

        with pytest.raises(ValidationError, match="no cluster 'nowhere'"):
            drafting_request(site=knots(), cluster=cluster)

    def test_a_draft_is_proposed_with_its_reason_on_the_page_that_is_annotated(self) -> None:
        learnt_shop()
        site = knots()
        drafted(site)
        page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}r/2")
        assert page.latest_snapshot is not None

        attributes = prefill(ropes_of(site), page.latest_snapshot)["attributes"]

        assert [mark["text"] for mark in attributes["price"]["marks"]] == ["2.50 EUR"]
        assert attributes["price"]["why"].startswith("as on other sites: its label is")

    def test_annotating_a_page_replaces_the_draft(self) -> None:
        site, rule = learnt_shop()
        Rule.objects.filter(pk=rule.pk).update(state=Rule.State.DRAFT, origin=Rule.Origin.DRAFTED)
        annotate_product(site, 5)

        learnt = learn_rule(cluster=products_of(site))

        assert learnt.origin == Rule.Origin.LEARNT

    def test_workers_take_the_jobs(self) -> None:
        assert {"rules.draft_rules", "rules.train_vertical", PROFILE_RULE.task} <= {
            kind.task for kind in KINDS
        }


class TestPages:
    def test_an_editor_starts_drafting_from_the_page_of_rules(self, client: Client) -> None:
        learnt_shop()
        site = knots()
        client.force_login(caller("ada", Role.EDITOR).user)

        page = client.get(reverse("rules", args=[site.name])).content.decode()
        client.post(reverse("draft_rules", args=[site.name]))

        assert "Draft without annotating" in page
        assert Job.objects.filter(task="rules.draft_rules", site=site).exists()

    def test_where_people_care_for_all_clusters_it_is_not_offered(self, client: Client) -> None:
        learnt_shop()
        site = knots()
        annotate_rope(site, 2)
        client.force_login(caller("ada", Role.EDITOR).user)

        page = client.get(reverse("rules", args=[site.name])).content.decode()

        assert "Draft without annotating" not in page

    def test_the_rule_says_why(self, client: Client) -> None:
        learnt_shop()
        site = knots()
        drafted(site)
        client.force_login(caller("ada", Role.EDITOR).user)

        page = client.get(reverse("rule", args=[site.name, ropes_of(site).name])).content.decode()

        assert "other sites of product" in page
        assert "Taken for price because" in page

    def test_a_program_starts_drafting(self) -> None:
        learnt_shop()
        site = knots()
        ada = caller("ada", Role.EDITOR)

        answer = ada.post(f"/api/v1/sites/{site.name}/draft/", {"min_certainty": 0.5})

        assert answer.status_code == 202
        assert Job.objects.get(task="rules.draft_rules").params["min_certainty"] == 0.5


def test_a_file_of_drafts_is_written(tmp_path: Path) -> None:
    learnt_shop()
    site = knots()
    output = tmp_path / "drafts.jsonl"

    call_command("draft_rules", site.name, "--output", str(output))

    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert ["name", "price", "weight"] == [line["attribute"] for line in lines]
    assert {line["source"] for line in lines} == {"vertical"}
