"""Propose to annotate what the values of attributes became, where these were not found again.

Notation:   As in `changed_values`.
Readings:   The attribute whose best candidate is surest chooses first; what it shows is no
            candidate of the others any more. An attribute is absent from a page that had no value
            and shows none.
Departures: Of a page that had no value and shows one nothing is proposed: nobody knows whether it
            is one.
Cost:       That of finding the slots of the pages, and of measuring the candidates of each
            attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.changed_values import (
    MIN_CERTAINTY,
    CandidateValue,
    ChangeWeights,
    ChosenSlot,
    OtherValue,
    SlotCandidate,
    candidates_of,
    choose,
    find_slots,
)
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.repair import FoundValue, KnownPage, ProposedPage


class ChangedProposals(NamedTuple):
    """What is proposed on the pages with changed values, and how sure each attribute is."""

    pages: Sequence[ProposedPage]
    certainty_by_name: Mapping[str, float]


def propose_changed(
    known: Sequence[KnownPage],
    proposed: Sequence[ProposedPage],
    attributes: Sequence[AttributeType],
    weights: ChangeWeights,
) -> ChangedProposals:
    """Return proposals in which the values of some attributes are replaced by what they became.

    An attribute of which nothing is certain has no value there.
    """
    names = {attribute.name for attribute in attributes}
    pages = [_without(page, names) for page in proposed]
    choices = _choices(known, pages, attributes, weights)
    for name, choice in choices.items():
        shown = choice.candidate.shown
        pages = [
            _with_values(page, known_page, name, shown.get(number, ()), choice.certainty)
            for number, (page, known_page) in enumerate(zip(pages, known, strict=True))
        ]
    return ChangedProposals(
        pages, {name: round(choice.certainty, 4) for name, choice in choices.items()}
    )


def _without(page: ProposedPage, names: set[str]) -> ProposedPage:
    values = {name: values for name, values in page.values.items() if name not in names}
    return replace(page, values=values, absent=page.absent - names)


def _choices(
    known: Sequence[KnownPage],
    proposed: Sequence[ProposedPage],
    attributes: Sequence[AttributeType],
    weights: ChangeWeights,
) -> dict[str, ChosenSlot]:
    """Return the candidates that are certain, by attribute, the surest first."""
    slots = find_slots([page.page.tree for page in known])
    candidates_by_name: dict[str, Sequence[SlotCandidate]] = {}
    for attribute in attributes:
        stored = {
            number: texts
            for number, page in enumerate(known)
            if (texts := _texts(page.golden.get(attribute.name, "")))
        }
        candidates_by_name[attribute.name] = candidates_of(slots, attribute, stored)

    other_values = _other_values(proposed)
    choices: dict[str, ChosenSlot] = {}
    while candidates_by_name:
        best_name, best = "", None
        for name, candidates in candidates_by_name.items():
            choice = choose(candidates, weights, other_values)
            if choice is not None and (best is None or choice.certainty > best.certainty):
                best_name, best = name, choice
        if best is None or best.certainty < MIN_CERTAINTY:
            break
        choices[best_name] = best
        del candidates_by_name[best_name]
        other_values |= best.candidate.plain_texts
    return choices


def _texts(value: str | Sequence[str | None]) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    return [text for text in texts if text]


def _other_values(proposed: Sequence[ProposedPage]) -> frozenset[OtherValue]:
    return frozenset(
        (number, plain(value.place.text))
        for number, page in enumerate(proposed)
        for values in page.values.values()
        for value in values
    )


def _with_values(
    page: ProposedPage,
    known: KnownPage,
    name: str,
    shown: Sequence[CandidateValue],
    certainty: float,
) -> ProposedPage:
    """Return a page with what it shows of an attribute; with its absence if it had no value."""
    if name not in known.golden:
        return page if shown else replace(page, absent=page.absent | {name})
    values = []
    for value in shown:
        place = known.page.place_within(
            value.at.text.element, value.at.text.nth, (value.start, value.end)
        )
        if place is not None:
            values.append(FoundValue(place, round(certainty, 4), {"certainty": certainty}))
    return replace(page, values={**page.values, name: values}) if values else page
