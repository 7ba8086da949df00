"""One wrong click among many is told, and the rule is learnt from the others."""

from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.odd_annotations import NEARLY_ALL, part_strangers
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, find_targets
from rules.algorithms.rule.rule import AttributeRule

MANY = AttributeType("names", is_multi=True)


def a_list(*names: str, foot: str = "Ann") -> str:
    items = "".join(f"<li><b>{name}</b> <i>{len(name)} years</i></li>" for name in names)
    return f"<h1>Names</h1><p>Found by {foot}</p><ul>{items}</ul>"


def learn(spec: AttributeType, *pages: tuple[str, list[str]]) -> AttributeRule:
    annotated = [
        AnnotatedPage(
            f"https://example.org/{number}",
            html.document_fromstring(page),
            {spec.name: [MarkedNode(path) for path in paths]},
        )
        for number, (page, paths) in enumerate(pages)
    ]
    return learn_cluster(annotated, [], [spec]).attributes[0]


def values(rule: AttributeRule, page: str) -> list[str]:
    columns = Columns(number_nodes([html.document_fromstring(page)]))
    return values_on(columns, rule, columns.index.page_bits[0])


CLICKS = [f"//li[{number}]/b" for number in range(1, 10)]


def test_one_wrong_click_of_ten_is_told_and_the_others_make_the_rule() -> None:
    page = a_list("Ann", "Bob", "Cy", "Dee", "Ed", "Flo", "Gus", "Hal", "Ivy")
    rule = learn(MANY, (page, [*CLICKS, "//p"]))

    assert ["Uma", "Vic"] == values(rule, a_list("Uma", "Vic"))
    assert ("annotations", "https://example.org/0") == (
        rule.failures[-1].step,
        rule.failures[-1].page,
    )
    assert rule.failures[-1].reason.startswith("1 of its annotations stand elsewhere")


def test_two_kinds_of_places_of_which_neither_is_nearly_all_are_not_parted() -> None:
    page = html.document_fromstring(a_list("Ann", "Bob", "Cy"))
    told = AnnotatedPage("u", page, {"names": [MarkedNode("//li[1]/b"), MarkedNode("//li[2]/i")]})
    index = number_nodes([page])
    marks = find_targets(index, [told], MANY).marks

    assert 1 / 2 < NEARLY_ALL
    assert (marks, []) == part_strangers(index, marks)
