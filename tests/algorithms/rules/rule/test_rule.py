import json

from lxml import etree

from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import (
    NAIVE_BAYES,
    POSITIONAL,
    XPATH,
    Alternative,
    AttributeRule,
    Boundary,
    ClusterRule,
    LearningFailure,
    Numbers,
    Selection,
    Weight,
)

LABEL = Feature("label", 0, ("Price", "Our price"))
TAG = Feature("tag", 1, ("td",))
IN_CELL = Alternative(
    XPATH, "text()", (LABEL, TAG), Selection(prefix="Price:"), numbers=Numbers(1.0, 1, 0.9)
)
SECOND = Alternative(POSITIONAL, "element", (TAG,), position=-2)
GUESSED = Alternative(
    NAIVE_BAYES,
    "@src",
    (),
    bias="-1.2500",
    weights=(Weight(Feature("attribute", 1, ("10px",), name="padding"), "2.0000", "-0.5000"),),
)


def test_a_rule_survives_json() -> None:
    failures = (LearningFailure("fax", "xpath", "https://example.org/1", "no precise XPath"),)
    price = AttributeRule(
        "price", "price", is_mandatory=True, alternatives=(IN_CELL, SECOND), losers=(GUESSED,)
    )
    fax = AttributeRule("fax", regex=r"\d+", failures=failures)
    rule = ClusterRule(
        (price, fax), Boundary(SECOND, 2), learnt_from=("https://example.org/1",), n_unannotated=19
    )
    assert rule == ClusterRule.from_json(json.loads(json.dumps(rule.as_json())))


def test_every_xpath_of_a_rule_can_be_read() -> None:
    for alternative in (IN_CELL, SECOND, GUESSED):
        etree.XPath(alternative.xpath)
    for weight in GUESSED.weights:
        etree.XPath(weight.test)


def test_json_tells_the_xpath_for_readers() -> None:
    form = SECOND.as_json()
    assert "(//td/*)[last()-1]" == form["xpath"]
    assert "self::td" == form["features"][0]["test"]
    assert "parent::*[@padding='10px']" == GUESSED.as_json()["weights"][0]["test"]


def test_a_rule_without_alternatives_says_why() -> None:
    failure = LearningFailure("fax", "xpath", "", "no precise XPath")
    assert "xpath: no precise XPath" == AttributeRule("fax", failures=(failure, failure)).reason
    assert "" == AttributeRule("price", alternatives=(IN_CELL,), failures=(failure,)).reason


def test_the_default_selection_is_the_whole_text() -> None:
    assert Selection().is_whole
    assert not Selection(first=2).is_whole
