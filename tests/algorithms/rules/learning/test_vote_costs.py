"""What the vote of a loser costs is counted on the samples."""

from __future__ import annotations

import pytest
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.learning.vote_costs import vote_cost
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import MAX_VOTE_COST, TEXT_TARGET, AttributeRule

PAGE = "<h1>Oak {n}</h1><div class=facts><b>Price</b><i>{n} EUR</i></div>" + "<p>text</p>" * 40


def trees(n: int) -> list[html.HtmlElement]:
    return [html.document_fromstring(PAGE.format(n=number)) for number in range(n)]


def cost_of(*features: Feature) -> float:
    samples = read_samples([AnnotatedPage("a", trees(1)[0], {})], trees(2))
    return vote_cost(samples, TEXT_TARGET, features)


@pytest.mark.parametrize(
    "feature", [Feature("tag", 1, ("h1",)), Feature("before", 0, ("Price",), name="b")]
)
def test_a_vote_costs_little_that_looks_at_few_elements(feature: Feature) -> None:
    assert cost_of(feature) <= MAX_VOTE_COST


@pytest.mark.parametrize(
    "features",
    [
        [Feature("tag", 1, ("p",))],
        [Feature("contains", 0, ("EUR",))],
        [Feature("tag", 4, ("html",))],
        [],
    ],
)
def test_a_vote_is_dear_that_looks_at_many(features: list[Feature]) -> None:
    assert cost_of(*features) > MAX_VOTE_COST


def test_the_same_samples_give_the_same_rule() -> None:
    def learnt() -> AttributeRule:
        first, *others = trees(6)
        page = AnnotatedPage("a", first, {"price": [MarkedNode("/html/body/div/i")]})
        (rule,) = learn_cluster([page], others, [AttributeType("price")]).attributes
        return rule

    assert learnt() == learnt()
