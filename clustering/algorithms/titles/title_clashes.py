"""Tell clusters of one title apart by what one has and the others have not.

Readings:   In this order: the words of its address pattern; the heading of a cluster's only page; a
            label that nearly all pages of one and few of the others have, without numbers if there
            is one; the words of such a class; else a number. The largest needs none but its own
            words.
Cost:       Linear in the labels and classes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from clustering.algorithms.titles.title_words import WORD, is_long, token_words

NEARLY_ALL, FEW = 0.8, 0.2
LONGEST_LABEL = 40


class Marks(NamedTuple):
    """What may tell a cluster from another one of the same title."""

    n_pages: int = 0
    words: str = ""  # of its addresses
    example: str = ""  # what its only page is called
    labels: Sequence[Collection[str]] = ()  # of each page
    tokens: Sequence[Collection[str]] = ()  # of each page


def tell_apart(titles: Sequence[str], marks: Sequence[Marks]) -> list[str]:
    """Return the titles, changed where several are the same; no two are.

    >>> tell_apart(["Post", "Post", "Home"], [Marks(1), Marks(5), Marks(1)])
    ['Post 2', 'Post', 'Home']
    """
    numbers_by_title: dict[str, list[int]] = defaultdict(list)
    for number, title in enumerate(titles):
        numbers_by_title[title].append(number)
    told = list(titles)
    taken = {title for title, numbers in numbers_by_title.items() if len(numbers) == 1}
    for title, numbers in numbers_by_title.items():
        if len(numbers) > 1:
            numbers.sort(key=lambda number: -marks[number].n_pages)
            for number, new in zip(
                numbers, _distinct(title, [marks[n] for n in numbers], taken), strict=True
            ):
                told[number] = new
    return told


def _distinct(title: str, marks: Sequence[Marks], taken: set[str]) -> list[str]:
    """Return titles for the clusters that have this one, the largest first."""
    n_by_words = Counter(one.words.lower() for one in marks)
    labels = _Others([one.labels for one in marks])
    tokens = _Others([one.tokens for one in marks])
    found, n_numbered = [], 1
    for place, one in enumerate(marks):
        words = one.words.lower()
        differs = n_by_words[words] == 1 and words not in title.lower()
        new = f"{title} ({words})" if differs else title
        if new in taken:
            new = next(
                filter(
                    None, (_free(text, taken) for text in _told(title, one, place, labels, tokens))
                ),
                "",
            )
        while not new or new in taken:
            n_numbered += 1
            new = f"{title} {n_numbered}"
        taken.add(new)
        found.append(new)
    return found


def _told(title: str, one: Marks, place: int, labels: _Others, tokens: _Others) -> list[str]:
    """Return titles that tell a cluster apart, the best first."""
    label = labels.own(place)
    classes = [words for words in map(token_words, tokens.all_own(place)) if words]
    return [
        f"{title} “{one.example[:LONGEST_LABEL].strip()}”"
        if one.example and one.n_pages == 1
        else "",
        f"{title} with “{label.rstrip('.')}”" if label else "",
        f"{title} ({min(classes)})" if classes else "",
    ]


def _free(title: str, taken: Collection[str]) -> str:
    return "" if title in taken else title


class _Others:
    """On how many pages of some clusters each text is."""

    def __init__(self, texts: Sequence[Sequence[Collection[str]]]) -> None:
        self.sizes = [len(pages) for pages in texts]
        self.n_pages = sum(self.sizes)
        self.counts = [Counter(text for page in pages for text in set(page)) for pages in texts]
        self.total = Counter[str]()
        for counts in self.counts:
            self.total.update(counts)

    def all_own(self, place: int) -> list[str]:
        """Return the texts of nearly all the cluster's pages that few pages of the others have."""
        n_own, n_others = self.sizes[place], self.n_pages - self.sizes[place]
        return [
            text
            for text, n in self.counts[place].items()
            if n >= NEARLY_ALL * n_own and self.total[text] - n <= FEW * n_others
        ]

    def own(self, place: int) -> str:
        """Return the label that most tells the cluster from the others, blank where none does."""
        named = [
            text
            for text in self.all_own(place)
            if any(map(is_long, WORD.findall(text)))
            and len(text) <= LONGEST_LABEL
            and "@" not in text
            and "//" not in text
        ]
        return min(
            named,
            key=lambda text: (_has_digit(text), -self.counts[place][text], len(text), text),
            default="",
        )


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
