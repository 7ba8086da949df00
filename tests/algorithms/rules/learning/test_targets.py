from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.targets import (
    MIN_ALIKE_SHARE,
    AnnotatedPage,
    MarkedNode,
    Targets,
    find_targets,
    part_odd_marks,
)
from rules.algorithms.rule.rule import ELEMENT_TARGET, TEXT_TARGET, AttributeRule

PAGE = """<p>Our Price: <b>$25.99</b></p><div>one <i>two</i> three</div><img src="/a.png"><p>By Ann today</p>
<script type="application/ld+json">{"sku": "A-1"}</script>"""


def read(
    *marks: MarkedNode, absent: bool = False, problem: str = "", is_multi: bool = False
) -> tuple[NodeIndex, Targets]:
    tree = html.document_fromstring(PAGE)
    page = AnnotatedPage(
        "u", tree, {"a": marks} if marks else {}, frozenset({"a"} if absent else ()), problem
    )
    index = number_nodes([tree])
    return index, find_targets(index, [page], AttributeType("a", is_multi=is_multi))


def test_an_element_of_one_text_stands_for_the_text() -> None:
    index, targets = read(MarkedNode("//b"))
    positive = targets.marks[0].positive
    assert (TEXT_TARGET, "$25.99") == (positive.target, index.nodes[positive.node].shown)


def test_a_value_with_markup_is_its_element_even_where_the_samples_have_none() -> None:
    tree = html.document_fromstring(PAGE)

    def targets_of(path: str, text: str | None = None) -> list[str]:
        page = AnnotatedPage("u", tree, {"a": [MarkedNode(path, text)]})
        result = find_targets(number_nodes([tree]), [page], AttributeType("a", type="html"))
        return [mark.positive.target for mark in result.marks]

    assert [ELEMENT_TARGET] == targets_of("//b")
    assert [TEXT_TARGET] == targets_of("//p[2]", "Ann")
    assert ["@src"] == targets_of("//img/@src")


def test_a_part_of_a_text_keeps_what_stands_around_it() -> None:
    _, targets = read(MarkedNode("//p[2]", "Ann"))
    positive = targets.marks[0].positive
    assert ("By", "today") == (positive.left, positive.right)


def test_a_value_that_stands_twice_is_the_one_behind_what_was_before_it() -> None:
    tree = html.document_fromstring("<p>Rooms 4 of 4 free</p>")
    page = AnnotatedPage("u", tree, {"a": [MarkedNode("//p", "4", before="of")]})
    (mark,) = find_targets(number_nodes([tree]), [page], AttributeType("a")).marks
    assert ("Rooms 4 of", "free") == (mark.positive.left, mark.positive.right)


def test_a_value_over_several_texts_is_an_element() -> None:
    _, targets = read(MarkedNode("//div"))
    assert [ELEMENT_TARGET] == [mark.positive.target for mark in targets.marks]
    assert "one two three" == targets.marks[0].value


def test_a_text_node_can_be_marked_itself() -> None:
    index, targets = read(MarkedNode("//div/text()[2]"))
    assert "three" == index.nodes[targets.marks[0].positive.node].shown


def test_an_attribute_is_a_target_at_its_element() -> None:
    index, targets = read(MarkedNode("//img/@src"))
    positive = targets.marks[0].positive
    assert ("@src", "img", "/a.png") == (
        positive.target,
        index.nodes[positive.node].element.tag,
        targets.marks[0].value,
    )


def test_a_value_within_a_script_is_part_of_its_text() -> None:
    _, targets = read(MarkedNode("//script", "A-1"))
    assert '{"sku": "' == targets.marks[0].positive.left


def test_blanks_are_not_compared() -> None:
    _, targets = read(
        MarkedNode("//div", "one\xa0 two\n three"),
        MarkedNode("//p[2]", "Ann  today"),
        is_multi=True,
    )
    assert ["one two three", "Ann today"] == [mark.value for mark in targets.marks]


def test_an_absent_attribute_is_judged_and_has_no_mark() -> None:
    _, targets = read(absent=True)
    assert ([0], []) == (targets.judged, targets.marks)


class TestFailures:
    def told(self, targets: Targets) -> list[tuple[str, str, str]]:
        assert not targets.marks
        return [(failure.attribute, failure.step, failure.page) for failure in targets.failures]

    def test_a_value_and_absent_contradict_each_other(self) -> None:
        _, targets = read(MarkedNode("//b"), absent=True)
        assert [("a", "annotations", "u")] == self.told(targets)
        assert "contradictory" in targets.failures[0].reason

    def test_two_values_of_a_single_valued_attribute_contradict_each_other(self) -> None:
        _, targets = read(MarkedNode("//b", "$25.99"), MarkedNode("//p[2]", "Ann"))
        assert [("a", "annotations", "u")] == self.told(targets)

    def test_a_truncated_page_is_not_used(self) -> None:
        _, targets = read(MarkedNode("//b"), problem="truncated")
        assert [("a", "page", "u")] == self.told(targets)
        assert "truncated" in targets.failures[0].reason

    def test_a_value_that_is_not_in_its_node_is_told(self) -> None:
        _, targets = read(MarkedNode("//b", "$99"))
        assert [("a", "node", "u")] == self.told(targets)
        assert "'$99' is not in the node's text '$25.99'" in targets.failures[0].reason

    def test_a_node_that_is_not_there_is_told(self) -> None:
        for path in ("//h1", "//h1[", "count(//p)"):
            _, targets = read(MarkedNode(path))
            assert [("a", "node", "u")] == self.told(targets)

    def test_a_node_without_text_is_told(self) -> None:
        _, targets = read(MarkedNode("//img"))
        assert [("a", "node", "u")] == self.told(targets)


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
    annotated = AnnotatedPage(
        "u", page, {"names": [MarkedNode("//li[1]/b"), MarkedNode("//li[2]/i")]}
    )
    index = number_nodes([page])
    marks = find_targets(index, [annotated], MANY).marks

    assert 1 / 2 < MIN_ALIKE_SHARE
    assert (marks, []) == part_odd_marks(index, marks)
