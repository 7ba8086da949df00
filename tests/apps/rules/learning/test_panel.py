"""The rule panel: learns after each page, says what is wrong where, and when to stop."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation
from annotation.services.samples.next_samples import next_samples
from annotation.services.samples.sampling import draw_samples, samples_request
from clustering.models import Cluster, Page
from rules.models import Rule
from rules.services.learning.learning import check_held_out, learn_rule
from rules.services.learning.panel import learn_panel, next_page, panel_of
from rules.services.review.publishing import publish_rule
from tests.apps.rules.shop_cast import annotate_product, listing, products_of, shop
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.core.services.people import people

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return shop()


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(people.create_user(username=role.value, role=role, site=None, actor=None))
    return client


@pytest.fixture
def edda() -> Client:
    return client_of(Role.EDITOR)


class TestLearning:
    def test_one_draft_is_kept_up_to_date(self, site: Site) -> None:
        cluster = products_of(site)
        for n in (1, 2, 3):
            annotate_product(site, n)
            learn_panel(cluster=cluster)
        assert [1] == list(Rule.objects.filter(cluster=cluster).values_list("version", flat=True))
        assert Rule.State.DRAFT == Rule.objects.get(cluster=cluster).state

    def test_after_a_published_version_comes_a_new_draft(self, site: Site) -> None:
        cluster = products_of(site)
        annotate_product(site, 1)
        publish_rule(rule=learn_rule(cluster=cluster))
        learn_panel(cluster=cluster)
        learn_panel(cluster=cluster)
        states = (
            Rule.objects.filter(cluster=cluster).order_by("version").values_list("state", flat=True)
        )
        assert ["published", "draft"] == list(states)

    def test_a_draft_is_measured_on_pages_that_were_no_samples_when_asked(self, site: Site) -> None:
        annotate_product(site, 1)
        panel = learn_panel(cluster=products_of(site))
        assert panel.rule is not None
        assert {} == panel.rule.validation
        check_held_out(rule=panel.rule)
        assert {"pages", "found"} == set(Rule.objects.get(pk=panel.rule.pk).validation)


class TestPanel:
    def test_it_shows_what_the_rule_finds_on_each_other_sample(self, site: Site) -> None:
        annotate_product(site, 1)
        annotate_product(site, 3)
        panel = learn_panel(cluster=products_of(site))
        rows = {row.name: row for row in panel.rows}
        assert (10, 10, 7) == tuple(rows[name].n_found for name in ("name", "price", "weight"))
        assert 3 == rows["weight"].n_absent
        assert {f"Rope {n}" for n in range(1, 13)} - {"Rope 1", "Rope 3"} == {
            other.values[0] for other in rows["name"].others
        }

    def test_no_further_page_is_needed_when_all_agree(self, site: Site) -> None:
        annotate_product(site, 1)
        annotate_product(site, 3)
        panel = learn_panel(cluster=products_of(site))
        assert panel.is_enough
        assert panel.next_page is None
        assert "On all 10 other samples" in panel.outlook.reason

    def test_looking_again_tells_the_same(self, site: Site) -> None:
        cluster = products_of(site)
        annotate_product(site, 1)
        learnt = learn_panel(cluster=cluster)
        looked = panel_of(cluster)
        assert looked is not None
        assert [row.n_found for row in learnt.rows] == [row.n_found for row in looked.rows]
        assert learnt.is_enough == looked.is_enough

    def test_before_any_page_is_annotated_it_says_where_to_begin(self, site: Site) -> None:
        panel = panel_of(products_of(site))
        assert panel is not None
        assert not panel.is_enough
        assert panel.next_page is not None

    def test_a_wrong_value_on_an_annotated_page_is_told(self, site: Site) -> None:
        annotate_product(site, 1)
        annotate_product(site, 2)
        cluster = products_of(site)
        learn_panel(cluster=cluster)
        Annotation.objects.filter(page__url__endswith="/p/2", attribute__name="price").update(
            xpath="/html/body/p", text="Rope 2 is good"
        )
        panel = panel_of(cluster)
        assert panel is not None
        wrong = [each for row in panel.rows for each in row.wrong if each.assessed.state == "wrong"]
        assert ["price"] == [each.assessed.attribute for each in wrong]
        assert "Rope 2 is good" in wrong[0].assessed.why

    def test_a_cluster_without_a_vertical_has_none(self, site: Site) -> None:
        cluster = products_of(site)
        site.assignments.all().delete()
        assert panel_of(cluster) is None
        assert next_page(cluster) is None


class TestViews:
    def test_posting_learns_and_shows_the_stop_sign(self, site: Site, edda: Client) -> None:
        annotate_product(site, 1)
        annotate_product(site, 3)
        address = reverse("rule_panel", args=["shop", products_of(site).name])
        assert "Nothing is learnt" not in (answer := edda.post(address).content.decode())
        assert "No further page needed." in answer
        assert "version 1" in edda.get(address).content.decode()

    def test_places_are_said_in_words_with_the_xpath_a_click_away(
        self, site: Site, edda: Client
    ) -> None:
        annotate_product(site, 1)
        cluster = products_of(site)
        learn_panel(cluster=cluster)
        page = edda.get(reverse("rule_panel", args=["shop", cluster.name])).content.decode()
        assert '<p class="panel-place small">The ' in page
        assert '<details class="panel-path">' in page

    def test_a_doubtful_value_is_one_link_away_from_its_page(
        self, site: Site, edda: Client
    ) -> None:
        annotate_product(site, 1)
        annotate_product(site, 2)
        cluster = products_of(site)
        Annotation.objects.filter(page__url__endswith="/p/2", attribute__name="price").update(
            xpath="/html/body/p", text="Rope 2 is good"
        )
        page = Page.objects.get(site=site, url__endswith="/p/2")
        address = reverse("annotate_page", args=["shop", page.pk])
        answer = edda.post(reverse("rule_panel", args=["shop", cluster.name])).content.decode()
        assert f"{address}?attribute=" in answer

    def test_without_a_vertical_it_says_so(self, site: Site, edda: Client) -> None:
        site.assignments.all().delete()
        address = reverse("rule_panel", args=["shop", products_of(site).name])
        assert "Choose a vertical" in edda.get(address).content.decode()
        assert "assign one first" in edda.post(address).content.decode()

    def test_prefilling_gives_what_the_rule_finds_with_its_places(
        self, site: Site, edda: Client
    ) -> None:
        annotate_product(site, 1)
        annotate_product(site, 3)
        cluster = products_of(site)
        learn_panel(cluster=cluster)
        snapshot = Page.objects.get(site=site, url__endswith="/p/6").latest_snapshot
        assert snapshot is not None
        answer = edda.get(reverse("rule_prefill", args=["shop", cluster.name, snapshot.pk])).json()
        assert f"{cluster.name}@1" == answer["rule"]
        price = answer["attributes"]["price"]
        assert ["6.50 EUR"] == [mark["text"] for mark in price["marks"]]
        assert isinstance(price["marks"][0]["number"], int)
        assert answer["attributes"]["weight"]["absent"]

    def test_the_records_of_a_list_are_those_of_the_rule_and_can_be_accepted(
        self, edda: Client
    ) -> None:
        site = listing()
        cluster = Cluster.objects.present().get(site=site)
        learn_panel(cluster=cluster)
        page = Page.objects.select_related("latest_snapshot").get(
            site=site, url__endswith="/list/5"
        )
        assert page.latest_snapshot is not None
        place = ["shop", page.pk, page.latest_snapshot.pk]
        answer = edda.get(reverse("rule_prefill", args=["shop", cluster.name, place[-1]])).json()
        records = answer["attributes"][""]
        accepted = [{"attribute": "", "marks": records["marks"], "revision": 0}]
        edda.post(
            reverse("gesture", args=place),
            {"gesture": "accept", "annotations": accepted},
            content_type="application/json",
        )

        rows = Annotation.objects.live().filter(page=page, kind="record").order_by("position")
        items = [[f"/html/body/ul/li[{n}]"] for n in (2, 3, 4)]  # the first is an advertisement
        assert items == [row.record for row in rows]
        assert isinstance(records["marks"][0]["number"], int)

    def test_prefilling_without_a_rule_gives_nothing(self, site: Site, edda: Client) -> None:
        snapshot = Page.objects.get(site=site, url__endswith="/p/6").latest_snapshot
        assert snapshot is not None
        answer = edda.get(
            reverse("rule_prefill", args=["shop", products_of(site).name, snapshot.pk])
        ).json()
        assert {"rule": None, "attributes": {}} == answer

    def test_the_step_that_emptied_the_nodes_is_shown(self, site: Site, edda: Client) -> None:
        annotate_product(site, 1)
        cluster = products_of(site)
        learn_panel(cluster=cluster)
        snapshot = Page.objects.get(site=site, url__endswith="/p/6").latest_snapshot
        assert snapshot is not None
        address = reverse("rule_steps", args=["shop", cluster.name, 1, snapshot.pk])
        assert (
            "Nothing is left at this step"
            in edda.get(f"{address}?attribute=weight").content.decode()
        )
        assert (
            "Every step selects something" in edda.get(f"{address}?attribute=name").content.decode()
        )

    def test_viewers_may_not_learn(self, site: Site) -> None:
        viewer = client_of(Role.VIEWER)
        address = reverse("rule_panel", args=["shop", products_of(site).name])
        assert 403 == viewer.post(address).status_code


def test_what_the_next_page_is_reaches_the_queue(site: Site, edda: Client) -> None:
    cluster = products_of(site)
    run_job(create_here(samples_request(site=site)).pk, draw_samples)
    annotate_product(site, 3)
    panel = learn_panel(cluster=cluster)
    assert panel.next_page is not None
    edda.get(reverse("rule_panel", args=["shop", cluster.name]))
    assert panel.next_page.rank == next_samples([cluster])[cluster.pk]
