"""A rule is proposed, judged on unannotated pages, published by a second person or sent back."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from annotation.services.verticals.policies import change_policy
from rules.models import JudgedPage, Review, Rule, RuleSample
from rules.services.learning.learning import learn_rule
from rules.services.learning.schemas import runnable
from rules.services.review.judging import judge, validity_so_far
from rules.services.review.publishing import publish_rule
from rules.services.review.reviewing import propose_rule, publish_reviewed, send_back, why_not
from rules.services.review.rolling_back import roll_back
from tests.apps.rules.record_cast import STYLESHEET, rule_of
from tests.apps.rules.review_cast import (
    OTHER_NAMES,
    WITHOUT_PRICE,
    members,
    person,
    proposed,
    shop_with_draft,
)
from tests.apps.rules.shop_cast import annotate_product, products_of, shop
from vertex.core.models import AuditEntry, Role

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


class TestProposing:
    def test_draws_twenty_pages_that_were_no_samples(self) -> None:
        rule = shop_with_draft()
        review = proposed(rule, person("eve", Role.EDITOR))

        samples = set(RuleSample.objects.filter(rule=rule).values_list("snapshot", flat=True))
        drawn = list(review.pages.all())
        assert (20, list(range(1, 21))) == (len(drawn), [page.rank for page in drawn])
        assert set() == samples & {page.snapshot_id for page in drawn}
        assert "$" in drawn[0].records[0]["record"]["price"]
        rule.refresh_from_db()
        assert ("proposed", True) == (rule.state, "rule.proposed" in actions())

    def test_the_pages_are_the_same_for_a_version_and_others_for_the_next(self) -> None:
        rule = shop_with_draft(n_pages=60)
        drawn = {page.snapshot_id for page in proposed(rule).pages.all()}
        send_back(rule=rule, reason="look again", actor=None)
        again = {page.snapshot_id for page in proposed(rule).pages.all()}
        later = rule_of(rule.cluster.site, state=Rule.State.DRAFT)

        assert drawn == again
        assert drawn != {page.snapshot_id for page in proposed(later).pages.all()}

    def test_verdicts_stay_while_the_stylesheet_does(self) -> None:
        rule, rob = shop_with_draft(), person("rob")
        judge(page=proposed(rule).pages.all()[0], verdict="right", actor=rob)
        send_back(rule=rule, reason="look again", actor=rob)

        assert 1 == proposed(rule).pages.filter(verdict="right").count()
        send_back(rule=rule, reason="again", actor=rob)
        rule.stylesheet = WITHOUT_PRICE
        rule.save()
        assert 0 == proposed(rule).pages.filter(verdict="right").count()

    def test_only_a_draft_is_proposed(self) -> None:
        rule = shop_with_draft()
        proposed(rule)

        with pytest.raises(ValidationError, match="is proposed; only a draft"):
            propose_rule(rule=rule)

    def test_a_newer_proposal_takes_the_place_of_the_one_that_waits(self) -> None:
        first = shop_with_draft()
        proposed(first)
        proposed(rule_of(first.cluster.site, state=Rule.State.DRAFT))

        first.refresh_from_db()
        assert ("draft", "replaced") == (
            first.state,
            Review.objects.filter(rule=first).get().outcome,
        )


class TestSendingBack:
    def test_needs_a_reason_that_the_author_reads(self) -> None:
        rule, rob = shop_with_draft(), person("rob")
        proposed(rule, person("eve", Role.EDITOR))

        with pytest.raises(ValidationError, match="Say what is to be changed"):
            send_back(rule=rule, reason=" ", actor=rob)
        send_back(rule=rule, reason="the price has no currency", actor=rob)

        review = Review.objects.get(rule=rule)
        assert ("draft", "sent_back", "the price has no currency", rob) == (
            rule.state,
            review.outcome,
            review.reason,
            review.decided_by,
        )

    def test_by_the_author_is_a_withdrawal_and_needs_none(self) -> None:
        rule, eve = shop_with_draft(), person("eve", Role.EDITOR)
        proposed(rule, eve)
        send_back(rule=rule, reason="", actor=eve)

        assert ("withdrawn", "rule.withdrawn") == (
            Review.objects.get(rule=rule).outcome,
            actions()[-1],
        )

    def test_what_nobody_proposes_cannot_be_sent_back(self) -> None:
        with pytest.raises(ValidationError, match="is draft; nobody proposes it"):
            send_back(rule=shop_with_draft(), reason="no")


class TestSecondPerson:
    def test_the_author_does_not_publish_where_somebody_else_may(self) -> None:
        ann, rob = person("ann"), person("rob")
        rule = shop_with_draft(made_by=ann)
        proposed(rule, ann)

        assert "It can be published by rob" in why_not(rule, ann)
        with pytest.raises(ValidationError, match="asks for a second person"):
            publish_reviewed(rule=rule, actor=ann)
        publish_reviewed(rule=rule, actor=rob)
        assert ("published", rob) == (rule.state, rule.published_by)
        review = Review.objects.get(rule=rule)
        assert ("published", rob) == (review.outcome, review.decided_by)

    def test_the_only_person_who_may_publish_does_it_alone(self) -> None:
        ann = person("ann")
        person("eve", Role.EDITOR)
        rule = shop_with_draft(made_by=ann)

        assert "" == why_not(rule, ann)

    @pytest.mark.parametrize(("publishing", "refuses"), [("anybody", False), ("second", True)])
    def test_the_site_may_decide_otherwise(self, publishing: str, *, refuses: bool) -> None:
        ann = person("ann")
        if publishing == "anybody":
            person("rob")
        rule = shop_with_draft(made_by=ann)
        change_policy(site=rule.cluster.site, publishing=publishing, second_share=10, actor=ann)

        assert refuses == bool(why_not(rule, ann))

    def test_who_proposes_counts_and_not_who_made_it(self) -> None:
        ann, rob = person("ann"), person("rob")
        rule = shop_with_draft(made_by=ann)
        proposed(rule, rob)

        assert ("", True) == (why_not(rule, ann), bool(why_not(rule, rob)))

    def test_an_editor_does_not_publish(self) -> None:
        assert "needs the role reviewer" in why_not(shop_with_draft(), person("eve", Role.EDITOR))

    def test_a_version_that_served_before_needs_nobody_else(self) -> None:
        ann = person("ann")
        person("rob")
        rule = shop_with_draft(made_by=ann)
        publish_rule(rule=rule)
        before = roll_back(rule=rule, actor=ann)
        rule.refresh_from_db()

        assert ("published", "retired", "") == (before.state, rule.state, why_not(rule, ann))


class TestForce:
    def test_needs_a_reason_that_is_kept(self) -> None:
        rule, rob = shop_with_draft(OTHER_NAMES), person("rob")
        proposed(rule, compares=True)

        with pytest.raises(ValidationError, match="name changes in 27 records of stored pages"):
            publish_reviewed(rule=rule, actor=rob)
        with pytest.raises(ValidationError, match="Say why"):
            publish_reviewed(rule=rule, actor=rob, is_forced=True)
        publish_reviewed(rule=rule, actor=rob, is_forced=True, reason="the shop renamed all")

        entries = AuditEntry.objects.filter(action="rule.published").latest("pk").detail
        assert ("the shop renamed all", True) == (entries["reason"], entries["forced"])
        assert "the shop renamed all" == Review.objects.get(rule=rule).reason

    def test_without_changed_constants_none_is_needed(self) -> None:
        rule, rob = shop_with_draft(WITHOUT_PRICE), person("rob")
        proposed(rule, compares=True)
        publish_reviewed(rule=rule, actor=rob)

        assert "published" == rule.state


class TestJudging:
    def test_figures_stay_with_the_version(self) -> None:
        rule, rob = shop_with_draft(), person("rob")
        pages = list(proposed(rule).pages.all())
        for page in pages[:19]:
            judge(page=page, verdict="right", actor=rob)
        rule.refresh_from_db()
        judged = rule.validation["judged"]
        assert (19, 1.0, 1.0, True) == (
            judged["pages"],
            judged["precision"],
            judged["recall"],
            judged["is_valid"],
        )

        judge(page=pages[19], verdict="wrong", marked=["price", "ghost"], actor=rob)
        rule.refresh_from_db()
        judged = rule.validation["judged"]
        assert (["price"], False, 0.95) == (
            JudgedPage.objects.get(pk=pages[19].pk).marked,
            judged["is_valid"],
            judged["attributes"]["price"]["precision"],
        )
        trust = runnable(rule).trust
        assert trust["price"] < 0.0 < trust["name"]
        assert 20 == rule.validation["pages"]  # what learning found out stays

    def test_skipped_pages_and_those_taken_back_do_not_count(self) -> None:
        review, rob = proposed(shop_with_draft()), person("rob")
        first, second = review.pages.all()[:2]
        judge(page=first, verdict="skipped", actor=rob)
        judge(page=second, verdict="wrong", actor=rob)
        judge(page=second, verdict="", actor=rob)

        assert (0, None) == (
            validity_so_far(review).n_pages,
            JudgedPage.objects.get(pk=second.pk).judged_by,
        )
        assert ["page.judged"] * 3 == actions()[-3:]

    def test_ends_with_the_review(self) -> None:
        rule, rob = shop_with_draft(), person("rob")
        review = proposed(rule)
        publish_reviewed(rule=rule, actor=rob)

        with pytest.raises(ValidationError, match="The review ended: published"):
            judge(page=review.pages.all()[0], verdict="right", actor=rob)

    def test_a_small_cluster_has_fewer_pages(self) -> None:
        rule = shop_with_draft(n_pages=0, is_first=True)
        assert 0 == proposed(rule).pages.count()
        members(rule, range(3))
        send_back(rule=rule, reason="more pages came", actor=None)

        assert 3 == proposed(rule).pages.count()
        assert STYLESHEET == rule.stylesheet

    def test_all_pages_of_a_small_cluster_can_be_judged(self) -> None:
        site, rob = shop(8), person("rob")
        for number in (1, 3):
            annotate_product(site, number)
        rule = learn_rule(cluster=products_of(site))
        review = proposed(rule)
        pages = list(review.pages.all())
        standings = []
        for page in pages:
            judge(page=page, verdict="right", actor=rob)
            standings.append(validity_so_far(review).whole.standing)

        samples = rule.samples.filter(use="unannotated").values_list("snapshot", flat=True)
        assert set(samples) == {page.snapshot_id for page in pages}
        assert ["undecided"] * 3 + ["valid"] * 3 == standings
