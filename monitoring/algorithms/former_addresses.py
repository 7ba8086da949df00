"""Find the pages again whose address changed, by the values that only they had.

Paper:      None; section IV-C of Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE
            2011), knows pages by their addresses.
Notation:   A value is telling where one known page alone has it, and few new pages show it.
Readings:   A new page is a known one at another address where it shows two telling values of it or more,
            more than of any other known page, and no other new page shows as many of them. So a list that
            names many things is none of them, and of two copies of a page neither is taken.
Departures: None.
Cost:       Linear in the values and the texts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

MIN_TELLING_VALUES: Final = 2
MAX_SHOWING_PAGES: Final = 2  # that show a telling value
MAX_SHOWING_SHARE: Final = 0.05  # of the new pages, where those are more


def find_former_addresses(
    known: Mapping[str, Collection[str]], shown: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Return the former address of each new page that is a known one, by its new address.

    `known` has the constant values of known pages, `shown` the texts of new ones, written alike.
    """
    n_having = Counter(value for values in known.values() for value in set(values))
    former_by_value = {
        value: former
        for former, values in known.items()
        for value in values
        if n_having[value] == 1
    }
    new_by_value: defaultdict[str, list[str]] = defaultdict(list)
    for new, texts in shown.items():
        for text in former_by_value.keys() & set(texts):
            new_by_value[text].append(new)

    max_showing = max(MAX_SHOWING_PAGES, MAX_SHOWING_SHARE * len(shown))
    n_telling: Counter[tuple[str, str]] = Counter()
    for value, new_pages in new_by_value.items():
        if len(new_pages) <= max_showing:
            n_telling.update((new, former_by_value[value]) for new in new_pages)
    former_by_new = _without_rival((new, former, n) for (new, former), n in n_telling.items())
    new_by_former = _without_rival((former, new, n) for (new, former), n in n_telling.items())
    return {
        new: former for new, former in former_by_new.items() if new_by_former.get(former) == new
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
