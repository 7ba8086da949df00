"""The pages of reviews: the queue, judging, the impact, deciding, the policy."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Effort, ReviewPolicy
from clustering.models import Annotating, Cluster
from rules.models import Impact, JudgedPage, Review, Rule
from rules.services.learning.learning import learn_rule
from rules.services.review.judging import judge, value_judgements
from rules.services.review.reviewing import propose_rule
from tests.apps.rules.record_cast import rule_of
from tests.apps.rules.review_cast import (
    OTHER_NAMES,
    WITHOUT_PRICE,
    compared,
    person,
    proposed,
    shop_with_draft,
)
from tests.apps.rules.shop_cast import annotate_product, products_of, shop
from vertex.core.models import Role, User

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def rob() -> Client:
    return client_of(person("rob"))


def at(rule: Rule, name: str = "review_rule") -> str:
    return reverse(name, args=["shop", "products", rule.version])


def text(client: Client, address: str, **options: Any) -> str:
    answer = client.get(address, **options)
    assert 200 == answer.status_code
    return answer.content.decode()


class TestQueue:
    def test_is_empty_where_nothing_waits(self, rob: Client) -> None:
        assert "Nothing waits for a review" in text(rob, reverse("review"))

    def test_shows_who_proposed_what_and_how_far_it_is(self, rob: Client) -> None:
        rule = shop_with_draft(WITHOUT_PRICE)
        propose_rule(rule=rule, comment="the shop has new prices", actor=person("eve"))
        compared(rule)
        page = text(rob, reverse("review"))

        for each in (
            "the shop has new prices",
            "by eve",
            "products@2",
            "of 20",
            "~27",
            "may publish",
        ):
            assert each in page

    def test_a_decided_review_moves_down(self, rob: Client) -> None:
        rule = shop_with_draft()
        proposed(rule)
        rob.post(at(rule, "send_back_rule"), {"reason": "the name is cut"})

        assert "Nothing waits" in (page := text(rob, reverse("review")))
        assert "the name is cut" in page


class TestDeciding:
    def test_an_editor_proposes_and_withdraws(self) -> None:
        rule, eve = shop_with_draft(), client_of(person("eve", Role.EDITOR))
        eve.post(at(rule, "propose_rule"), {"comment": "please"})
        assert ("proposed", "please") == (
            Rule.objects.get(pk=rule.pk).state,
            Review.objects.get().comment,
        )
        eve.post(at(rule, "send_back_rule"))
        assert "withdrawn" == Review.objects.get().outcome

    def test_another_editor_sends_nothing_back(self) -> None:
        rule = shop_with_draft()
        proposed(rule, person("ann"))

        client_of(person("eve", Role.EDITOR)).post(
            at(rule, "send_back_rule"), {"reason": "mine is better"}
        )
        assert "proposed" == Rule.objects.get(pk=rule.pk).state

    def test_the_author_is_told_who_may_publish(self, rob: Client) -> None:
        ann = person("ann")
        rule = shop_with_draft(made_by=ann)
        proposed(rule, ann)
        page = text(client_of(ann), at(rule))

        assert "asks for a second person. It can be published by rob" in page
        assert "Withdraw…" in page
        assert "Publish</button>" not in page
        answer = client_of(ann).post(at(rule, "publish_rule"), follow=True)
        assert "asks for a second person" in answer.content.decode()
        rob.post(at(rule, "publish_rule"))
        assert "published" == Rule.objects.get(pk=rule.pk).state

    def test_changed_constants_ask_for_force_and_a_reason(self, rob: Client) -> None:
        rule = shop_with_draft(OTHER_NAMES)
        proposed(rule, compares=True)

        assert "Publishing is blocked" in text(rob, at(rule))
        rob.post(at(rule, "publish_rule"), {"force": "yes"})
        assert "proposed" == Rule.objects.get(pk=rule.pk).state
        rob.post(at(rule, "publish_rule"), {"force": "yes", "reason": "all were renamed"})
        assert "published" == Rule.objects.get(pk=rule.pk).state

    def test_how_attributes_are_found_is_said_in_words(self, rob: Client) -> None:
        site = shop()
        for number in (1, 3):
            annotate_product(site, number)
        rule = learn_rule(cluster=products_of(site))
        address = reverse("review_rule", args=["shop", rule.cluster.name, rule.version])
        page = text(rob, address)
        assert '<span class="place-words">The ' in page
        assert '<summary class="muted">XPath</summary>' in page

    def test_where_it_came_from_is_where_it_goes_back_to(self, rob: Client) -> None:
        rule = shop_with_draft()

        answer = rob.post(at(rule, "propose_rule"), {"next": "/sites/shop/rules/"})
        assert "/sites/shop/rules/" == answer["Location"]
        answer = rob.post(at(rule, "publish_rule"), {"next": "https://evil.example/"})
        assert "evil" not in answer["Location"]


class TestJudging:
    def test_attributes_beyond_the_tenth_have_keys_that_mean_nothing_else(
        self, rob: Client
    ) -> None:
        rule = shop_with_draft()
        rule.schema = [{"name": f"field{n}"} for n in range(12)]
        rule.save()
        proposed(rule)

        page = text(rob, at(rule))
        keys = re.findall(r'value="field\d+" data-key="(.)"', page)
        others = re.findall(r'data-key="(\w)"', page)

        assert list("1234567890cd") == keys
        assert len(others) == len(set(others))

    def test_one_post_judges_and_shows_the_next_page(self, rob: Client) -> None:
        rule = shop_with_draft()
        proposed(rule)
        assert "Page 1 of 20" in text(rob, at(rule))
        answer = rob.post(at(rule, "judge_page"), {"rank": "1", "verdict": "right"}, headers=HTMX)

        assert "Page 2 of 20" in (page := answer.content.decode())
        assert 'hx-swap-oob="true"' in page
        assert "1 page judged of 20" in page
        answer = rob.post(at(rule, "judge_page"), {"rank": "1", "verdict": ""}, headers=HTMX)
        assert "Page 1 of 20" in answer.content.decode()

    def test_marks_are_kept_and_shown(self, rob: Client) -> None:
        rule = shop_with_draft()
        proposed(rule)
        judged = {"rank": "3", "verdict": "wrong", "marked": ["price"]}
        assert 302 == rob.post(at(rule, "judge_page"), judged).status_code

        page = text(rob, f"{at(rule)}?at=3", headers=HTMX)
        assert 'value="price" data-key="2" data-key-word="price is not right"' in page
        assert 1 == page.count(" checked>")
        assert "not valid" in text(rob, at(rule))

    def test_the_rules_page_shows_how_far_its_certainty_can_be_believed(self, rob: Client) -> None:
        rule = shop_with_draft()
        pages = list(proposed(rule).pages.all())
        address = reverse("rule", args=["shop", "products"]) + f"?version={rule.version}"
        assert "Nobody has judged a page of this version" in text(rob, address)

        for page in pages[:4]:
            judge(page=page, verdict="right", actor=None)
        judge(page=pages[4], verdict="wrong", marked=["price"], actor=None)
        judge(page=pages[5], verdict="wrong", actor=None)

        judgements = value_judgements(rule)
        assert (12, 9) == (len(judgements), sum(value.is_right for value in judgements))
        shown = text(rob, address)
        assert "right 83.3 % of 6 values" in shown, "titles, of which one is wrong"
        assert "right 66.7 % of 6 values" in shown, "prices, of which two are wrong"
        assert '<circle class="reliability-dot"' in shown

    def test_the_frame_gets_the_places_of_the_values(self) -> None:
        site = shop(28)
        for number in (1, 3):
            annotate_product(site, number)
        rule = learn_rule(cluster=products_of(site))
        review = proposed(rule)
        page = text(
            client_of(person("rob")), reverse("review_rule", args=["shop", rule.cluster.name, 1])
        )

        assert 20 == JudgedPage.objects.filter(review=review).count()
        assert "&quot;label&quot;:&quot;price&quot;" in page
        assert "data-page-frame" in page

    def test_a_viewer_looks_and_does_not_judge(self) -> None:
        rule = shop_with_draft()
        proposed(rule)
        viewer = client_of(person("vera", Role.VIEWER))

        assert 'name="verdict"' not in text(viewer, at(rule))
        assert (
            403
            == viewer.post(at(rule, "judge_page"), {"rank": "1", "verdict": "right"}).status_code
        )

    def test_a_page_that_is_not_there_is_404(self, rob: Client) -> None:
        rule = shop_with_draft()
        proposed(rule)

        assert (
            404 == rob.post(at(rule, "judge_page"), {"rank": "77", "verdict": "right"}).status_code
        )
        assert (
            404 == rob.post(at(rule, "judge_page"), {"rank": "²", "verdict": "right"}).status_code
        )


class TestImpact:
    def test_lists_what_changes_side_by_side(self, rob: Client) -> None:
        rule = shop_with_draft(OTHER_NAMES)
        proposed(rule, compares=True)

        assert "27</a>" in text(rob, at(rule))
        page = text(rob, at(rule, "impact") + "?attribute=name&kind=changed")
        assert "<ins>The </ins>Shoe 1" in page
        assert "25 of 27, the first found" in page
        assert "Nothing gained" in text(rob, at(rule, "impact") + "?attribute=ghost&kind=gained")

    def test_is_404_before_any_comparison(self, rob: Client) -> None:
        assert 404 == rob.get(at(shop_with_draft(), "impact")).status_code

    def test_is_computed_on_request(self, rob: Client) -> None:
        rule = shop_with_draft()
        rob.post(at(rule, "compare_rule"))
        again = rob.post(at(rule, "compare_rule"), follow=True).content.decode()

        assert "is already waiting" in again
        assert Impact.objects.get().job is not None
        assert "every 1s" in text(rob, at(rule))

    def test_one_that_failed_says_so(self, rob: Client) -> None:
        rule = shop_with_draft()
        Impact.objects.create(rule=rule, stylesheet_hash="x")

        assert "The comparison did not end" in text(rob, at(rule))


class TestPolicy:
    def test_an_operator_changes_it_and_takes_it_back(self) -> None:
        shop_with_draft()
        ops = client_of(person("ops", Role.OPERATOR))
        address = reverse("review_policy", args=["shop"])
        assert "ops" in text(ops, address)
        answer = ops.post(address, {"publishing": "anybody", "second_share": "30"}, follow=True)

        assert "Settings of reviews saved" in answer.content.decode()
        assert (30, "anybody") == ReviewPolicy.objects.values_list(
            "second_share", "publishing"
        ).get()
        assert (
            400 == ops.post(address, {"publishing": "anybody", "second_share": "300"}).status_code
        )
        assert 403 == client_of(person("rob")).get(address).status_code


class TestEconomics:
    def test_says_what_it_took_and_what_is_left(self, rob: Client) -> None:
        site = shop()
        annotate_product(site, 1)
        page = site.pages.get(url__endswith="p/1")
        eve = person("eve", Role.EDITOR)
        cluster = products_of(site)
        whole: dict[str, Any] = {"site": site, "cluster": cluster, "page": page, "person": eve}
        Effort.objects.create(
            **whole, seconds=42, n_keys=6, n_clicks=2, n_accepted=3, n_corrected=1, n_done=1
        )
        shown = text(rob, reverse("economics", args=["shop"]))

        for each in (
            "42 s",
            "8.0 a page",
            "75.0 %",
            "3 of 4",
            "about 3 pages of 2 clusters",
            "2 min",
        ):
            assert each in shown

    def test_nobody_is_told_to_annotate_what_was_dismissed(self, rob: Client) -> None:
        site = shop()
        annotate_product(site, 1)
        others = Cluster.objects.present().filter(site=site).exclude(pk=products_of(site).pk)
        assert 1 == others.update(annotating=Annotating.DISMISSED)

        assert "of 1 cluster" in text(rob, reverse("economics", args=["shop"]))

    def test_before_anything_it_says_what_is_to_do(self, rob: Client) -> None:
        rule_of(shop_with_draft().cluster.site, cluster="others", state=Rule.State.DRAFT)

        assert "Nothing was annotated yet" in text(rob, reverse("economics", args=["shop"]))
