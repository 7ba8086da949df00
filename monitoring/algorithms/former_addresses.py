"""Find the pages again whose address changed, by the values that only they had.

Paper:      None; section IV-C of Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE
            2011), knows pages by their addresses.
Notation:   A value is telling where one known page alone has it, few new pages show it, and it is as long
            as own texts are (`outages`): a short one stands in many texts.
Readings:   A new page is a known one at another address where it shows two telling values of it or more,
            more than of any other known page, and no other new page shows as many of them. So a list that
            names many things is none of them, a page with some facts about a thing is not its page, and of
            two copies of a page neither is taken.
Departures: None.
Cost:       Linear in the values and the texts; the values of a known page are looked for in the whole text
            of those new pages only that show one of them in a node of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from monitoring.algorithms.outages import is_long

MIN_TELLING_VALUES: Final = 2
MAX_SHOWING_PAGES: Final = 2  # that show a telling value
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
    telling_by_former = _telling_values(known, new)
    former_by_value = {
        value: former for former, values in telling_by_former.items() for value in values
    }
    n_shared: list[tuple[str, str, int]] = []
    for url, page in new.items():
        # One value in a node of its own leads to the known page; the others may stand anywhere.
        led_to = {former_by_value[text] for text in former_by_value.keys() & set(page.texts)}
        for former in led_to:
            n_shown = sum(value in page.whole for value in telling_by_former[former])
            n_shared.append((url, former, n_shown))
    former_by_new = _without_rival(n_shared)
    new_by_former = _without_rival((former, url, n) for url, former, n in n_shared)
    return {
        url: former for url, former in former_by_new.items() if new_by_former.get(former) == url
    }


def _telling_values(
    known: Mapping[str, Collection[str]], new: Mapping[str, NewPage]
) -> dict[str, set[str]]:
    """Return the telling values of each known page."""
    n_having = Counter(value for values in known.values() for value in set(values))
    n_showing = Counter(text for page in new.values() for text in set(page.texts))
    max_showing = max(MAX_SHOWING_PAGES, MAX_SHOWING_SHARE * len(new))
    return {
        former: {
            value
            for value in values
            if is_long(value) and n_having[value] == 1 and n_showing[value] <= max_showing
        }
        for former, values in known.items()
    }


def _without_rival(counts: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Return for each page the one that shares the most telling values with it, unless two do."""
    n_by_other: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for page, other, n in counts:
        n_by_other[page][other] = n
    best = {}
    for page, counted in n_by_other.items():
        most = max(counted.values())
        others = [other for other, n in counted.items() if n == most]
        if most >= MIN_TELLING_VALUES and len(others) == 1:
            best[page] = others[0]
    return best
