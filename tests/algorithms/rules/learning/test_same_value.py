from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import numbers_of
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.same_value import (
    MAX_DOUBLES,
    ShownTexts,
    ValueGroup,
    doubles_of,
    groups_of,
)
from rules.algorithms.learning.targets import (
    AnnotatedPage,
    MarkedNode,
    TargetNode,
    find_targets,
)

PAGE = "<h1>Ann</h1><p>by <b> Ann </b></p><i>Bob</i><img src='a.png'><img src='a.png'><i>Bob</i>"


def read(*marks: MarkedNode, page: str = PAGE) -> tuple[NodeIndex, list[TargetNode]]:
    tree = html.document_fromstring(page)
    annotated = AnnotatedPage("u", tree, {"a": marks})
    index = number_nodes([tree])
    return index, find_targets(index, [annotated], AttributeType("a", is_multi=True)).marks


def tags(index: NodeIndex, nodes: int) -> list[str]:
    return [str(index.nodes[index.nodes[n].parent].element.tag) for n in numbers_of(nodes)]


def test_a_group_has_all_nodes_of_the_page_that_show_the_text() -> None:
    index, marks = read(MarkedNode("//b"))
    (group,) = groups_of(index, marks)
    assert ["h1", "b"] == tags(index, group.nodes)
    assert ["b"] == tags(index, group.marked)
    assert group.is_hit(group.nodes & ~group.marked)
    assert not group.is_hit(0)


def test_a_value_that_is_only_here_is_a_group_of_its_own() -> None:
    index, marks = read(MarkedNode("//b", is_only_here=True))
    (group,) = groups_of(index, marks)
    assert ["b"] == tags(index, group.nodes)
    assert [] != doubles_of(read(MarkedNode("//b"))[0], read(MarkedNode("//b"))[1][0])
    assert [] == doubles_of(index, marks[0])


def test_a_text_that_was_marked_twice_must_be_found_twice() -> None:
    index, marks = read(MarkedNode("//i[1]"), MarkedNode("//i[2]"))
    (group,) = groups_of(index, marks)
    first = group.nodes & -group.nodes
    assert 2 == group.n_values
    assert not group.is_hit(first)
    assert group.is_hit(group.nodes)


def test_attributes_are_told_apart_by_their_value() -> None:
    index, marks = read(MarkedNode("//img[1]/@src"))
    (group,) = groups_of(index, marks)
    assert 2 == group.nodes.bit_count()


def test_the_doubles_are_the_nearest() -> None:
    index, marks = read(MarkedNode("//b"), page=f"{'<p>x</p>' * 9}<b>x</b>{'<p>x</p>' * 9}")
    doubles = doubles_of(index, marks[0])
    assert MAX_DOUBLES == len(doubles)
    marked = marks[0].positive.node
    assert max(abs(double.node - marked) for double in doubles) <= MAX_DOUBLES


def test_several_nodes_may_show_one_text() -> None:
    index, marks = read(MarkedNode("//b"))
    texts = ShownTexts(index, "text()")
    (group,) = groups_of(index, marks)
    others = sum(1 << n for n, node in enumerate(index.nodes) if node.shown == "Bob")
    assert texts.is_one_text(group.nodes)
    assert not texts.is_one_text(group.nodes | others)
    assert not ShownTexts(index, "@src").is_one_text(0b11)
    assert ShownTexts(index, "@src").is_one_text(0b1)


def test_a_group_is_a_value_of_one_page() -> None:
    assert ValueGroup(0, 1, 1) != ValueGroup(1, 1, 1)
