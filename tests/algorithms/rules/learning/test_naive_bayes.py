import pytest
from lxml import html

from rules.algorithms.learning.columns import Columns, numbers_of
from rules.algorithms.learning.naive_bayes import (
    ClassifierUndecided,
    choose,
    decimal,
    learn_classifier,
    relative,
)
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import ELEMENT_TARGET

RATING = """<div padding="10px"><table><tr><td><img border="0" src="5.png"></td></tr></table></div>
<table><tr><td><img src="a.png"></td><td><img src="b.png"></td></tr></table>"""


def images(page: str, n: int = 1) -> tuple[Columns, int, list[int]]:
    columns = Columns(number_nodes(html.document_fromstring(page) for _ in range(n)))
    bits = columns.select(ELEMENT_TARGET, Feature("tag", 0, ("img",)))
    return columns, bits, columns.index.page_bits


class TestPaper:
    """Section III-C.5: a border and an ancestor's padding tell the rating image of //td/img."""

    def test_weak_features_choose_the_image(self) -> None:
        columns, bits, pages = images(RATING, 2)
        first = [next(numbers_of(bits & page)) for page in pages]
        positives = sum(1 << number for number in first)
        classifier = learn_classifier(columns, ELEMENT_TARGET, bits, positives, pages)
        tests = {weight.test for weight in classifier.weights()}
        assert {"@border", "ancestor::*[@padding='10px']"} <= tests
        assert [1 << number for number in first] == [
            classifier.choose(columns, bits & page) for page in pages
        ]

    def test_levels_become_self_parent_and_ancestor(self) -> None:
        assert Feature("class", 0, ("c1",)) == relative(Feature("class", 0, ("c1",)))
        assert Feature("tag", 1, ("td",)) == relative(Feature("tag", 1, ("td",)))
        assert Feature("tag", 0, ("div",), axis="ancestor") == relative(Feature("tag", 3, ("div",)))


def test_equal_candidates_leave_the_classifier_undecided() -> None:
    columns, bits, pages = images("<p><img><img></p>")
    positive = 1 << list(numbers_of(bits))[1]
    with pytest.raises(ClassifierUndecided, match="undecided") as caught:
        learn_classifier(columns, ELEMENT_TARGET, bits, positive, pages)
    assert 0 == caught.value.page


def test_nothing_above_even_odds_is_nothing() -> None:
    columns, bits, _ = images(RATING)
    assert 0 == choose(columns, bits, -1.0, ())
    assert 1 << next(numbers_of(bits)) == choose(columns, bits, 1.0, ())


def test_weights_are_plain_decimals() -> None:
    assert ["0.0000", "-1.5000", "0.0000"] == [decimal(number) for number in (0.0, -1.5, 1e-9)]
