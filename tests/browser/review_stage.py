"""A shop whose rule was learnt and is in use, with a next version that somebody proposes."""

from __future__ import annotations

from typing import NamedTuple

from annotation.models import Attribute
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.annotations.commenting import add_comment
from annotation.services.annotations.second_annotating import annotate_again
from annotation.services.verticals.policies import change_policy
from clustering.models import Page
from rules.models import Delivery, Impact, Rule
from rules.services.learning.learning import learn_rule
from rules.services.records.webhooks import add_webhook
from rules.services.review.impacts import compute_impact
from rules.services.review.publishing import publish_rule
from rules.services.review.reviewing import propose_rule
from tests.apps.annotation.annotations.test_second_annotating import anchor
from tests.apps.rules.shop_cast import annotate_product, products_of, shop
from vertex.core.models import Site, User
from vertex.core.services.jobs.jobs import run_job

NAME = '<value name="name"'


class ReviewStage(NamedTuple):
    """What there is to be reviewed."""

    site: Site
    rule: Rule

    @property
    def address(self) -> str:
        return f"/sites/shop/rules/{self.rule.cluster.name}/versions/{self.rule.version}"


def set_review_stage(people: dict[str, User], *, breaks_names: bool = False) -> ReviewStage:
    """Return a proposed rule with impact and pages to judge; `breaks_names` changes the names."""
    site = shop(30)
    for number in (1, 3):
        annotate_product(site, number)
    in_use = learn_rule(cluster=products_of(site))
    publish_rule(rule=in_use)
    rule = learn_rule(cluster=products_of(site), actor=people["editor"])
    if breaks_names:
        before, result, rest = rule.stylesheet.partition(NAME)
        value, end, after = rest.partition("</value>")
        rule.stylesheet = before + result + value + "<xsl:text> (new)</xsl:text>" + end + after
        rule.save()
    propose_rule(rule=rule, comment="The weight was missing.", actor=people["editor"])
    impact = Impact.objects.get(rule=rule)
    assert impact.job_id is not None
    assert run_job(impact.job_id, compute_impact).state == "done"
    return ReviewStage(site, rule)


def add_what_people_say(site: Site, people: dict[str, User]) -> Page:
    """Add a comment, a webhook with a message, and a page that two people annotate differently."""
    change_policy(site=site, publishing="second", second_share=100, actor=people["operator"])
    page = site.pages.get(url__endswith="p/1")
    add_comment(page=page, text="Is this with tax?", xpath="//dd[1]", actor=people["reviewer"])
    webhook = add_webhook(site=site, url="https://receiver.example/hook", actor=people["operator"])
    Delivery.objects.create(
        webhook=webhook,
        first_change=1,
        last_change=9,
        n_records=9,
        n_tries=3,
        error="It answered 500.",
        status=500,
    )
    name = Attribute.objects.get(name="name")
    for number, xpath in ((5, "/html/body/h1"), (7, "/html/body/h1")):
        annotated = site.pages.select_related("latest_snapshot").get(url__endswith=f"p/{number}")
        assert annotated.latest_snapshot is not None
        marks = [AnnotatedValue(anchor(annotated, xpath))]
        annotate(
            snapshot=annotated.latest_snapshot, attribute=name, marks=marks, actor=people["editor"]
        )
        if number == 5:
            annotate_again(
                snapshot=annotated.latest_snapshot,
                attribute=name,
                anchors=[anchor(annotated, "/html/body/p")],
                actor=people["operator"],
            )
    return site.pages.get(url__endswith="p/7")
