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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

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

MIN_SHARE_OF_FOUND: Final = 0.8  # on its pages, which an uncertain candidate has to show


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
    """Return proposals in which the values of some attributes are what they became.

    Where that is not certain, what was found stays if the best candidate shows the same; otherwise
    the attribute has no value there. An attribute without any candidate stays as it was found.
    """
    if not attributes:
        return ChangedProposals(proposed, {})
    names = {attribute.name for attribute in attributes}
    of_others = [_without(page, names) for page in proposed]
    choices = _choices(known, of_others, attributes, weights)
    pages = [_without(page, choices.keys()) for page in proposed]
    certainty_by_name = {}
    for name, choice in choices.items():
        if choice.certainty >= MIN_CERTAINTY:
            certainty_by_name[name] = round(choice.certainty, 4)
            pages = [
                _with_values(page, known_page, name, choice.candidate.shown.get(number, ()), choice)
                for number, (page, known_page) in enumerate(zip(pages, known, strict=True))
            ]
        elif _shows_what_was_found(choice.candidate, proposed, name):
            pages = [
                _with_found(page, before, name)
                for page, before in zip(pages, proposed, strict=True)
            ]
    return ChangedProposals(pages, certainty_by_name)


def _without(page: ProposedPage, names: Collection[str]) -> ProposedPage:
    values = {name: values for name, values in page.values.items() if name not in names}
    return replace(page, values=values, absent=page.absent.difference(names))


def _with_found(page: ProposedPage, before: ProposedPage, name: str) -> ProposedPage:
    """Return a page with what was found of an attribute on it before, or with its absence."""
    if name in before.values:
        page = replace(page, values={**page.values, name: before.values[name]})
    if name in before.absent:
        page = replace(page, absent=page.absent | {name})
    return page


def _shows_what_was_found(
    candidate: SlotCandidate, proposed: Sequence[ProposedPage], name: str
) -> bool:
    """Return whether a candidate shows nearly all values that were found on its pages."""
    all_found = _found_values(proposed, [name])
    on_its_pages = {value for value in all_found if value[0] in candidate.shown}
    n_shown = len(on_its_pages & candidate.plain_texts)
    return n_shown >= MIN_SHARE_OF_FOUND * len(on_its_pages) > 0


def _choices(
    known: Sequence[KnownPage],
    proposed: Sequence[ProposedPage],
    attributes: Sequence[AttributeType],
    weights: ChangeWeights,
) -> dict[str, ChosenSlot]:
    """Return the best candidate of each attribute, the surest first."""
    slots = find_slots([page.page.tree for page in known])
    candidates_by_name: dict[str, Sequence[SlotCandidate]] = {}
    for attribute in attributes:
        stored = {
            number: texts
            for number, page in enumerate(known)
            if (texts := _texts(page.golden.get(attribute.name, "")))
        }
        candidates_by_name[attribute.name] = candidates_of(slots, attribute, stored)

    other_values = _found_values(proposed)
    choices: dict[str, ChosenSlot] = {}
    while candidates_by_name:
        best_name, best = "", None
        for name, candidates in candidates_by_name.items():
            choice = choose(candidates, weights, other_values)
            if choice is not None and (best is None or choice.certainty > best.certainty):
                best_name, best = name, choice
        if best is None:
            break
        choices[best_name] = best
        del candidates_by_name[best_name]
        if best.certainty >= MIN_CERTAINTY:
            other_values |= best.candidate.plain_texts
    return choices


def _texts(value: str | Sequence[str | None]) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    return [text for text in texts if text]


def _found_values(
    proposed: Sequence[ProposedPage], names: Sequence[str] = ()
) -> frozenset[OtherValue]:
    """Return the values of some attributes, or of all, with the number of their page."""
    return frozenset(
        (number, plain(value.place.text))
        for number, page in enumerate(proposed)
        for name, values in page.values.items()
        if not names or name in names
        for value in values
    )


def _with_values(
    page: ProposedPage,
    known: KnownPage,
    name: str,
    shown: Sequence[CandidateValue],
    choice: ChosenSlot,
) -> ProposedPage:
    """Return a page with what it shows of an attribute; with its absence if it had no value."""
    if name not in known.golden:
        return page if shown else replace(page, absent=page.absent | {name})
    certainty = round(choice.certainty, 4)
    values = []
    for value in shown:
        place = known.page.place_within(
            value.at.text.element, value.at.text.nth, (value.start, value.end)
        )
        if place is not None:
            values.append(FoundValue(place, certainty, {"certainty": certainty}))
    return replace(page, values={**page.values, name: values}) if values else page
