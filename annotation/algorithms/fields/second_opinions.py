"""Say whether a rule takes for a field what the other sites of its vertical would take.

Readings:   Only what other sites are certain of counts. A rule agrees with them where both share a
            value on at least half of the pages on which they would take one; a rule that finds
            nothing there does not.
Cost:       Linear in the pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from annotation.algorithms.fields.drafting import FieldDraft

MIN_SHARED_PAGES: Final = 0.5  # of those on which other sites would take a value


class SecondOpinion(NamedTuple):
    """What other sites are certain that a field is, beside what a rule finds."""

    draft: FieldDraft
    page: int | None  # the first on which they would take another text; None where they agree
    value: str  # that text; blank where they agree

    @property
    def agrees(self) -> bool:
        return self.page is None


def second_opinions(
    drafts: Sequence[FieldDraft], found_by_page: Sequence[Mapping[str, Sequence[str]]]
) -> list[SecondOpinion]:
    """Return what the certain ones of some drafts say of what a rule finds.

    The values that it finds, by attribute, come page by page, as the slots of the drafts know them.
    """
    return [_opinion(draft, found_by_page) for draft in drafts if draft.is_certain]


def _opinion(
    draft: FieldDraft, found_by_page: Sequence[Mapping[str, Sequence[str]]]
) -> SecondOpinion:
    n_shown = 0
    differing: list[int] = []
    for page, values in enumerate(found_by_page):
        shown = draft.slot.values(page)
        if not shown:
            continue
        n_shown += 1
        if _plain(shown).isdisjoint(_plain(values.get(draft.field, ()))):
            differing.append(page)
    if n_shown - len(differing) >= MIN_SHARED_PAGES * n_shown:
        return SecondOpinion(draft, None, "")
    return SecondOpinion(draft, differing[0], draft.slot.values(differing[0])[0])


def _plain(texts: Sequence[str]) -> set[str]:
    """Return texts without their blanks, which nobody sees alike."""
    return {"".join(text.split()) for text in texts}
