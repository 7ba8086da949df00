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
from rules.algorithms.learning.vote_costs import vote_cost
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import MAX_VOTE_COST, AttributeRule

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
    losers = losers_of(attribute_task, goal, winner.features, candidates[1:])
    assert min(MAX_LOSERS, len(candidates) - 1) == len(losers)
    assert 0 < len(losers) <= MAX_LOSERS
    assert winner.xpath not in {loser.xpath for loser in losers}
    assert is_confirmed(candidates[0], goal)


def test_cheap_losers_come_first_then_those_of_other_features() -> None:
    attribute_task = task("Ann")
    goal, candidates = attribute_task.search()
    winning, cheap, dear = (
        Feature("tag", 1, ("h1",)),
        Feature("tag", 1, ("h2",)),
        Feature("contains", 0, ("By",)),
    )
    beaten = [replace(candidates[0], features=(feature,)) for feature in (dear, winning, cheap)]
    losers = losers_of(attribute_task, goal, [winning], beaten)
    assert [cheap, winning, dear] == [loser.features[0] for loser in losers]
    assert losers[1].numbers.cost <= MAX_VOTE_COST < losers[2].numbers.cost
    rule = AttributeRule("a", losers=tuple(losers))
    assert tuple(losers[:2]) == rule.voters


def test_a_label_of_which_the_tag_is_known_votes_at_little_cost() -> None:
    attribute_task = task("Ann")
    goal, candidates = attribute_task.search()
    label = replace(candidates[0], features=(Feature("before", 0, ("By",)),))
    (loser,) = losers_of(attribute_task, goal, [], [label])
    assert (
        loser.numbers.cost
        <= MAX_VOTE_COST
        < vote_cost(attribute_task.samples, goal.target, label.features)
    )
