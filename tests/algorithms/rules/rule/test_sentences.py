"""Rules in plain words: each kind of feature is said, and nothing is left out."""

from __future__ import annotations

import pytest

from rules.algorithms.rule.feature import TESTS, Feature
from rules.algorithms.rule.rule import Alternative
from rules.algorithms.rule.sentences import place_in_words, sentence_of


def sentence(*features: Feature, target: str = "text()", position: int = 0) -> str:
    kind = "positional" if position else "xpath"
    return sentence_of(Alternative(kind, target, features, position=position))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "features"),
    [
        (
            "the text after the label “Price” in the box with class “buy”",
            [Feature("label", 0, ("Price",)), Feature("token", 1, ("buy",))],
        ),
        (
            "the text in the heading with class “name” in a section that comes first in its place",
            [
                Feature("tag", 1, ("h1",)),
                Feature("class", 1, ("name",)),
                Feature("tag", 2, ("section",)),
                Feature("first", 2),
            ],
        ),
        (
            "the text after “Weight” or “Gewicht” written like “000 g”",
            [Feature("before", 0, ("Weight", "Gewicht")), Feature("shape", 0, ("000 g",))],
        ),
        (
            "the text in the box inside something with the id “specs”",
            [Feature("id", 1, ("specs",), axis="ancestor")],
        ),
    ],
)
def test_a_rule_is_said_in_a_sentence(expected: str, features: list[Feature]) -> None:
    assert expected == sentence(*features)


def test_attributes_elements_and_positions_are_said_too() -> None:
    image = Feature("tag", 0, ("img",))
    assert "the address of the image" == sentence(image, target="@src")
    assert "the attribute “data-id” of the image" == sentence(image, target="@data-id")
    assert "the paragraph" == sentence(Feature("tag", 0, ("p",)), target="element")
    assert "the last on the page: the text" == sentence(position=-1)
    assert "number 5 on the page: the text" == sentence(position=5)


def test_several_alternatives_are_said_in_the_order_in_which_they_are_tried() -> None:
    heading = Alternative("xpath", "text()", (Feature("tag", 0, ("h1",)),))
    price = Alternative("xpath", "text()", (Feature("before", 0, ("Price",)),))
    first, second = sentence_of(heading), sentence_of(price)
    assert "" == place_in_words([], is_multi=False)
    assert first == place_in_words([heading], is_multi=True)
    assert f"{first}; and {second}" == place_in_words([heading, price], is_multi=True)
    assert f"{first}; where that is missing, {second}" == place_in_words(
        [heading, price], is_multi=False
    )


@pytest.mark.parametrize("kind", sorted(TESTS))
@pytest.mark.parametrize("level", [0, 1])
def test_no_kind_of_feature_is_passed_over(kind: str, level: int) -> None:
    feature = Feature(kind, level, ("Some", "Other"), name="lang", distance=3)
    plain = sentence(Feature("tag", level, ("div",)))
    assert sentence(feature) not in {plain, sentence()}
