from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import numbers_of
from rules.algorithms.learning.samples import Samples, goal_of, nodes_of, read_samples, wanted_marks
from rules.algorithms.learning.targets import (
    AnnotatedPage,
    MarkedNode,
    Targets,
    find_targets,
)

LIST = "<ul><li>red</li><li>blue</li></ul><p>red</p><p>green</p>"


def read(*paths: str, is_multi: bool = True, is_only_here: bool = False) -> tuple[Samples, Targets]:
    marks = [MarkedNode(path, is_only_here=is_only_here) for path in paths]
    page = AnnotatedPage("u", html.document_fromstring(LIST), {"a": marks})
    samples = read_samples([page], [html.document_fromstring(LIST)])
    return samples, find_targets(
        samples.index, samples.pages, AttributeType("a", is_multi=is_multi)
    )


def shown(samples: Samples, bits: int) -> list[str]:
    return [samples.index.nodes[number].shown for number in numbers_of(bits)]


def test_what_shows_something_else_is_negative() -> None:
    samples, targets = read("//li[1]", is_multi=False)
    goal = goal_of(samples, targets, targets.marks, is_multi=False)
    assert ["red"] == shown(samples, goal.positives)
    assert ["red", "red"] == shown(samples, goal.right)
    assert ["blue", "green"] == shown(samples, goal.negatives)
    assert 1 == len(goal.unannotated)


def test_of_a_value_that_is_only_here_the_other_nodes_are_negative() -> None:
    samples, targets = read("//li[1]", is_multi=False, is_only_here=True)
    goal = goal_of(samples, targets, targets.marks, is_multi=False)
    assert ["red"] == shown(samples, goal.right)
    assert ["blue", "red", "green"] == shown(samples, goal.negatives)


def test_in_a_list_nodes_that_show_an_annotated_value_are_right() -> None:
    samples, targets = read("//li[1]", "//li[2]")
    goal = goal_of(samples, targets, targets.marks, is_multi=True)
    assert ["green"] == shown(samples, goal.negatives)


def test_of_a_single_value_marked_twice_the_first_must_be_found() -> None:
    samples, targets = read("//li[1]", "//p[1]", is_multi=False)
    assert 1 == len(wanted_marks(targets.marks, is_multi=False))
    goal = goal_of(samples, targets, targets.marks, is_multi=False)
    assert ["blue", "green"] == shown(samples, goal.negatives)


def test_nodes_of_the_same_tags_are_alike() -> None:
    samples, targets = read("//li[1]", "//li[2]")
    goal = goal_of(samples, targets, targets.marks, is_multi=True)
    assert ["red", "blue", "red", "blue"] == shown(samples, goal.same_tags)
    assert goal.positives == nodes_of(targets.marks)


def test_samples_know_whether_there_are_others() -> None:
    samples, _ = read("//li[1]")
    assert samples.has_unannotated
    assert not read_samples([], []).has_unannotated
