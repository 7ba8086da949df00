"""Find the pages again whose address changed, by the values that few others had.

Paper:      None; section IV-C of Gulhane et al., "Web-Scale Information Extraction with Vertex"
            (ICDE 2011), knows pages by their addresses.
Notation:   A value is a lead where at most two known pages have it and it is as long as own texts
            are (`lost_pages`): a short one stands in many texts. A lead is rare where few new
            pages show it.
Readings:   A new page is a known one at another address where it shows two rare values of it or
            more, and more of its values than of any other known page, and no other new page shows
            as many of them. So a list that names many things is none of them, a page with some
            facts about a thing is not its page, and of two copies of a page neither is taken.
Departures: None.
Cost:       Linear in the values and the texts; the values of a known page are looked for in the
            whole text of those new pages only that show a lead in a node of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from monitoring.algorithms.lost_pages import is_long

MIN_RARE_VALUES: Final = 2
MAX_HAVING_PAGES: Final = 2  # known pages that have a lead: of a thing and of facts about it
MAX_SHOWING_PAGES: Final = 2  # new pages that show a rare value
MAX_SHOWING_SHARE: Final = 0.05  # of the new pages, where those are more


class NewPage(NamedTuple):
    """What a page at a new address shows."""

    texts: Collection[str]  # each alone in its node
    whole: str


def find_former_addresses(
    known: Mapping[str, Collection[str]], new: Mapping[str, NewPage]
) -> dict[str, str]:
    """Return the former address of each new page that is a known one, by its new address.

    `known` has the constant values of known pages, written as the texts of new ones are.
    """
    leads_by_former = _leads(known)
    formers_by_lead = defaultdict(list)
    for former, leads in leads_by_former.items():
        for value in leads:
            formers_by_lead[value].append(former)
    n_showing = Counter(text for page in new.values() for text in set(page.texts))
    max_showing = max(MAX_SHOWING_PAGES, MAX_SHOWING_SHARE * len(new))
    n_shared: list[tuple[str, str, int]] = []
    for url, page in new.items():
        # One value in a node of its own leads to the known page; the others may stand anywhere.
        alone = formers_by_lead.keys() & set(page.texts)
        for former in {each for text in alone for each in formers_by_lead[text]}:
            shown = {value for value in known[former] if is_long(value) and value in page.whole}
            leads = shown & leads_by_former[former]
            if sum(n_showing[lead] <= max_showing for lead in leads) >= MIN_RARE_VALUES:
                n_shared.append((url, former, len(shown)))
    former_by_new = _without_rival(n_shared)
    new_by_former = _without_rival((former, url, n) for url, former, n in n_shared)
    return {
        url: former for url, former in former_by_new.items() if new_by_former.get(former) == url
    }


def _leads(known: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Return the values of each known page that hardly another one has."""
    n_having = Counter(value for values in known.values() for value in set(values))
    return {
        former: {
            value for value in values if is_long(value) and n_having[value] <= MAX_HAVING_PAGES
        }
        for former, values in known.items()
    }


def _without_rival(counts: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Return for each page the one that shares the most values with it, unless two do."""
    n_by_other: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for page, other, n in counts:
        n_by_other[page][other] = n
    best = {}
    for page, counted in n_by_other.items():
        most = max(counted.values())
        others = [other for other, n in counted.items() if n == most]
        if len(others) == 1:
            best[page] = others[0]
    return best
