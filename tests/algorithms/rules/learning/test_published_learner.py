from collections.abc import Sequence

from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import NAIVE_BAYES, POSITIONAL, XPATH, AttributeRule, Selection


def learn(pages: Sequence[tuple[str, str, str | None]], others: list[str]) -> AttributeRule:
    annotated = [
        AnnotatedPage(f"u{number}", html.document_fromstring(page), {"a": [MarkedNode(path, text)]})
        for number, (page, path, text) in enumerate(pages)
    ]
    trees = [html.document_fromstring(page) for page in others]
    return learn_cluster(annotated, trees, [AttributeType("a")], learner="published").attributes[0]


def values(rule: AttributeRule, page: str) -> list[str]:
    columns = Columns(number_nodes([html.document_fromstring(page)]))
    return values_on(columns, rule, columns.index.page_bits[0])


class TestPaper:
    """Section III-C: conjunction, position, classifier, offsets."""

    def test_strong_features_give_the_pxpath(self) -> None:
        page = "<i>Price</i><div class='listprice'><b>{0}</b></div><i>each</i>"
        page += "<i>Price</i><div class='x'><b>{0}1</b></div><i>each</i>"
        rule = learn([(page.format(5), "//div[1]/b", None)], [page.format(6), page.format(7)])
        assert XPATH == rule.alternatives[0].kind
        assert (1.0, ["9"]) == (
            rule.alternatives[0].numbers.precision,
            values(rule, page.format(9)),
        )

    def test_the_target_is_an_element_and_the_part_an_offset(self) -> None:
        page = "<p>Our Price: {0}</p><div>{0}</div>"
        rule = learn(
            [(page.format("$25.99"), "//p", "$25.99")], [page.format("$1"), page.format("$2")]
        )
        assert "element" == rule.alternatives[0].target
        assert Selection(first=-1, last=-1) == rule.alternatives[0].selection
        assert ["$7"] == values(rule, page.format("$7"))

    def test_a_position_comes_before_the_classifier(self) -> None:
        page = "<ul>" + "<li><i>x</i></li>" * 9 + "</ul>"
        rule = learn([(page, "//li[4]/i", None)] * 2, [page])
        assert (POSITIONAL, 2) == (rule.alternatives[0].kind, rule.alternatives[0].position)

    def test_weak_features_decide_where_no_position_can(self) -> None:
        rating = "<td><img border='0' alt='r'></td>"
        plain = "<td><img alt='p'></td>"
        rows = [rating + plain * 3, plain * 2 + rating + plain * 2, plain * 3 + rating + plain]
        pages = [f"<table><tr>{plain}{row}{plain}</tr></table>" for row in rows]
        marked = [(page, "//img[@border]/@alt", None) for page in pages]
        rule = learn(marked, [])
        assert [NAIVE_BAYES] == [alternative.kind for alternative in rule.alternatives]
        assert ["r"] == values(rule, f"<table><tr>{plain * 5}{rating}{plain * 2}</tr></table>")


def test_a_classifier_that_cannot_decide_is_told_with_its_page() -> None:
    page = "<div>{}</div>".format("<p>x</p>" * 30)
    rule = learn([(page, "//p[20]", None), (page + "<i>y</i>", "//p[14]", None)], [])
    assert () == rule.alternatives
    assert [("classifier", "u0")] == [(failure.step, failure.page) for failure in rule.failures]
