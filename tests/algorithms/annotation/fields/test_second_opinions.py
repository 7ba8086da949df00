"""Whether a rule takes for a field what the vertical's other sites would take."""

from __future__ import annotations

from annotation.algorithms.fields.drafting import FieldDraft
from annotation.algorithms.fields.recognising import find_described_slots
from annotation.algorithms.fields.second_opinions import SecondOpinion, second_opinions
from tests.algorithms.annotation.fields.pages import N_PAGES, site_of_lists, truth

FOUND = truth(20)
NOTHING: dict[str, list[str]] = {}


def price_draft(certainty: float) -> FieldDraft:
    """Return the slot of the price as other sites would take it."""
    wanted = [page["price"] for page in FOUND]
    description = next(
        each
        for each in find_described_slots(site_of_lists())
        if [each.slot.values(page) for page in range(N_PAGES)] == wanted
    )
    return FieldDraft("price", description, 0.9, certainty, "it looks like a price")


def test_a_rule_that_finds_the_same_agrees() -> None:
    draft = price_draft(0.95)
    assert [SecondOpinion(draft, None, "")] == second_opinions([draft], FOUND)


def test_another_value_is_told_with_a_page_that_shows_it() -> None:
    draft = price_draft(0.95)
    found = [FOUND[0], *({"price": page["maker"]} for page in FOUND[1:])]
    (opinion,) = second_opinions([draft], found)
    assert (False, 1, FOUND[1]["price"][0]) == (opinion.agrees, opinion.page, opinion.value)


def test_a_few_other_values_are_no_other_opinion() -> None:
    draft = price_draft(0.95)
    found = [NOTHING, *FOUND[1:]]
    assert [True] == [opinion.agrees for opinion in second_opinions([draft], found)]


def test_a_rule_that_finds_nothing_there_differs() -> None:
    draft = price_draft(0.95)
    (opinion,) = second_opinions([draft], [NOTHING] * N_PAGES)
    assert (0, FOUND[0]["price"][0]) == (opinion.page, opinion.value)


def test_what_other_sites_are_not_certain_of_says_nothing() -> None:
    assert [] == second_opinions([price_draft(0.8)], FOUND)
