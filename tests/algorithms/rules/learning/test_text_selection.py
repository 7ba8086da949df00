from collections.abc import Sequence

import pytest
from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.search import Conjunction
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, find_targets
from rules.algorithms.learning.text_selection import NoSelection, learn_part
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET, Selection

BY = Feature("label", 0, ("By",))


def learn(
    pages: list[tuple[str, str]],
    others: Sequence[str] = (),
    *,
    regex: str = "",
    feature: Feature = BY,
) -> Selection:
    annotated = [
        AnnotatedPage(
            f"u{number}", html.document_fromstring(page), {"a": [MarkedNode("//i", text)]}
        )
        for number, (page, text) in enumerate(pages)
    ]
    samples = read_samples(annotated, [html.document_fromstring(page) for page in others])
    spec = AttributeType("a", regex=regex)
    marks = find_targets(samples.index, samples.pages, spec).marks
    candidate = Conjunction((feature,), samples.columns.select(TEXT_TARGET, feature), 0.0)
    return learn_part(samples, marks, candidate, spec)


def test_a_whole_node_is_taken_as_it_is() -> None:
    assert Selection() == learn([("<b>By</b><i>Ann</i>", "Ann")])


def test_a_label_within_other_nodes_is_cut_there() -> None:
    selection = learn([("<b>By</b><i>Ann</i>", "Ann")], ["<i>By: Bob</i>"])
    assert Selection(prefix="By:", is_optional=True) == selection


def test_a_label_that_may_stand_before_the_node_is_optional() -> None:
    assert learn([("<i>By: Ann</i>", "Ann")]).is_optional


def test_the_regex_of_the_vertical_may_select_what_no_offset_can() -> None:
    pages = [("<i>x 12 by y z</i>", "12"), ("<i>12</i>", "12"), ("<i>a b 7 km c</i>", "7")]
    plain = Feature("tag", 1, ("i",))
    assert Selection() == learn(pages, regex=r"\d+", feature=plain)
    with pytest.raises(
        NoSelection, match="no part of the text is the value on all pages: '12' in 'x 12 by y z'"
    ):
        learn(pages, feature=plain)
