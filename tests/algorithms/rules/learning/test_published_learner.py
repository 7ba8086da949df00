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

    def test_the_target_is_a_text_and_the_part_an_offset(self) -> None:
        page = "<p>Our Price: {0}</p><div>{0}</div>"
        rule = learn(
            [(page.format("$25.99"), "//p", "$25.99")], [page.format("$1"), page.format("$2")]
        )
        assert "text()" == rule.alternatives[0].target
        assert Selection(first=-1, last=-1) == rule.alternatives[0].selection
        assert ["$7"] == values(rule, page.format("$7"))

    def test_a_position_comes_before_the_classifier(self) -> None:
        page = "<ul>" + "<li><i>x</i></li>" * 29 + "</ul>"
        rule = learn([(page, "//li[15]/i", None)] * 2, [page])
        assert POSITIONAL == rule.alternatives[0].kind
        numbered = "<ul>" + "".join(f"<li><i>{n}</i></li>" for n in range(1, 30)) + "</ul>"
        assert ["15"] == values(rule, numbered)

    def test_weak_features_decide_where_no_position_can(self) -> None:
        rating = "<td><img border='0' alt='r'></td>"
        plain = "<td><img alt='p'></td>"
        rows = [rating + plain * 3, plain * 2 + rating + plain * 2, plain * 3 + rating + plain]
        pages = [f"<table><tr>{plain}{row}{plain}</tr></table>" for row in rows]
        marked = [(page, "//img[@border]/@alt", None) for page in pages]
        rule = learn(marked, [])
        assert [NAIVE_BAYES] == [alternative.kind for alternative in rule.alternatives]
        assert ["r"] == values(rule, f"<table><tr>{plain * 5}{rating}{plain * 2}</tr></table>")

    def test_texts_of_one_paragraph_are_told_apart(self) -> None:
        """Table II has an XPath that ends in text()."""
        page = "<p><b>By</b> {0}<br><b>In</b> {1}</p>"
        pages = [(page.format("Ann", 1990), "//p/text()[2]", None)]
        rule = learn(pages, [page.format("Bob", 1991), page.format("Cy", 1992)])
        assert ["2024"] == values(rule, page.format("Dee", 2024))

    def test_a_classifier_always_answers(self) -> None:
        page = "<div>{}</div>".format("<p>x</p>" * 60)
        rule = learn([(page, "//p[30]", None), (page + "<i>y</i>", "//p[24]", None)], [])
        assert [NAIVE_BAYES] == [alternative.kind for alternative in rule.alternatives]
