from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import numbers_of
from rules.algorithms.learning.samples import Samples, chosen, nodes_of, question_of, read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, Targets, find_targets

LIST = "<ul><li>red</li><li>blue</li></ul><p>red</p><p>green</p>"


def read(*paths: str, is_multi: bool = True) -> tuple[Samples, Targets]:
    page = AnnotatedPage(
        "u", html.document_fromstring(LIST), {"a": [MarkedNode(path) for path in paths]}
    )
    samples = read_samples([page], [html.document_fromstring(LIST)])
    return samples, find_targets(
        samples.universe, samples.pages, AttributeType("a", is_multi=is_multi)
    )


def shown(samples: Samples, bits: int) -> list[str]:
    return [samples.universe.nodes[number].shown for number in numbers_of(bits)]


def test_what_was_not_annotated_is_negative() -> None:
    samples, targets = read("//li[1]", is_multi=False)
    question = question_of(samples, targets, targets.marks, is_multi=False)
    assert ["red"] == shown(samples, question.positives)
    assert ["blue", "red", "green"] == shown(samples, question.negatives)
    assert 1 == len(question.unannotated)


def test_in_a_list_nodes_that_show_an_annotated_value_are_neutral() -> None:
    samples, targets = read("//li[1]", "//li[2]")
    question = question_of(samples, targets, targets.marks, is_multi=True)
    assert ["green"] == shown(samples, question.negatives)


def test_of_a_single_value_marked_twice_the_first_must_be_found() -> None:
    samples, targets = read("//li[1]", "//p[1]", is_multi=False)
    assert 1 == len(chosen(targets.marks, is_multi=False))
    question = question_of(samples, targets, targets.marks, is_multi=False)
    assert ["blue", "green"] == shown(samples, question.negatives)


def test_nodes_of_the_same_tags_are_alike() -> None:
    samples, targets = read("//li[1]", "//li[2]")
    question = question_of(samples, targets, targets.marks, is_multi=True)
    assert ["red", "blue", "red", "blue"] == shown(samples, question.alike)
    assert question.positives == nodes_of(targets.marks)


def test_samples_know_whether_there_are_others() -> None:
    samples, _ = read("//li[1]")
    assert samples.has_others
    assert not read_samples([], []).has_others
