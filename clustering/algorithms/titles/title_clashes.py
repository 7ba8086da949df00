"""Distinguish clusters of one title by what one has and the others have not.

Readings:   A title gets a phrase of the cluster's address, breadcrumb or heading in brackets, or a
            label or class of its own behind "with"; the first cluster, which most needs no more
            than its title, only the former. What has no such phrase is numbered.
Cost:       Linear in the phrases of the clusters of one title.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from clustering.algorithms.titles.title_evidence import Qualifier
from clustering.algorithms.titles.title_phrases import Source

DETAILS, LISTS = "Detail pages", "List pages"  # titles without a subject are numbered only
MAX_PART_WORDS = 3  # of a label or class that is part of a title

# Of a cluster, its title and the clusters of the same title: phrases that not all of them have.
Qualifiers = Callable[[int, str, Sequence[int]], Sequence[Qualifier]]

_PARTS_OF_PAGES = frozenset({Source.LABEL, Source.CLASS})


def tell_apart(
    titles: Sequence[str], ranks: Sequence[tuple[int, str]], qualifiers: Qualifiers
) -> list[str]:
    """Return the titles, changed where several are the same; no two are.

    Of clusters with the same title, the one of the lowest rank comes first.

    >>> tell_apart(["Post", "Post", "Home"], [(2, ""), (1, ""), (3, "")], lambda *_: [])
    ['Post 2', 'Post', 'Home']
    """
    numbers_by_title: dict[str, list[int]] = defaultdict(list)
    for number, title in enumerate(titles):
        numbers_by_title[title.casefold()].append(number)
    new_titles = list(titles)
    used = {title for title, numbers in numbers_by_title.items() if len(numbers) == 1}
    for numbers in numbers_by_title.values():
        if len(numbers) == 1:
            continue
        numbers.sort(key=lambda number: ranks[number])
        n_numbered = 1
        for number in numbers:
            title = new_title = titles[number]
            own_phrases = [] if title in {DETAILS, LISTS} else qualifiers(number, title, numbers)
            for text in _qualified(title, own_phrases, is_first=number == numbers[0]):
                if text.casefold() not in used:
                    new_title = text
                    break
            while new_title.casefold() in used:
                n_numbered += 1
                new_title = f"{title} {n_numbered}"
            used.add(new_title.casefold())
            new_titles[number] = new_title
    return new_titles


def _qualified(title: str, qualifiers: Sequence[Qualifier], *, is_first: bool) -> Iterator[str]:
    """Yield titles that tell a cluster apart, the best first."""
    for text, source in qualifiers:
        if source not in _PARTS_OF_PAGES:
            yield f"{title} ({text.lower()})"
        elif not is_first and len(text.split()) <= MAX_PART_WORDS:
            yield f"{title} with {text.lower()}"
