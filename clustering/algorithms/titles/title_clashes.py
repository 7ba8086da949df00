"""Distinguish clusters of one title by what one has and the others have not.

Readings:   In this order: the words of its address pattern; the heading of a cluster's only page; a
            label that nearly all pages of one and few of the others have, without numbers if there
            is one; the words of such a class; else a number. The largest needs none but its own
            words.
Cost:       Linear in the labels and classes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from clustering.algorithms.titles.title_words import WORD, is_long, token_words

NEARLY_ALL, FEW = 0.8, 0.2  # shares of pages
MAX_LABEL_CHARS = 40


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
    new_titles = list(titles)
    used = {title for title, numbers in numbers_by_title.items() if len(numbers) == 1}
    for title, numbers in numbers_by_title.items():
        if len(numbers) == 1:
            continue
        numbers.sort(key=lambda number: -marks[number].n_pages)
        distinct_titles = _distinct(title, [marks[number] for number in numbers], used)
        for number, distinct_title in zip(numbers, distinct_titles, strict=True):
            new_titles[number] = distinct_title
    return new_titles


def _distinct(title: str, marks: Sequence[Marks], used: set[str]) -> list[str]:
    """Return titles for the clusters that have this one, the largest first; add them to `used`."""
    n_by_words = Counter(cluster.words.lower() for cluster in marks)
    labels = _Texts([cluster.labels for cluster in marks])
    tokens = _Texts([cluster.tokens for cluster in marks])
    titles, n_numbered = [], 1
    for index, cluster in enumerate(marks):
        words = cluster.words.lower()
        is_own = n_by_words[words] == 1 and words not in title.lower()
        new_title = f"{title} ({words})" if is_own else title
        if new_title in used:
            candidates = _qualified(title, cluster, labels.best_own(index), tokens.own(index))
            new_title = next((text for text in candidates if text not in used), "")
        while not new_title or new_title in used:
            n_numbered += 1
            new_title = f"{title} {n_numbered}"
        used.add(new_title)
        titles.append(new_title)
    return titles


def _qualified(title: str, cluster: Marks, label: str, own_tokens: Sequence[str]) -> Iterator[str]:
    """Yield titles that tell a cluster apart, the best first."""
    if cluster.example and cluster.n_pages == 1:
        yield f"{title} “{cluster.example[:MAX_LABEL_CHARS].strip()}”"
    if label:
        yield f"{title} with “{label.rstrip('.')}”"
    classes = [words for words in map(token_words, own_tokens) if words]
    if classes:
        yield f"{title} ({min(classes)})"


class _Texts:
    """On how many pages of some clusters each text is."""

    def __init__(self, texts_by_cluster: Sequence[Sequence[Collection[str]]]) -> None:
        self.sizes = [len(pages) for pages in texts_by_cluster]
        self.n_pages = sum(self.sizes)
        self.counts = [
            Counter(text for page in pages for text in set(page)) for pages in texts_by_cluster
        ]
        self.total = Counter[str]()
        for counts in self.counts:
            self.total.update(counts)

    def own(self, index: int) -> list[str]:
        """Return the texts of nearly all the cluster's pages that few pages of the others have."""
        n_own, n_others = self.sizes[index], self.n_pages - self.sizes[index]
        return [
            text
            for text, n in self.counts[index].items()
            if n >= NEARLY_ALL * n_own and self.total[text] - n <= FEW * n_others
        ]

    def best_own(self, index: int) -> str:
        """Return the label that most tells the cluster from the others, blank where none does."""
        counts = self.counts[index]
        return min(
            filter(_is_label, self.own(index)),
            key=lambda text: (_has_digit(text), -counts[text], len(text), text),
            default="",
        )


def _is_label(text: str) -> bool:
    """Return whether a text is short and has words, and is no address."""
    if len(text) > MAX_LABEL_CHARS or "@" in text or "//" in text:
        return False
    return any(map(is_long, WORD.findall(text)))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
