from dataclasses import replace

from lxml import html

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.attribute_task import (
    MAX_LOSERS,
    AttributeTask,
    alternative_of,
    is_confirmed,
    losers_of,
)
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, find_targets
from rules.algorithms.rule.feature import Feature

PAGE = (
    "<div class='c'><h1>{0}</h1><p>By:</p><p class='n'>{1}</p><p>{0}</p></div>"
    "<div class='d'><p>By:</p><p class='n'>z</p></div>"
)


def task(*names: str, is_multi: bool = False) -> AttributeTask:
    """Return the task of pages that are annotated, the last one first by its address."""
    attribute = AttributeType("a", is_multi=is_multi)
    pages = [
        AnnotatedPage(
            f"https://example.org/{len(names) - number}",
            html.document_fromstring(PAGE.format(f"t{number}", name)),
            {"a": [MarkedNode("//div[1]/p[2]")]},
        )
        for number, name in enumerate(names)
    ]
    plain = PAGE.replace(" class='n'", "")
    others = [
        html.document_fromstring(page.format(f"u{n}", f"m{n}"))
        for n, page in enumerate([PAGE, plain, PAGE, plain])
    ]
    samples = read_samples(pages, others)
    targets = find_targets(samples.index, samples.pages, attribute)
    return AttributeTask(samples, targets, attribute, tuple(targets.marks))


def test_values_come_in_the_order_of_the_addresses() -> None:
    assert [1, 0] == [group.page for group in task("Ann", "Bob").groups]


def test_a_task_can_be_that_of_some_values() -> None:
    both = task("Ann", "Bob")
    own = both.with_values(both.groups[:1])
    assert ["Bob"] == [mark.value for mark in own.marks]
    assert both.targets is own.targets


def test_what_is_beaten_stays_as_losers_with_a_part_of_the_text_each() -> None:
    attribute_task = task("Ann")
    goal, candidates = attribute_task.search()
    winner = alternative_of(attribute_task, goal, candidates[0])
    losers = losers_of(attribute_task, goal, candidates[1:])
    assert len(candidates) - 1 == len(losers)
    assert 0 < len(losers) <= MAX_LOSERS
    assert winner.xpath not in {loser.xpath for loser in losers}
    assert is_confirmed(candidates[0], goal)


def test_losers_that_run_fast_come_first() -> None:
    attribute_task = task("Ann")
    goal, candidates = attribute_task.search()
    slow, fast = (
        replace(candidates[0], features=(feature,))
        for feature in (Feature("sibling_text", 1, ("By",)), Feature("tag", 1, ("p",)))
    )
    losers = losers_of(attribute_task, goal, [slow, fast])
    assert ["tag", "sibling_text"] == [loser.features[0].kind for loser in losers]
